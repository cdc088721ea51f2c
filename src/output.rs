//! Files that the user names to be written: new ones, and only when asked in the place of another.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};

/// Creates the file to write to. With `replace`, what stands in one that is there already is lost.
///
/// # Errors
/// `Usage` when the file is there already and not to be replaced, `Io` when it cannot be created.
pub(crate) fn create(path: &Path, replace: bool) -> Result<File> {
    let created = match replace {
        true => File::create(path),
        false => File::create_new(path),
    };
    created.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Error::usage("the file is there already")
            .at(path)
            .next("name another file, or replace this one with --force"),
        _ => Error::io("create the file", path, e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_over_only_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.svg");
        std::fs::write(&path, "old").unwrap();
        let error = create(&path, false).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
        assert!(error.report().contains("--force"), "{}", error.report());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        create(&path, true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
