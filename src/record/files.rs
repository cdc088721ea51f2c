//! A record's files: their paths, how they are written, and their hashes.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::manifest::FileEntry;
use crate::error::{Error, ErrorKind, Result};
use crate::regular_file;

/// What a record says of itself.
pub(super) const MANIFEST: &str = "manifest.yaml";

/// The ending of files that are not written to their end.
pub(super) const PARTIAL: &str = "partial";

/// Writes a file whole: temporary name, fsync, rename. It takes the place of one that is there.
pub(super) fn write_whole(target: &Path, bytes: &[u8]) -> Result<()> {
    write_whole_by(target, |file| file.write_all(bytes))
}

/// As [`write_whole`], with the bytes that `write` writes.
pub(super) fn write_whole_by(
    target: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let temporary = target.with_extension(PARTIAL);
    let write = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&temporary, target)?;
        if let Some(parent) = target.parent() {
            File::open(parent)?.sync_all()?;
        }
        Ok(())
    };
    write().map_err(|e| {
        // The first failure is what the user needs to know; a leftover is told by `verify`.
        let _ = fs::remove_file(&temporary);
        Error::io("write the file", target, e)
    })
}

/// Brings a file of the record and the folders that it lies in to the disk. What is missing is told by whoever reads it.
pub(crate) fn sync_raw(dir: &Path, path: &str) -> Result<()> {
    let file = inside(dir, path)?;
    let within = file.ancestors().take_while(|path| *path != dir);
    for path in within.chain([dir]) {
        match File::open(path).and_then(|file| file.sync_all()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            synced => synced.map_err(|e| Error::io("write to the disk", path, e))?,
        }
    }
    Ok(())
}

/// A path within the record, or an error: records come from others, and their manifests are not trusted.
pub(super) fn inside(dir: &Path, path: &str) -> Result<PathBuf> {
    let relative = Path::new(path);
    let plain = !path.is_empty()
        && path.len() <= 1024
        && relative
            .components()
            .all(|c| matches!(c, Component::Normal(_)));
    if !plain || path == MANIFEST {
        return Err(Error::new(
            ErrorKind::Record,
            format!("`{}` is no path within a record", path.escape_debug()),
        )
        .at(dir));
    }
    Ok(dir.join(relative))
}

/// Every file of the record but the manifest, with its hash, by path.
pub(super) fn hash_files(dir: &Path) -> Result<Vec<FileEntry>> {
    let mut entries = all_files(dir)?
        .iter()
        .filter(|path| **path != dir.join(MANIFEST))
        .map(|path| entry(dir, path))
        .collect::<Result<Vec<_>>>()?;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// Removes what was not written to its end.
pub(super) fn remove_partial(dir: &Path) -> Result<()> {
    for path in all_files(dir)? {
        if path.extension().is_some_and(|ending| ending == PARTIAL) {
            fs::remove_file(&path).map_err(|e| Error::io("remove the file", &path, e))?;
        }
    }
    Ok(())
}

/// Every regular file below the folder.
fn all_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let listing = fs::read_dir(&folder).map_err(|e| Error::io("list", &folder, e))?;
        for item in listing {
            let item = item.map_err(|e| Error::io("list", &folder, e))?;
            let path = item.path();
            let kind = item
                .file_type()
                .map_err(|e| Error::io("look at", &path, e))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn entry(dir: &Path, path: &Path) -> Result<FileEntry> {
    let relative = path.strip_prefix(dir).unwrap_or(path);
    let file = regular_file::open_within(dir, relative).map_err(|e| Error::io("open", path, e))?;
    let (bytes, sha256) = hash(file, path)?;
    Ok(FileEntry {
        path: relative
            .components()
            .map(|c| c.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/"),
        bytes,
        sha256,
    })
}

fn hash(mut file: File, path: &Path) -> Result<(u64, String)> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hex(&digest.finalize()))),
            Ok(n) => {
                digest.update(&buffer[..n]);
                bytes += n as u64;
            }
            Err(e) => return Err(Error::io("read", path, e)),
        }
    }
}

/// SHA-256 in lower-case hexadecimal.
///
/// ```
/// assert!(ktrial::record::sha256_hex(b"").starts_with("e3b0c442"));
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_record_is_brought_to_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("raw/t01")).unwrap();
        fs::write(dir.path().join("raw/t01/a.txt"), "1\n").unwrap();
        for path in ["raw/t01/a.txt", "raw/t01/absent.txt", "raw/t02/absent.txt"] {
            sync_raw(dir.path(), path).unwrap();
        }
        assert!(sync_raw(dir.path(), "../a.txt").is_err());
    }
}
