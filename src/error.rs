//! The crate's one error type: what happened, where, and what to do next.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::ascii::excerpt;

/// The most characters of a message, a cause, a detail or a next step that are shown.
const LONGEST: usize = 2000;

/// The most details that are shown.
const MOST_DETAILS: usize = 200;

/// A part of an error as it is shown. Whatever it quotes, a host's words or a file's, stays on one line,
/// printable and bounded.
fn shown(text: &str) -> String {
    excerpt(text, LONGEST)
}

/// A result with ktrial's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of thing went wrong. Decides the exit code and whether a retry makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The command line asks for something that cannot be.
    Usage,
    /// A file that the user named cannot be read, or does not hold what it should.
    Input,
    /// The controller's own files: a record cannot be written, a disk is full.
    Io,
    /// A host did not answer in time or the connection broke: trying again may help.
    HostTransient,
    /// A host refused or lacks something: trying again will not help.
    HostStable,
    /// The workload ran and failed.
    Workload,
    /// A record is incomplete or damaged.
    Record,
    /// The user ended it.
    Interrupted,
}

impl ErrorKind {
    /// The command line's exit code: 2 for usage or input, 1 for an experiment or comparison that failed.
    ///
    /// ```
    /// use ktrial::error::ErrorKind;
    /// assert_eq!(ErrorKind::Input.exit_code(), 2);
    /// assert_eq!(ErrorKind::HostTransient.exit_code(), 1);
    /// ```
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage | ErrorKind::Input => 2,
            _ => 1,
        }
    }
}

/// A place in a text file; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.file.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    place: Option<Place>,
    details: Vec<String>,
    next: Option<String>,
    source: Option<Source>,
}

/// An error of ktrial. Its text is one line, `place: what`; [`Error::report`] adds details, causes and the next step.
/// All of it is shown as bounded printable ASCII, see [`crate::ascii`]: what is put in need not be escaped before.
///
/// ```
/// use ktrial::error::{Error, ErrorKind};
/// let e = Error::new(ErrorKind::Input, "unknown key `worload`")
///     .at_line_column("e.yaml", 3, 5)
///     .next("did you mean `workload`?");
/// assert_eq!(e.to_string(), "e.yaml:3:5: unknown key `worload`");
/// assert!(e.report().contains("did you mean"));
/// ```
///
/// Its Debug text is the report: `unwrap` and notebooks show that.
pub struct Error(Box<Inner>);

impl Error {
    /// An error of a kind, with what happened in one sentence without a full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            place: None,
            details: Vec::new(),
            next: None,
            source: None,
        }))
    }

    /// Shorthand for [`ErrorKind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Shorthand for [`ErrorKind::Input`].
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// A failed operation on one of the controller's files.
    pub fn io(doing: &str, path: &Path, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("cannot {doing}"))
            .at(path)
            .because(source)
    }

    /// Adds the file.
    pub fn at(mut self, file: impl Into<PathBuf>) -> Self {
        self.0.place = Some(Place {
            file: file.into(),
            line: None,
            column: None,
        });
        self
    }

    /// Adds file and line.
    pub fn at_line(mut self, file: impl Into<PathBuf>, line: usize) -> Self {
        self.0.place = Some(Place {
            file: file.into(),
            line: Some(line),
            column: None,
        });
        self
    }

    /// Adds file, line and column.
    pub fn at_line_column(mut self, file: impl Into<PathBuf>, line: usize, column: usize) -> Self {
        self.0.place = Some(Place {
            file: file.into(),
            line: Some(line),
            column: Some(column),
        });
        self
    }

    /// Adds a line below the message: one of several things that are wrong, each a sentence.
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        self.0.details.push(line.into());
        self
    }

    /// Adds what the user can do next.
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.0.next = Some(next.into());
        self
    }

    /// Keeps the cause.
    pub fn because(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it happened, when that is a file.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What to do next, when known.
    pub fn next_step(&self) -> Option<&str> {
        self.0.next.as_deref()
    }

    /// The whole error for a person: the line, its details, every cause, the next step.
    pub fn report(&self) -> String {
        let mut text = format!("error: {self}");
        for detail in self.0.details.iter().take(MOST_DETAILS) {
            text.push_str(&format!("\n  {}", shown(detail)));
        }
        if let Some(more) = self.0.details.len().checked_sub(MOST_DETAILS + 1) {
            text.push_str(&format!("\n  ... and {} more", more + 1));
        }
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(&format!("\n  because: {}", shown(&error.to_string())));
            cause = error.source();
        }
        if let Some(next) = &self.0.next {
            text.push_str(&format!("\n  next: {}", shown(next)));
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&shown(&self.0.message))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|s| s as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_an_error_quotes_stays_on_its_line_printable_and_bounded() {
        let hostile = format!("\x1b[2J\u{9b}31m\n  next: rm \u{e9}{}", "x".repeat(100_000));
        let error = Error::input(hostile.clone())
            .at(hostile.clone())
            .detail(hostile.clone())
            .because(std::io::Error::other(hostile.clone()))
            .next(hostile);
        let report = error.report();
        assert_eq!(report.lines().count(), 4);
        assert!(
            report
                .lines()
                .all(|line| crate::ascii::escaped(line) == line)
        );
        assert!(report.len() < 6 * LONGEST, "{}", report.len());
        assert_eq!(error.to_string().lines().count(), 1);
        assert!(error.to_string().len() < 3 * LONGEST);
    }

    #[test]
    fn details_past_the_bound_are_counted() {
        let error =
            (0..MOST_DETAILS + 2).fold(Error::input("bad"), |e, i| e.detail(format!("d{i}")));
        assert!(error.report().ends_with("d199\n  ... and 2 more"));
    }
}
