//! One writer a record: a lock on its folder, which the system releases when the process ends, however it ends.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

use crate::error::{Error, ErrorKind, Result};

/// A program that is being started has the lock too for a moment, until it closes what it does not inherit; so a lock
/// that was just released may look taken.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// The lock; dropping it releases it. Programs that are started meanwhile do not inherit it.
///
/// It holds among processes of one machine. On a file system that several machines share it may not be seen by the
/// others.
#[derive(Debug)]
pub(super) struct Lock {
    _folder: OwnedFd,
}

impl Lock {
    /// Locks the record in this folder.
    ///
    /// # Errors
    /// `Record` when another writer has it, `Io` when the folder cannot be opened.
    pub(super) fn take(folder: &Path) -> Result<Lock> {
        let failed = |e: Errno| Error::io("lock the record's folder", folder, e.into());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, folder, flags, Mode::empty()).map_err(failed)?;
        let lock = || flock(&opened, FlockOperation::NonBlockingLockExclusive);
        let mut locked = lock();
        for _ in 0..TRIES {
            if locked != Err(Errno::WOULDBLOCK) {
                break;
            }
            std::thread::sleep(PAUSE);
            locked = lock();
        }
        match locked {
            Ok(()) => Ok(Lock { _folder: opened }),
            Err(Errno::WOULDBLOCK) => Err(Error::new(
                ErrorKind::Record,
                "another ktrial is writing this record",
            )
            .at(folder)
            .next("wait for its end")),
            Err(e) => Err(failed(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let error = Lock::take(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Record);
        drop(first);
        Lock::take(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
