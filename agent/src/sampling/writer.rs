//! Samples to their files, by a thread of its own: a slow disk holds nothing else up.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Blocks of one file, whole ones each.
pub struct Batch {
    /// Which file.
    pub file: usize,
    /// What to append to it.
    pub bytes: Vec<u8>,
    /// Whether the first block is a whole one, so that it needs nothing that was before it.
    pub is_whole: bool,
}

/// A file, and how much could not be written to it.
struct Output {
    file: File,
    end: u64,
    is_torn: bool,
    lost_bytes: u64,
}

/// Writes batches until nobody sends any more, and gives their buffers back. Gives the bytes that could not be written,
/// for each file.
pub fn write(files: Vec<File>, batches: &Receiver<Batch>, empty: &Sender<Vec<u8>>) -> Vec<u64> {
    let output = |file: File| Output {
        end: file.metadata().map_or(0, |m| m.len()),
        file,
        is_torn: false,
        lost_bytes: 0,
    };
    let mut outputs: Vec<Output> = files.into_iter().map(output).collect();
    for mut batch in batches {
        if let Some(output) = outputs.get_mut(batch.file) {
            output.append(&batch);
        }
        batch.bytes.clear();
        // Nobody takes it back at the very end.
        let _ = empty.send(batch.bytes);
    }
    outputs
        .into_iter()
        .map(|output| output.lost_bytes)
        .collect()
}

impl Output {
    /// Appends all of a batch or nothing. After one that was lost nothing makes sense before a whole block.
    fn append(&mut self, batch: &Batch) {
        let bytes = batch.bytes.len() as u64;
        if (self.is_torn && !batch.is_whole) || !self.has_room(bytes) {
            self.is_torn = true;
            self.lost_bytes += bytes;
            return;
        }
        match self.file.write_all(&batch.bytes) {
            Ok(()) => {
                self.is_torn = false;
                self.end += bytes;
            }
            Err(_) => {
                let _ = self.file.set_len(self.end);
                self.is_torn = true;
                self.lost_bytes += bytes;
            }
        }
    }

    /// Takes the room first, so that no part of a batch is written that a follower would have seen. File systems that
    /// cannot do so show it when they are written to.
    fn has_room(&self, bytes: u64) -> bool {
        let taken = fallocate(
            &self.file,
            FallocateFlags::KEEP_SIZE,
            self.end,
            bytes.max(1),
        );
        !matches!(taken, Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
    }
}
