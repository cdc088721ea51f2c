//! Files of numbers that people have: a column of numbers or a log of `free`, read as a stream.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::parse::Wrong;
use crate::parse::free::{FreeLog, Layout, Reading};
use crate::parse::header::Header;
use crate::parse::lines::{Failure, Lines};
use crate::parse::numbers::parse_line;

/// From here on a double no longer holds every whole number: one more is rounded to this one.
const WHOLE_NUMBERS_END: f64 = 9_007_199_254_740_992.0;

/// A file of numbers, one after the other; memory does not grow with the file (under 100 KiB).
///
/// The kind of file shows in its first line that is neither blank nor a comment.
/// Comments begin with `#`; [`Header`] tells which of them count.
///
/// ```
/// use ktrial::parse::number_file::NumberFile;
/// let file = NumberFile::new("used.txt", "# unit: KiB\n442516\n442600\n".as_bytes());
/// let values: Vec<f64> = file.collect::<Result<_, _>>().unwrap();
/// assert_eq!(values, [442516.0, 442600.0]);
/// ```
pub struct NumberFile<R> {
    path: PathBuf,
    lines: Lines<R>,
    header: Header,
    kind: Option<Kind>,
    count: u64,
    /// Line of the first number of 2^53 or more.
    past_whole_numbers: Option<usize>,
    cut_off: Option<usize>,
    failed: bool,
}

#[derive(Debug)]
enum Kind {
    Column,
    Free(FreeLog),
}

impl NumberFile<Box<dyn Read>> {
    /// Opens a regular file, a pipe or, named `-`, the standard input.
    ///
    /// # Errors
    /// Of the kind `Input`: no such file, no permission, a directory.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(NumberFile::new(
                "standard input",
                Box::new(std::io::stdin()),
            ));
        }
        let failed = |message: &str, next: &str, cause: Option<std::io::Error>| {
            let error = Error::input(message).at(path).next(next);
            match cause {
                Some(cause) => error.because(cause),
                None => error,
            }
        };
        let file = File::open(path).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::NotFound => failed("no such file", "check the name", None),
            std::io::ErrorKind::PermissionDenied => failed(
                "no permission to read this file",
                "ask its owner, or copy it with sudo",
                None,
            ),
            _ => failed("cannot open this file", "check the file", Some(cause)),
        })?;
        if file.metadata().is_ok_and(|data| data.is_dir()) {
            return Err(failed(
                "this is a directory, not a file of numbers",
                "name a file; a record's directory is compared alone: ktrial compare RECORD",
                None,
            ));
        }
        Ok(NumberFile::new(path, Box::new(file)))
    }
}

impl<R: Read> NumberFile<R> {
    /// Reads from anything; `path` is for messages.
    pub fn new(path: impl Into<PathBuf>, reader: R) -> Self {
        NumberFile {
            path: path.into(),
            lines: Lines::new(reader),
            header: Header::default(),
            kind: None,
            count: 0,
            past_whole_numbers: None,
            cut_off: None,
            failed: false,
        }
    }

    /// What the comments said of the numbers; complete once the first number was read.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The columns of a log of `free`; none for a column of numbers.
    pub fn free_layout(&self) -> Option<Layout> {
        match &self.kind {
            Some(Kind::Free(log)) => Some(log.layout()),
            _ => None,
        }
    }

    /// What a reader of the numbers has to know, complete when all were read.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(line) = self.past_whole_numbers {
            warnings.push(format!(
                "the number on line {line} is 2^53 (9.0e15) or more, where a double holds about 16 digits and the rest is rounded"
            ));
        }
        if let Some(Kind::Free(log)) = &self.kind
            && log.meaning_changed()
        {
            warnings.push("the layout of `free` changes within the log: in the old one used holds the page cache, in the new one not; record it again with one version".into());
        }
        if let Some(line) = self.cut_off {
            warnings.push(format!(
                "line {line}, the last, was cut off while it was written and is left out"
            ));
        }
        warnings
    }

    /// The error for a file that held no number at all.
    pub fn empty(&self) -> Error {
        let (message, next) = match (&self.kind, self.lines.number()) {
            (Some(Kind::Free(_)), _) => (
                "a log of `free` without a whole `Mem:` line",
                "record it again with `free -k -s 1 -c 40`",
            ),
            (_, 0) => ("the file is empty", "check the command that wrote it"),
            _ => (
                "the file holds only comments and blank lines",
                "write one number a line",
            ),
        };
        Error::input(message).at(&self.path).next(next)
    }

    fn wrong(&self, line: usize, wrong: Wrong) -> Error {
        Error::input(wrong.message)
            .at_line_column(&self.path, line, wrong.column)
            .next(wrong.next)
    }

    fn read(&mut self) -> Result<Option<f64>> {
        loop {
            let line = match self.lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(None),
                Err(Failure::Line(line, wrong)) => return Err(self.wrong(line, wrong)),
                Err(Failure::Read(cause)) => {
                    return Err(Error::input("cannot read on")
                        .at_line(&self.path, self.lines.number() + 1)
                        .next("check the file or the command that writes it")
                        .because(cause));
                }
            };
            let value = self
                .line(&line.text, line.number, line.ended)
                .map_err(|wrong| self.wrong(line.number, wrong))?;
            if let Some(value) = value {
                self.count += 1;
                if value.abs() >= WHOLE_NUMBERS_END {
                    self.past_whole_numbers.get_or_insert(line.number);
                }
                return Ok(Some(value));
            }
        }
    }

    fn line(&mut self, text: &str, number: usize, ended: bool) -> Result<Option<f64>, Wrong> {
        if let Some(comment) = text.trim_start().strip_prefix('#') {
            self.header.comment(comment, self.count == 0)?;
            return Ok(None);
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        let kind = self.kind.get_or_insert_with(|| {
            if FreeLog::begins_with(text) {
                Kind::Free(FreeLog::default())
            } else {
                Kind::Column
            }
        });
        match kind {
            Kind::Column => parse_line(text),
            Kind::Free(log) => Ok(match log.line(text, ended)? {
                Reading::Used(value) => Some(value),
                Reading::Other => None,
                Reading::CutOff => {
                    self.cut_off = Some(number);
                    None
                }
            }),
        }
    }
}

