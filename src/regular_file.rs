//! Opening files that others may have put there: regular files only, without waiting for a named pipe's writer,
//! and within a record without following links.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// Opens a regular file that the user names; a link to one is followed.
///
/// # Errors
/// `InvalidInput` for what is no regular file; what the system says otherwise.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    regular(openat(CWD, path, flags, Mode::empty())?)
}

/// Opens a regular file below a folder. No part of `relative` may be a link: a record does not lead out of itself.
///
/// # Errors
/// As [`open`], and `InvalidInput` for a link or a path with other parts than names.
pub(crate) fn open_within(folder: &Path, relative: &Path) -> io::Result<File> {
    let step = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let mut at = openat(CWD, folder, step, Mode::empty())?;
    let mut parts = relative.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            break;
        };
        let last = parts.peek().is_none();
        let flags = match last {
            true => OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY,
            false => step,
        };
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|e| match e {
            Errno::LOOP => link(),
            // A link where a folder must be is "not a directory" to the system.
            Errno::NOTDIR if !last && is_link(&at, name) => link(),
            e => e.into(),
        })?;
        if last {
            return regular(at);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "is no path within the folder",
    ))
}

/// Reads at most `limit` bytes; none when there are more.
///
/// # Errors
/// What the system says.
pub(crate) fn read(file: File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

fn regular(file: OwnedFd) -> io::Result<File> {
    let file = File::from(file);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    }
}

fn is_link(at: &OwnedFd, name: &std::ffi::OsStr) -> bool {
    rustix::fs::statat(at, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink())
}

fn link() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is a symbolic link or lies behind one; a record's files are regular files within it",
    )
}
