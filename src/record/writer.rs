//! Writing records. Files are written whole and never overwritten.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::compressed::plain_name;
use super::files::{MANIFEST, hash_files, inside, remove_partial, write_whole};
use super::lock::Lock;
use super::manifest::Manifest;
use super::store::{FILE_LIMIT_BYTES, Record};
use crate::error::{Error, ErrorKind, Result};
use crate::regular_file;

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
    /// Held as long as the writer is.
    lock: Lock,
}

impl RecordWriter {
    /// Makes the directory; its parents are made as needed.
    ///
    /// # Errors
    /// When it exists already: a record is never overwritten.
    pub fn create(dir: &Path) -> Result<Self> {
        Self::create_by(dir, Lock::take)
    }

    fn create_by(dir: &Path, lock: impl FnOnce(&Path) -> Result<Lock>) -> Result<Self> {
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
        let lock = lock(dir).inspect_err(|_| {
            // Nothing is in it; a folder that is left would look like a record of this name.
            let _ = fs::remove_dir(dir);
        })?;
        Ok(RecordWriter {
            dir: dir.to_owned(),
            lock,
        })
    }

    /// Opens a record to go on with it, and says what it holds.
    ///
    /// # Errors
    /// As [`Record::open`], and `Record` while another writer has it.
    pub(crate) fn reopen(dir: &Path) -> Result<(Self, Record)> {
        // A folder that is no record is told as that.
        Record::open(dir)?;
        let lock = Lock::take(dir)?;
        // What it held before the lock was taken may have been another writer's last word but one.
        let record = Record::open(dir)?;
        let writer = RecordWriter {
            dir: dir.to_owned(),
            lock,
        };
        Ok((writer, record))
    }

    /// Removes what an earlier writer did not write to its end.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) fn remove_partial(&self) -> Result<()> {
        remove_partial(&self.dir)
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

    /// Opens a new file that grows while a trial runs. What was written survives a crash of the controller. An empty file
    /// that is there already is one that a writer was killed over, and is taken.
    ///
    /// # Errors
    /// As [`RecordWriter::write_raw`].
    pub fn append_raw(&mut self, path: &str) -> Result<File> {
        let target = self.unlinked(path)?;
        let is_empty = |m: fs::Metadata| m.is_file() && m.len() == 0;
        if fs::symlink_metadata(&target).is_ok_and(is_empty) {
            fs::remove_file(&target).map_err(|e| Error::io("remove the file", &target, e))?;
        }
        let target = self.new_file(path)?;
        File::create_new(&target).map_err(|e| Error::io("create the file", &target, e))
    }

    /// Opens a file that another writer began or was about to, to write on at its end, and reads what is in it.
    ///
    /// # Errors
    /// When `path` leaves the record or is no plain regular file, or the disk refuses.
    pub(crate) fn reopen_raw(&mut self, path: &str) -> Result<(File, Vec<u8>)> {
        let target = self.unlinked(path)?;
        if plain_name(path).is_some() {
            return Err(Error::new(ErrorKind::Record, "is compressed already").at(target));
        }
        if !target.exists() {
            return Ok((self.append_raw(path)?, Vec::new()));
        }
        let failed = |e| Error::io("open", &target, e);
        let bytes = regular_file::open(&target)
            .and_then(|file| regular_file::read(file, FILE_LIMIT_BYTES))
            .map_err(failed)?
            .ok_or_else(|| {
                Error::new(ErrorKind::Record, "is too long to go on with").at(&target)
            })?;
        let file = File::options().append(true).open(&target).map_err(failed)?;
        Ok((file, bytes))
    }

    fn new_file(&self, path: &str) -> Result<PathBuf> {
        let target = self.unlinked(path)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|e| Error::io("make the folder", parent, e))?;
        }
        if target.exists() {
            return Err(Error::new(ErrorKind::Record, "the file is there already").at(target));
        }
        Ok(target)
    }

    /// A path within the record that leads through no link.
    fn unlinked(&self, path: &str) -> Result<PathBuf> {
        let target = inside(&self.dir, path)?;
        // A record may come from others, and is gone on with.
        let mut within = target.ancestors().take_while(|path| *path != self.dir);
        if let Some(link) = within.find(|path| path.is_symlink()) {
            return Err(Error::new(
                ErrorKind::Record,
                "is a link, and nothing is written through it",
            )
            .at(link)
            .next("remove it, or run the experiment anew"));
        }
        Ok(target)
    }

    /// Removes a file that another one of the record stands for.
    ///
    /// # Errors
    /// When `path` leaves the record, or the disk refuses.
    pub(crate) fn remove_raw(&self, path: &str) -> Result<()> {
        let target = inside(&self.dir, path)?;
        fs::remove_file(&target).map_err(|e| Error::io("remove the file", &target, e))
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
        drop(self.lock);
        Ok(Record::of(self.dir, manifest))
    }
}

fn to_yaml(manifest: &Manifest) -> Result<Vec<u8>> {
    serde_yaml::to_string(manifest)
        .map(String::into_bytes)
        .map_err(|e| Error::new(ErrorKind::Record, "cannot write the manifest").because(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_locked_is_not_left() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("runs/r");
        let refused = |dir: &Path| {
            let unsupported = std::io::ErrorKind::Unsupported.into();
            Err(Error::io("lock the record's folder", dir, unsupported))
        };
        let error = RecordWriter::create_by(&dir, refused).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(!dir.exists());
        RecordWriter::create(&dir).unwrap();
    }
}