/// The numbers in the file's order; ends after the first error.
impl<R: Read> Iterator for NumberFile<R> {
    type Item = Result<f64>;

    fn next(&mut self) -> Option<Result<f64>> {
        if self.failed {
            return None;
        }
        let read = self.read();
        self.failed = read.is_err();
        read.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Result<Vec<f64>> {
        NumberFile::new("f", text.as_bytes()).collect()
    }

    #[test]
    fn comments_and_blank_lines_are_skipped_and_errors_keep_their_place() {
        assert_eq!(values("# a\n\n1\n  # b\n2\n").unwrap(), [1.0, 2.0]);
        let error = values("1\n# a\n\n  x\n5\n").unwrap_err();
        assert_eq!(error.to_string(), "f:4:3: text among the numbers: `x`");
    }

    #[test]
    fn a_second_unit_in_one_file_is_refused() {
        let error = values("# unit: KiB\n1\n# unit: MiB\n2\n").unwrap_err();
        assert!(error.to_string().starts_with("f:3:1: "), "{error}");
    }

    #[test]
    fn an_empty_file_says_how_it_is_empty() {
        for (text, what) in [
            ("", "is empty"),
            ("# unit: KiB\n\n", "only comments"),
            ("Mem: 12", "without a whole `Mem:` line"),
        ] {
            let mut file = NumberFile::new("f", text.as_bytes());
            assert!(file.next().is_none());
            assert!(file.empty().to_string().contains(what));
        }
    }

    #[test]
    fn rounding_past_2_to_the_53_is_said() {
        for number in ["18446744073709551615", "-9007199254740993"] {
            let text = format!("1\n{number}\n");
            let mut file = NumberFile::new("f", text.as_bytes());
            assert_eq!(file.by_ref().count(), 2);
            assert!(file.warnings()[0].contains("line 2"));
        }
        let mut below = NumberFile::new("f", "9007199254740991\n".as_bytes());
        assert_eq!(below.by_ref().count(), 1);
        assert!(below.warnings().is_empty());
    }

    #[test]
    fn a_log_of_two_versions_of_free_is_said() {
        const OLD: &str = " total used free shared buffers cached\nMem: 9 5 4 0 1 2\n";
        const NEW: &str = " total used free shared buff/cache available\nMem: 9 2 4 0 3 7\n";
        const WIDE: &str = " total used free shared buffers cache available\nMem: 9 2 4 0 1 2 7\n";
        for (log, said) in [
            (format!("{OLD}{NEW}"), true),
            (format!("{NEW}{OLD}{NEW}"), true),
            (format!("{NEW}{WIDE}"), false),
            (format!("{OLD}{OLD}"), false),
        ] {
            let mut file = NumberFile::new("f", log.as_bytes());
            assert!(file.by_ref().all(|value| value.is_ok()));
            let warned = file.warnings().iter().any(|w| w.contains("changes within"));
            assert_eq!(warned, said, "{log}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_every_number_is_finite(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..300),
                "(Mem:|Swap:|total used free|-/\\+|#|unit:|[0-9.,]{1,9}|[ \r\n\t]|[a-z]){0,60}".prop_map(String::into_bytes),
            ]
        ) {
            let mut file = NumberFile::new("f", bytes.as_slice());
            for value in file.by_ref() {
                match value {
                    Ok(value) => prop_assert!(value.is_finite()),
                    Err(error) => {
                        prop_assert!(error.to_string().is_ascii());
                        prop_assert!(error.next_step().is_some());
                    }
                }
            }
            prop_assert!(file.next().is_none());
        }
    }
}
