//! One writer a record: a lock on its folder, which the system releases when the process ends, however it ends.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

use crate::error::{Error, ErrorKind, Result};

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
        match flock(&opened, FlockOperation::NonBlockingLockExclusive) {
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
