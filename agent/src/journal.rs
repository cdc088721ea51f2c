//! What is to be put back after a trial, on the disk before it is changed.

use std::fs::File;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::folder::{self, Folder, reserve};

const LIMIT: u64 = 64 << 20;
const ROOM: u64 = 64 << 10;

/// One line of the journal, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// A file of the kernel is given a value.
    Set {
        file: String,
        old: String,
        value: String,
    },
    /// A file of the kernel that the workload may change.
    Guard { file: String, old: String },
    /// `prepare` begins, so `restore` is to be run.
    Prepare,
    /// The control group of the workload.
    Cgroup { path: String },
}

/// Writes the journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens that of a trial.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn open(folder: &Folder) -> Result<Journal, String> {
        let file = folder
            .append("journal")
            .map_err(|e| format!("journal: {e}"))?;
        reserve(&file, ROOM);
        Ok(Journal { file })
    }

    /// Writes an entry; it is on the disk when this returns.
    ///
    /// # Errors
    /// When it is not; what it says must not be done then.
    pub fn write(&mut self, entry: &Entry) -> Result<(), String> {
        let mut line = serde_json::to_vec(entry).map_err(|e| e.to_string())?;
        line.push(b'\n');
        let written = self
            .file
            .write_all(&line)
            .and_then(|()| self.file.sync_data());
        written.map_err(|e| format!("the journal cannot be written: {e}"))
    }
}

/// The entries of a trial, in their order. A last line that was cut off is nothing that was done.
pub fn entries(folder: &Folder) -> Vec<Entry> {
    let text = folder::read(&folder.file("journal"), LIMIT).unwrap_or_default();
    let lines = text.split(|&b| b == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}
