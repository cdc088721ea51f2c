//! The result: which files a trial has, and what is in them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write as _};

use ktrial_agent::OUTPUT_LIMIT;
use sha2::{Digest, Sha256};

use crate::event::Events;
use crate::folder::{self, Folder, OUTPUTS, reserve};

const TEMPORARY: &str = ".result";
const ROOM: u64 = 64 << 10;
const LIMIT: u64 = 16 << 20;

/// Keeps room for the result, so that a full disk cannot take it.
pub fn keep_room(folder: &Folder) {
    if let Ok(file) = File::create(folder.file(TEMPORARY)) {
        reserve(&file, ROOM);
    }
}

/// Writes it; the files must not change any more.
///
/// # Errors
/// When it cannot be written.
pub fn write(folder: &Folder, names: &[String]) -> Result<(), String> {
    let mut text = String::new();
    for name in names {
        if let Ok((bytes, hash)) = hash(folder, name) {
            let _ = writeln!(text, "{name} {bytes} {hash}");
        }
    }
    let write = || -> std::io::Result<()> {
        // Not truncated: that would give the room away.
        let mut options = fs::OpenOptions::new();
        let temporary = folder.file(TEMPORARY);
        let mut file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, folder.file("result"))?;
        File::open(folder.path())?.sync_all()
    };
    write().map_err(|e| format!("result: {e}"))
}

/// The sizes of the files that it names; none while there is none.
pub fn sizes(folder: &Folder) -> Option<Vec<(String, u64)>> {
    let text = folder::read(&folder.file("result"), LIMIT).ok()?;
    let text = String::from_utf8(text).ok()?;
    let mut sizes = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let name = words.next().filter(|name| folder::is_plain(name))?;
        sizes.push((name.to_owned(), words.next()?.parse().ok()?));
    }
    Some(sizes)
}

/// Notes what of the workload's output is not fetched.
pub fn note_output(folder: &Folder, events: &mut Events) {
    for name in OUTPUTS {
        let bytes = folder.file(name).symlink_metadata().map_or(0, |m| m.len());
        if bytes > OUTPUT_LIMIT {
            events.note(&format!(
                "{name} had {bytes} bytes; its first {OUTPUT_LIMIT} are kept"
            ));
        }
    }
}

/// How many bytes of a file are fetched at most.
pub fn limit(name: &str) -> u64 {
    match folder::is_output(name) {
        true => OUTPUT_LIMIT,
        false => u64::MAX,
    }
}

fn hash(folder: &Folder, name: &str) -> std::io::Result<(u64, String)> {
    let file = folder.open_file(name)?;
    file.sync_all()?;
    let mut file = file.take(limit(name));
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(buffer.get(..n).unwrap_or_default());
        bytes += n as u64;
    }
    let mut hash = String::new();
    for byte in hasher.finalize() {
        let _ = write!(hash, "{byte:02x}");
    }
    Ok((bytes, hash))
}
