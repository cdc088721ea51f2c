//! Large raw files are kept compressed, by zstd (RFC 8878).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::files::{inside, write_whole_by};
use crate::error::{Error, Result};
use crate::regular_file;

/// Raw files of a run that are larger are compressed when their trial has ended.
pub const COMPRESS_ABOVE_BYTES: u64 = 64 << 10;

/// What a compressed file's name ends in.
const ENDING: &str = ".zst";

/// A tenth of the size of samples of `/proc/meminfo`, and quick; higher levels win little.
const LEVEL: i32 = 9;

/// The compressor gets the bytes in pieces of this size, whatever the system reads at once: the same bytes give
/// the same file.
const PIECE_BYTES: usize = 128 << 10;

/// Whether a file of this name is compressed.
pub(super) fn is_name(path: &str) -> bool {
    path.ends_with(ENDING)
}

/// The compressed file's name.
pub(super) fn name(path: &str) -> String {
    format!("{path}{ENDING}")
}

/// The name of the file that a compressed one was made of; none when this is none.
pub(crate) fn plain_name(path: &str) -> Option<&str> {
    path.strip_suffix(ENDING)
}

/// Writes a large file's compressed form beside it, whole or not at all; one that an earlier try left there is
/// written anew. Returns its path; none when the file is small enough, compressed already, or
/// missing, which whoever reads it will tell.
///
/// # Errors
/// When `path` leaves the record, or the disk refuses.
pub(crate) fn compress_raw(dir: &Path, path: &str) -> Result<Option<String>> {
    let plain = inside(dir, path)?;
    if is_name(path) {
        return Ok(None);
    }
    let failed = |e| Error::io("compress the file", &plain, e);
    let file = match regular_file::open_within(dir, Path::new(path)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let size = file.metadata().map_err(failed)?.len();
    if size <= COMPRESS_ABOVE_BYTES {
        return Ok(None);
    }
    let compressed = name(path);
    write_whole_by(&inside(dir, &compressed)?, |to| compress(file, size, to))?;
    Ok(Some(compressed))
}

fn compress(mut from: impl Read, size: u64, to: impl Write) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(to, LEVEL)?;
    encoder.include_checksum(true)?;
    // A file that is no longer of this size is an error at the end, not a wrong header.
    encoder.set_pledged_src_size(Some(size))?;
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    loop {
        piece.clear();
        from.by_ref()
            .take(PIECE_BYTES as u64)
            .read_to_end(&mut piece)?;
        if piece.is_empty() {
            return encoder.finish().map(drop);
        }
        encoder.write_all(&piece)?;
    }
}

/// Decompresses at most `limit` bytes; none when there are more.
///
/// # Errors
/// What the system says, and what is no whole zstd file.
pub(super) fn read(file: File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(file)?
        .take(limit + 1)
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Reads one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    fn samples(lines: usize) -> Vec<u8> {
        let line = |i| format!("@ {i}.00\nMemAvailable: {} kB\n", (i * 7919) % 10_007);
        (0..lines).map(line).collect::<String>().into_bytes()
    }

    fn written(bytes: &[u8]) -> (tempfile::TempDir, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("samples"), bytes).unwrap();
        let path = compress_raw(dir.path(), "samples").unwrap();
        (dir, path)
    }

    fn read_back(dir: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        read(File::open(dir.join("samples.zst")).unwrap(), limit)
    }

    #[test]
    fn a_large_file_comes_back_and_the_plain_one_stays_until_it_is_removed() {
        let bytes = samples(20_000);
        let (dir, path) = written(&bytes);
        assert_eq!(path.as_deref(), Some("samples.zst"));
        assert_eq!(fs::read(dir.path().join("samples")).unwrap(), bytes);
        let limit = bytes.len() as u64;
        assert_eq!(read_back(dir.path(), limit).unwrap().unwrap(), bytes);
        assert_eq!(read_back(dir.path(), limit - 1).unwrap(), None);
        let size = fs::metadata(dir.path().join("samples.zst")).unwrap().len();
        assert!(size < limit / 2, "{size} of {limit}");
        // What a try that was cut short left behind is no hindrance.
        fs::write(dir.path().join("samples.zst"), "half").unwrap();
        compress_raw(dir.path(), "samples").unwrap();
        assert_eq!(read_back(dir.path(), limit).unwrap().unwrap(), bytes);
    }

    #[test]
    fn small_and_compressed_files_are_left_alone() {
        let (dir, path) = written(&vec![b'x'; COMPRESS_ABOVE_BYTES as usize]);
        assert_eq!(path, None);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        fs::write(dir.path().join("large.zst"), samples(20_000)).unwrap();
        assert_eq!(compress_raw(dir.path(), "large.zst").unwrap(), None);
    }

    #[test]
    fn the_same_bytes_give_the_same_file() {
        let bytes = samples(30_000);
        let (mut at_once, mut slowly) = (Vec::new(), Vec::new());
        compress(bytes.as_slice(), bytes.len() as u64, &mut at_once).unwrap();
        compress(Slow(&bytes), bytes.len() as u64, &mut slowly).unwrap();
        assert!(at_once == slowly);
    }

    #[test]
    fn a_bomb_is_refused_without_unpacking_it() {
        let dir = tempfile::tempdir().unwrap();
        let size = 1 << 30;
        let to = File::create(dir.path().join("samples.zst")).unwrap();
        compress(io::repeat(0).take(size), size, to).unwrap();
        assert_eq!(read_back(dir.path(), 1 << 20).unwrap(), None);
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error() {
        let (dir, _) = written(&samples(20_000));
        let file = dir.path().join("samples.zst");
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 10]).unwrap();
        assert!(read_back(dir.path(), 1 << 30).is_err());
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        fs::write(&file, changed).unwrap();
        assert!(read_back(dir.path(), 1 << 30).is_err());
    }
}
