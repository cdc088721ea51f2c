//! Writing and opening records. Files are written whole and never overwritten.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::manifest::{FileEntry, Manifest, RawFile, SCHEMA};
use crate::error::{Error, ErrorKind, Result};
use crate::regular_file;
use crate::yaml::{self, Purpose};

const MANIFEST: &str = "manifest.yaml";

/// Largest file of a record that is read into memory: what a run writes at most.
pub const FILE_LIMIT_BYTES: u64 = 256 << 20;

/// A record that is being made.
///
/// ```
/// # use ktrial::record::*;
/// # let dir = tempfile::tempdir().unwrap();
/// let dir = dir.path().join("my-record");
/// let mut writer = RecordWriter::create(&dir)?;
/// writer.write_raw("raw/t01/free.txt", b"1000\n1010\n")?;
/// let record = writer.finish(Manifest::new("my-record", RecordKind::Import, Replication::Trial))?;
/// assert_eq!(record.manifest().files[0].bytes, 10);
/// assert!(RecordWriter::create(&dir).is_err());
/// # Ok::<(), ktrial::error::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordWriter {
    dir: PathBuf,
}

impl RecordWriter {
    /// Makes the directory; its parents are made as needed.
    ///
    /// # Errors
    /// When it exists already: a record is never overwritten.
    pub fn create(dir: &Path) -> Result<Self> {
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(|e| Error::io("make the folder", parent, e))?;
        }
        fs::create_dir(dir).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Error::input("there is something here already; a record is never overwritten")
                    .at(dir)
                    .next("choose another name or move the old record away")
            }
            _ => Error::io("make the record's folder", dir, e),
        })?;
        Ok(RecordWriter {
            dir: dir.to_owned(),
        })
    }

    /// The record's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file whole: temporary name, fsync, rename.
    ///
    /// # Errors
    /// When `path` leaves the record or exists, or the disk refuses.
    pub fn write_raw(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let target = self.new_file(path)?;
        write_whole(&target, bytes)
    }

    /// Opens a new file that grows while a trial runs. What was written survives a crash of the controller.
    ///
    /// # Errors
    /// As [`RecordWriter::write_raw`].
    pub fn append_raw(&mut self, path: &str) -> Result<File> {
        let target = self.new_file(path)?;
        File::create_new(&target).map_err(|e| Error::io("create the file", &target, e))
    }

    fn new_file(&self, path: &str) -> Result<PathBuf> {
        let target = inside(&self.dir, path)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|e| Error::io("make the folder", parent, e))?;
        }
        if target.exists() {
            return Err(Error::new(ErrorKind::Record, "the file is there already").at(target));
        }
        Ok(target)
    }

    /// Writes the manifest as it stands, without hashes: so that a killed controller leaves a readable record.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn save(&self, manifest: &Manifest) -> Result<()> {
        write_whole(&self.dir.join(MANIFEST), &to_yaml(manifest)?)
    }

    /// Hashes every file, writes the manifest and opens the record.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(self, mut manifest: Manifest) -> Result<Record> {
        manifest.files = hash_files(&self.dir)?;
        self.save(&manifest)?;
        Ok(Record {
            dir: self.dir,
            manifest,
        })
    }
}

fn to_yaml(manifest: &Manifest) -> Result<Vec<u8>> {
    serde_yaml::to_string(manifest)
        .map(String::into_bytes)
        .map_err(|e| Error::new(ErrorKind::Record, "cannot write the manifest").because(e))
}

