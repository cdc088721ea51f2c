//! Lines of text from any reader, in bounded memory.

use std::io::{BufRead, BufReader, Read};

use crate::parse::Wrong;

/// The longest line that is read, in bytes.
pub(super) const LONGEST_LINE: usize = 4096;

/// One line without its end.
#[derive(Debug)]
pub(super) struct Line {
    pub text: String,
    /// From 1.
    pub number: usize,
    /// Whether a line feed ended it; a line without one is the file's last and may be cut off.
    pub ended: bool,
}

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum Failure {
    Read(std::io::Error),
    /// The line with this number is not text that can be read.
    Line(usize, Wrong),
}

/// Line by line; LF and CR LF end a line, a UTF-8 byte order mark is dropped.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    bytes: Vec<u8>,
    number: usize,
}

impl<R: Read> Lines<R> {
    pub fn new(reader: R) -> Self {
        Lines {
            reader: BufReader::with_capacity(64 * 1024, reader),
            bytes: Vec::new(),
            number: 0,
        }
    }

    /// The number of the last line read, 0 before the first.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The next line, none at the end.
    pub fn next(&mut self) -> Result<Option<Line>, Failure> {
        self.bytes.clear();
        let longest = LONGEST_LINE as u64 + 2;
        (&mut self.reader)
            .take(longest)
            .read_until(b'\n', &mut self.bytes)
            .map_err(Failure::Read)?;
        if self.bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let (text, ended) = self
            .decode()
            .map_err(|wrong| Failure::Line(self.number, wrong))?;
        Ok(Some(Line {
            text,
            number: self.number,
            ended,
        }))
    }

    fn decode(&self) -> Result<(String, bool), Wrong> {
        let mut bytes = self.bytes.as_slice();
        if self.number == 1 {
            // UTF-32 first: its little-endian mark begins with that of UTF-16.
            if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
                return Err(Wrong {
                    column: 1,
                    message: "the file is UTF-32 text".into(),
                    next: "convert it first: iconv -f UTF-32 -t UTF-8 FILE".into(),
                });
            }
            if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
                return Err(Wrong {
                    column: 1,
                    message: "the file is UTF-16 text".into(),
                    next: "convert it first: iconv -f UTF-16 -t UTF-8 FILE".into(),
                });
            }
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
            return Err(Wrong {
                column: at + 1,
                message: "a NUL byte: this is not a text file".into(),
                next: "give a file of numbers, one a line, or the output of `free -k -s 1`".into(),
            });
        }
        let ended = bytes.ends_with(b"\n");
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = bytes.trim_ascii_end();
        if let Some(at) = text.iter().position(|&byte| byte == b'\r') {
            return Err(Wrong {
                column: at + 1,
                message:
                    "a carriage return within the line: lines end in LF or CR LF, not in CR alone"
                        .into(),
                next: "convert it first: tr '\\r' '\\n' < FILE".into(),
            });
        }
        if bytes.len() > LONGEST_LINE {
            return Err(Wrong {
                column: 1,
                message: format!("the line is longer than {LONGEST_LINE} bytes"),
                next: "write one number a line, for example with `tr ' ' '\\n'`".into(),
            });
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok((text.to_owned(), ended)),
            Err(error) => Err(Wrong {
                column: bytes
                    .get(..error.valid_up_to())
                    .map_or(0, |valid| String::from_utf8_lossy(valid).chars().count())
                    + 1,
                message: "a byte that is not UTF-8 text".into(),
                next: "convert the file to UTF-8, for example with `iconv -f LATIN1 -t UTF-8`"
                    .into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(String, bool)>, Failure> {
        let mut lines = Lines::new(bytes);
        let mut out = Vec::new();
        while let Some(line) = lines.next()? {
            out.push((line.text, line.ended));
        }
        Ok(out)
    }

    fn wrong(bytes: &[u8]) -> (usize, Wrong) {
        match all(bytes) {
            Err(Failure::Line(line, wrong)) => (line, wrong),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_do_not_matter() {
        let lines = all(b"\xef\xbb\xbf1\r\n2\n3").unwrap();
        assert_eq!(
            lines,
            [("1".into(), true), ("2".into(), true), ("3".into(), false)]
        );
    }

    #[test]
    fn what_is_not_text_is_named() {
        assert!(wrong(b"\xff\xfe1\0\n\0").1.message.contains("UTF-16"));
        for utf_32 in [b"\xff\xfe\0\x001\0\0\0", b"\0\0\xfe\xff\0\0\x001"] {
            assert!(wrong(utf_32).1.message.contains("UTF-32"));
        }
        assert!(wrong(b"1\r2\r3\r").1.message.contains("CR alone"));
        assert!(wrong(&b"1\r".repeat(9000)).1.message.contains("CR alone"));
        assert_eq!(all(b"1\r\r\n").unwrap().len(), 1);
        let (line, nul) = wrong(b"1\n23\x004\n");
        assert_eq!((line, nul.column), (2, 3));
        let (line, latin) = wrong(b"1\n2\n\xc3\xa4 3\xe4\n");
        assert_eq!((line, latin.column), (3, 4));
    }

    #[test]
    fn the_longest_line_is_read_and_one_byte_more_is_refused() {
        for end in ["", "\n", "\r\n"] {
            let longest = "1".repeat(LONGEST_LINE) + end;
            assert_eq!(all(longest.as_bytes()).unwrap().len(), 1);
            let longer = "1".repeat(LONGEST_LINE + 1) + end;
            assert!(wrong(longer.as_bytes()).1.message.contains("4096"));
        }
        let endless = std::io::repeat(b'7');
        assert!(matches!(
            Lines::new(endless).next(),
            Err(Failure::Line(1, _))
        ));
    }
}
