//! The files that an experiment is read from: the one that the user names and those that it extends.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::draft::Draft;
use crate::experiment::keys;
use crate::experiment::outline::{self, Node};
use crate::experiment::words::shown;
use crate::regular_file;
use crate::yaml::{self, Purpose, Spot};

/// The longest chain of `extends`.
const MAX_FILES: usize = 8;

/// The files, the user's first, with the outline of each.
pub(super) struct Sources {
    files: Vec<(PathBuf, Node)>,
}

/// Which part of an entry an error is about.
#[derive(Clone, Copy)]
enum Part {
    Key,
    Value,
}

impl Sources {
    /// Reads a text and the files that it extends; gives the keys of all, merged.
    ///
    /// # Errors
    /// `Input` for anything that is wrong with a file's form, with its place.
    pub fn read(text: &str, file: &Path) -> Result<(Draft, Sources)> {
        let (mut draft, root) = parse(text, file)?;
        let mut sources = Sources {
            files: vec![(file.to_owned(), root)],
        };
        let mut seen = vec![identity(file)];
        let mut next = draft.extends.take();
        let mut directory = file.parent().map(Path::to_owned).unwrap_or_default();
        while let Some(name) = next {
            let (path, base) = sources.base(&name, &directory, &mut seen)?;
            let (mut base_draft, root) = parse(&base, &path)?;
            next = base_draft.extends.take();
            directory = path.parent().map(Path::to_owned).unwrap_or_default();
            sources.files.push((path, root));
            draft = draft.over(base_draft);
        }
        Ok((draft, sources))
    }

    /// The path and text of the file that the last one extends.
    fn base(
        &self,
        name: &str,
        directory: &Path,
        seen: &mut Vec<PathBuf>,
    ) -> Result<(PathBuf, String)> {
        let error = |message: String| self.last_error("extends", message);
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
            return Err(error(format!("`extends` cannot be {}", shown(name)))
                .next("give the name of a file in the same directory, without a path"));
        }
        let path = directory.join(name);
        let id = identity(&path);
        if seen.contains(&id) {
            return Err(error(format!(
                "`extends` comes back to {}, so that no file is the first",
                shown(name)
            ))
            .next("remove one `extends` of the circle"));
        }
        if seen.len() == MAX_FILES {
            return Err(error(format!(
                "`extends` makes a chain of more than {MAX_FILES} files"
            )));
        }
        seen.push(id);
        let text = read_file(&path).map_err(|cause| {
            error(format!("cannot read {}, named by `extends`", shown(name)))
                .next(format!("put it beside {}", self.last_file().display()))
                .because(cause)
        })?;
        Ok((path, text))
    }

    fn last_file(&self) -> &Path {
        self.files.last().map_or(Path::new(""), |(path, _)| path)
    }

    /// An error at a key of the last file.
    fn last_error(&self, key: &str, message: String) -> Error {
        let at = self
            .files
            .last()
            .and_then(|(_, root)| root.entry(key))
            .map_or(Spot { line: 1, column: 1 }, |entry| entry.value.at);
        Error::input(message).at_line_column(self.last_file(), at.line, at.column)
    }

    /// An error about a value, at the value or the nearest that is there above it.
    pub fn at_value(&self, path: &[&str], message: impl Into<String>) -> Error {
        self.at(path, Part::Value, message.into())
    }

    /// An error about a key, at the key or the nearest that is there above it.
    pub fn at_key(&self, path: &[&str], message: impl Into<String>) -> Error {
        self.at(path, Part::Key, message.into())
    }

    fn at(&self, path: &[&str], part: Part, message: String) -> Error {
        let (file, at) = self.spot(path, part);
        Error::input(message).at_line_column(file, at.line, at.column)
    }

    fn spot(&self, path: &[&str], part: Part) -> (&Path, Spot) {
        let start = Spot { line: 1, column: 1 };
        // A key that is nowhere is missed in the user's own file.
        let holder = self
            .files
            .iter()
            .find(|(_, root)| path.first().is_some_and(|key| root.entry(key).is_some()))
            .or(self.files.first());
        let Some((file, root)) = holder else {
            return (Path::new(""), start);
        };
        let mut at = start;
        let mut node = root;
        for step in path {
            if let Some(entry) = node.entry(step) {
                node = &entry.value;
                at = match part {
                    Part::Key => entry.key_at,
                    Part::Value => node.at,
                };
            } else if let Some(element) = node.element(step) {
                node = element;
                at = node.at;
            } else {
                break;
            }
        }
        (file, at)
    }
}

/// What makes two paths the same file.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Form first, with places; then the values.
fn parse(text: &str, file: &Path) -> Result<(Draft, Node)> {
    let text = yaml::without_bom(text);
    let root = outline::outline(text, file)?;
    keys::check(&root, file)?;
    let draft = serde_yaml::from_str(text).map_err(|cause| {
        let at = cause.location();
        let (line, column) = at.map_or((1, 1), |at| (at.line(), at.column()));
        Error::input("not an experiment")
            .at_line_column(file, line, column)
            .because(cause)
    })?;
    Ok((draft, root))
}

/// Reads an experiment's file, at most a little more than it may have.
pub(super) fn read_file(path: &Path) -> Result<String> {
    let failed = |cause: std::io::Error| {
        Error::new(ErrorKind::Input, "cannot read the experiment")
            .at(path)
            .next("check the name and that you may read it")
            .because(cause)
    };
    let most = Purpose::Experiment.max_bytes();
    let bytes = match regular_file::open(path).and_then(|file| regular_file::read(file, most)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(yaml::too_large(path, Purpose::Experiment)),
        Err(cause) if cause.kind() == std::io::ErrorKind::InvalidInput => {
            return Err(Error::input("not a file")
                .at(path)
                .next("give an experiment's YAML file"));
        }
        Err(cause) => return Err(failed(cause)),
    };
    String::from_utf8(bytes).map_err(|cause| {
        let valid = cause.utf8_error().valid_up_to();
        let before =
            String::from_utf8_lossy(cause.as_bytes().get(..valid).unwrap_or_default()).into_owned();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        Error::input("not UTF-8 text")
            .at_line_column(path, line, column)
            .next("save the file as UTF-8")
    })
}
