//! Opening records.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::compressed;
use super::files::{MANIFEST, hash_files, inside};
use super::manifest::{FileEntry, Manifest, RawFile, SCHEMA};
use crate::error::{Error, ErrorKind, Result};
use crate::regular_file;
use crate::yaml::{self, Purpose};

/// Largest file of a record that is read into memory, decompressed: what a run writes at most.
pub const FILE_LIMIT_BYTES: u64 = 256 << 20;

/// A record on disk. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct Record {
    dir: PathBuf,
    manifest: Manifest,
}

impl Record {
    pub(super) fn of(dir: PathBuf, manifest: Manifest) -> Record {
        Record { dir, manifest }
    }

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

    /// A raw file's bytes as received; a compressed file (`.zst`) is decompressed.
    ///
    /// # Errors
    /// `Record` when the path leaves the record (through a link too), the file is no regular file, or it holds more
    /// than [`FILE_LIMIT_BYTES`]; `Io` when it is missing, cannot be read or is no whole zstd file.
    pub fn read_raw(&self, raw: &RawFile) -> Result<Vec<u8>> {
        self.read_file(&raw.path)
    }

    /// Any file of the record, as [`Record::read_raw`].
    pub(crate) fn read_file(&self, file: &str) -> Result<Vec<u8>> {
        let path = inside(&self.dir, file)?;
        let failed = |e: io::Error| match e.kind() {
            io::ErrorKind::InvalidInput => Error::new(ErrorKind::Record, "cannot open the file")
                .at(&path)
                .because(e),
            _ => Error::io("open", &path, e),
        };
        let (opened, is_compressed) = self.open_raw(file).map_err(failed)?;
        let bytes = match is_compressed {
            true => compressed::read(opened, FILE_LIMIT_BYTES),
            false => regular_file::read(opened, FILE_LIMIT_BYTES),
        };
        bytes
            .map_err(|e| Error::io("read", &path, e))?
            .ok_or_else(|| {
                let limit = FILE_LIMIT_BYTES >> 20;
                Error::new(ErrorKind::Record, format!("holds more than {limit} MiB")).at(&path)
            })
    }

    /// Opens a raw file, and says whether it is compressed. One that was compressed after the manifest was read,
    /// as a run does when a trial has ended, is found under its new name.
    fn open_raw(&self, path: &str) -> io::Result<(File, bool)> {
        let open = |path: &str| regular_file::open_within(&self.dir, Path::new(path));
        if compressed::is_name(path) {
            return Ok((open(path)?, true));
        }
        match open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // What is missing under both names is told under the one that the manifest has.
                let compressed = open(&compressed::name(path)).map_err(|_| e)?;
                Ok((compressed, true))
            }
            file => Ok((file?, false)),
        }
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
    use crate::record::{RecordKind, RecordWriter, Replication};
    use std::fs;

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
    fn a_record_opened_before_its_file_was_compressed_still_reads_it() {
        let bytes = vec![b'7'; 100_000];
        let (_keep, record) = written(&[("raw/a", &bytes)]);
        let compressed = compressed::compress_raw(&record.dir(), "raw/a").unwrap();
        assert_eq!(compressed.as_deref(), Some("raw/a.zst"));
        let raw = |path: &str| RawFile {
            monitor: "free".into(),
            path: path.into(),
        };
        for plain_is_there in [true, false] {
            assert_eq!(record.read_raw(&raw("raw/a")).unwrap(), bytes);
            assert_eq!(record.read_raw(&raw("raw/a.zst")).unwrap(), bytes);
            if plain_is_there {
                fs::remove_file(record.dir().join("raw/a")).unwrap();
            }
        }
        // Missing is missing, under the name that the manifest has.
        let error = record.read_raw(&raw("raw/b")).unwrap_err().report();
        assert!(error.contains("raw/b: cannot open"), "{error}");
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
