//! Which process: a number alone is given to others again.

use std::fmt;
use std::path::Path;

use crate::folder;
use crate::processes;

/// A process of a boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it began, in clock ticks since the boot.
    pub start: u64,
    /// The boot's id.
    pub boot_id: String,
}

impl Identity {
    /// This process.
    ///
    /// # Errors
    /// Without /proc.
    pub fn own() -> Result<Identity, String> {
        let pid = std::process::id() as i32;
        let process = processes::look(pid).ok_or("/proc tells nothing of this process")?;
        Ok(Identity {
            pid,
            start: process.start,
            boot_id: boot_id()?,
        })
    }

    /// Of words as they are displayed.
    pub fn parse<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Identity> {
        Some(Identity {
            pid: words.next()?.parse().ok()?,
            start: words.next()?.parse().ok()?,
            boot_id: words.next()?.to_owned(),
        })
    }

    /// The one that a file names.
    pub fn of_file(path: &Path) -> Option<Identity> {
        let text = folder::read(path, 4096).ok()?;
        let text = String::from_utf8(text).ok()?;
        Identity::parse(&mut text.split_ascii_whitespace())
    }

    /// Whether it is of this boot.
    pub fn is_of_this_boot(&self) -> bool {
        boot_id().is_ok_and(|id| id == self.boot_id)
    }

    /// Whether it still runs. A process that ended and that nobody asked for yet does not.
    pub fn lives(&self) -> bool {
        let same = |p: processes::Process| p.start == self.start && !p.has_ended();
        self.is_of_this_boot() && processes::look(self.pid).is_some_and(same)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {} {}", self.pid, self.start, self.boot_id)
    }
}

fn boot_id() -> Result<String, String> {
    let id = folder::read(Path::new("/proc/sys/kernel/random/boot_id"), 4096)?;
    Ok(String::from_utf8_lossy(&id).trim().to_owned())
}
