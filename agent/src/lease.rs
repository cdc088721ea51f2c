//! The lease: how long a trial goes on with nobody there.

use std::time::SystemTime;

use crate::clock::{ms, now_ns};
use crate::folder::Folder;

/// When a controller was last there. Its mark is a file's time of change, but only that it changed counts: a wall clock
/// that is set says nothing about how long ago that was.
#[derive(Debug)]
pub struct Lease {
    length_ns: u64,
    changed: Option<SystemTime>,
    seen_ns: u64,
}

impl Lease {
    /// Begins now.
    pub fn new(folder: &Folder, length_ms: u64) -> Lease {
        Lease {
            length_ns: ms(length_ms),
            changed: changed(folder),
            seen_ns: now_ns(),
        }
    }

    /// Whether nobody was there for all of its length.
    pub fn is_over(&mut self, folder: &Folder) -> bool {
        let changed = changed(folder);
        if changed != self.changed {
            self.changed = changed;
            self.seen_ns = now_ns();
        }
        now_ns().saturating_sub(self.seen_ns) >= self.length_ns
    }
}

/// Says that a controller is there.
pub fn renew(folder: &Folder) {
    // An empty file has room on a full disk.
    if let Ok(file) = folder.append("lease") {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn changed(folder: &Folder) -> Option<SystemTime> {
    folder.file("lease").metadata().ok()?.modified().ok()
}