fn write_whole(target: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = target.with_extension("partial");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
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

/// A path within the record, or an error: records come from others, and their manifests are not trusted.
fn inside(dir: &Path, path: &str) -> Result<PathBuf> {
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

fn hash_files(dir: &Path) -> Result<Vec<FileEntry>> {
    let mut entries = Vec::new();
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
            } else if kind.is_file() && path != dir.join(MANIFEST) {
                entries.push(entry(dir, &path)?);
            }
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A record on disk. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct Record {
    dir: PathBuf,
    manifest: Manifest,
}

impl Record {
    /// Opens a record: reads its manifest, not its data.
    ///
    /// # Errors
    /// `Input` when there is no manifest, it cannot be read, does not hold together, or a newer ktrial wrote it.
    pub fn open(dir: impl AsRef<Path>) -> Result<Record> {
        let dir = dir.as_ref();
        let path = dir.join(MANIFEST);
        let text = read_manifest(dir).map_err(|e| {
            Error::input("is not a record: its manifest.yaml cannot be read")
                .at(dir)
                .because(e)
                .next("name the folder that `ktrial run` or `ktrial import` made")
        })?;
        let text = yaml::without_bom(&text);
        yaml::check(text, &path, Purpose::Manifest)?;
        let manifest: Manifest = serde_yaml::from_str(text).map_err(|e| {
            let place = e.location();
            let error = Error::input(format!("cannot be read as a manifest: {e}"));
            match place {
                Some(place) => error.at_line_column(&path, place.line(), place.column()),
                None => error.at(&path),
            }
            .next("docs/record.md lists the keys")
        })?;
        if manifest.schema > SCHEMA {
            return Err(Error::input(format!(
                "has schema {}, this ktrial reads up to {SCHEMA}",
                manifest.schema
            ))
            .at(path)
            .next("use a newer ktrial"));
        }
        manifest.check(&path)?;
        Ok(Record {
            dir: dir.to_owned(),
            manifest,
        })
    }

    /// Where it is.
    pub fn dir(&self) -> PathBuf {
        self.dir.clone()
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// A raw file's bytes as received.
    ///
    /// # Errors
    /// `Record` when the path leaves the record (through a link too), or the file is no regular file or larger
    /// than [`FILE_LIMIT_BYTES`]; `Io` when it is missing or cannot be read.
    pub fn read_raw(&self, raw: &RawFile) -> Result<Vec<u8>> {
        let path = inside(&self.dir, &raw.path)?;
        let failed = |e: io::Error| match e.kind() {
            io::ErrorKind::InvalidInput => Error::new(ErrorKind::Record, "cannot open the file")
                .at(&path)
                .because(e),
            _ => Error::io("open", &path, e),
        };
        let file = regular_file::open_within(&self.dir, Path::new(&raw.path)).map_err(failed)?;
        let bytes =
            regular_file::read(file, FILE_LIMIT_BYTES).map_err(|e| Error::io("read", &path, e))?;
        bytes.ok_or_else(|| {
            let limit = FILE_LIMIT_BYTES >> 20;
            Error::new(ErrorKind::Record, format!("is larger than {limit} MiB")).at(&path)
        })
    }

    /// Checks every file that the manifest lists against its size and hash, and names what is not listed.
    /// Empty when all is well.
    ///
    /// # Errors
    /// `Io` when the folder cannot be listed.
    pub fn check_files(&self) -> Result<Vec<String>> {
        let found = hash_files(&self.dir)?;
        let by_path: HashMap<&str, &FileEntry> =
            found.iter().map(|f| (f.path.as_str(), f)).collect();
        let listed: HashSet<&str> = self
            .manifest
            .files
            .iter()
            .map(|f| f.path.as_str())
            .collect();
        let mut problems = Vec::new();
        for entry in &self.manifest.files {
            match by_path.get(entry.path.as_str()) {
                None => problems.push(format!("{}: missing", entry.path)),
                Some(found) if *found != entry => problems.push(format!("{}: differs", entry.path)),
                Some(_) => {}
            }
        }
        let extra = found.iter().filter(|f| !listed.contains(f.path.as_str()));
        problems.extend(extra.map(|f| format!("{}: not in the manifest", f.path)));
        Ok(problems)
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Record {} ({} trials, {})",
            self.manifest.name,
            self.manifest.trials.len(),
            self.manifest.state.word()
        )
    }
}

fn read_manifest(dir: &Path) -> io::Result<String> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let file = regular_file::open_within(dir, Path::new(MANIFEST))?;
    let limit = Purpose::Manifest.max_bytes();
    let bytes = regular_file::read(file, limit)?
        .ok_or_else(|| invalid(format!("it is larger than {} MiB", limit >> 20)))?;
    String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8 text".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordKind, Replication};

    fn written(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Record) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RecordWriter::create(&folder.path().join("r")).unwrap();
        for (path, bytes) in files {
            writer.write_raw(path, bytes).unwrap();
        }
        let manifest = Manifest::new("r", RecordKind::Run, Replication::Trial);
        let record = writer.finish(manifest).unwrap();
        (folder, record)
    }

    #[test]
    fn a_written_record_opens_as_it_was() {
        let (_keep, record) = written(&[("raw/t01/a.txt", b"1\n"), ("raw/t01/b.txt", b"")]);
        let again = Record::open(record.dir()).unwrap();
        assert_eq!(again, record);
        assert_eq!(again.check_files().unwrap(), Vec::<String>::new());
        let raw = RawFile {
            monitor: "free".into(),
            path: "raw/t01/a.txt".into(),
        };
        assert_eq!(again.read_raw(&raw).unwrap(), b"1\n");
    }

    #[test]
    fn a_changed_a_missing_and_an_added_file_are_named() {
        let (_keep, record) = written(&[("raw/a", b"1"), ("raw/b", b"2")]);
        fs::write(record.dir().join("raw/a"), "3").unwrap();
        fs::remove_file(record.dir().join("raw/b")).unwrap();
        fs::write(record.dir().join("raw/c"), "4").unwrap();
        assert_eq!(
            record.check_files().unwrap(),
            [
                "raw/a: differs",
                "raw/b: missing",
                "raw/c: not in the manifest"
            ]
        );
    }

    #[test]
    fn paths_that_leave_the_record_are_refused() {
        let (_keep, record) = written(&[]);
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "raw/../../x",
            "manifest.yaml",
            "./x",
        ] {
            let raw = RawFile {
                monitor: "free".into(),
                path: path.into(),
            };
            let error = record.read_raw(&raw).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Record, "{path}");
        }
    }

    #[test]
    fn what_is_no_record_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = Record::open(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.report().contains("ktrial run"), "{}", error.report());

        fs::write(folder.path().join(MANIFEST), "schema: 1\nbogus: 2\n").unwrap();
        let error = Record::open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("bogus"), "{error}");
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let (_keep, record) = written(&[]);
        let path = record.dir().join(MANIFEST);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("schema: 1", "schema: 99")).unwrap();
        let error = Record::open(record.dir()).unwrap_err();
        assert!(error.to_string().contains("schema 99"), "{error}");
    }
}
