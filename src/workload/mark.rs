//! The lines by which a workload's script tells its phases: `==ktrial== TOKEN NAME SECONDS ...`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// What such a line begins with.
pub(super) const WORD: &str = "==ktrial==";

/// Stands for a trial's [`Token`] where a script is only shown.
const PLACEHOLDER: &str = "TOKEN";

/// A word of one trial's marks that its workload is not told, so that it cannot say marks itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token(String);

impl Token {
    /// 64 random bits of the kernel.
    ///
    /// # Errors
    /// `Io` when `/dev/urandom` cannot be read.
    pub(crate) fn random() -> Result<Token> {
        let (path, mut bits) = ("/dev/urandom", [0; 8]);
        File::open(path)
            .and_then(|mut file| file.read_exact(&mut bits))
            .map_err(|e| Error::io("read", Path::new(path), e))?;
        Ok(Token(format!("{:016x}", u64::from_le_bytes(bits))))
    }

    /// For scripts that are shown and not run.
    pub(super) fn placeholder() -> Token {
        Token(PLACEHOLDER.to_owned())
    }

    /// As it stands in scripts and marks: a plain word.
    pub(super) fn word(&self) -> &str {
        &self.0
    }
}

/// Longest line that can be a mark.
const LINE_LIMIT: usize = 512;

/// What a script said, with the host's CLOCK_BOOTTIME in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// The idle phase begins.
    Idle(f64),
    /// The workload begins.
    Start(f64),
    /// The workload ended with this code.
    End(f64, i32),
    /// The settle phase is over.
    Settled(f64),
    /// The workload's own report is in this file on the host.
    Report(String),
}

/// Finds marks in a stream that comes in pieces.
///
/// A workload writes to the same stream: only lines with the trial's token are marks. Each counts once and only in
/// its order; one that comes otherwise is no word of the script's.
#[derive(Debug)]
pub(crate) struct Marks {
    token: Token,
    forged: bool,
    line: Vec<u8>,
    overlong: bool,
    step: u8,
}

impl Marks {
    /// Looks for marks with this token.
    pub(crate) fn new(token: Token) -> Marks {
        Marks {
            token,
            forged: false,
            line: Vec::new(),
            overlong: false,
            step: 0,
        }
    }

    /// Whether a mark with the right token came twice or out of order: somebody else than the script knows the token.
    pub(crate) fn is_forged(&self) -> bool {
        self.forged
    }

    /// Takes the next piece, gives the marks that it completes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Mark> {
        let mut found = Vec::new();
        for &byte in bytes {
            if byte == b'\n' {
                if !self.overlong {
                    found.extend(self.read_line());
                }
                self.line.clear();
                self.overlong = false;
            } else if self.line.len() < LINE_LIMIT {
                self.line.push(byte);
            } else {
                self.overlong = true;
            }
        }
        found
    }

    fn read_line(&mut self) -> Option<Mark> {
        let text = std::str::from_utf8(&self.line).ok()?;
        let mut words = text.strip_prefix(WORD)?.split_ascii_whitespace();
        if words.next()? != self.token.word() {
            return None;
        }
        let (name, up) = (words.next()?, words.next()?.parse::<f64>().ok()?);
        if !up.is_finite() {
            return None;
        }
        let (step, mark) = match name {
            "report" => (1, Mark::Report(report_path(words.next()?)?)),
            "idle" => (2, Mark::Idle(up)),
            "start" => (3, Mark::Start(up)),
            "end" => (4, Mark::End(up, words.next()?.parse().ok()?)),
            "settled" => (5, Mark::Settled(up)),
            _ => return None,
        };
        // The report is the one that may be left out.
        let next = step == self.step + 1 || (step == 2 && self.step == 0);
        self.forged |= !next;
        next.then(|| {
            self.step = step;
            mark
        })
    }
}

/// The path goes back to the host that said it; still only what `mktemp` makes is taken.
fn report_path(path: &str) -> Option<String> {
    let plain = path.starts_with('/')
        && path.contains("/ktrial.")
        && path
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b));
    plain.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Marks {
        Marks::new(Token::placeholder())
    }

    #[test]
    fn marks_are_found_between_the_workload_s_output() {
        let text = b"\n==ktrial== TOKEN report 10.00 /tmp/ktrial.aB3\n\n==ktrial== TOKEN idle 10.00 \nhello\n\n==ktrial== TOKEN start 12.50 \n\
            no newline at the end\n==ktrial== TOKEN end 15.00 1\n\n==ktrial== TOKEN settled 16.00 \n";
        let want = [
            Mark::Report("/tmp/ktrial.aB3".into()),
            Mark::Idle(10.0),
            Mark::Start(12.5),
            Mark::End(15.0, 1),
            Mark::Settled(16.0),
        ];
        assert_eq!(marks().feed(text), want);
        let mut marks = marks();
        let one_by_one: Vec<Mark> = text.chunks(1).flat_map(|piece| marks.feed(piece)).collect();
        assert_eq!(one_by_one, want);
    }

    #[test]
    fn a_workload_cannot_say_marks_out_of_order_or_twice() {
        let mut marks = marks();
        let found = marks.feed(
            b"==ktrial== TOKEN idle 1 \n==ktrial== TOKEN end 2 0\n==ktrial== TOKEN start nan\n==ktrial== TOKEN start 3\n==ktrial== TOKEN start 4\n",
        );
        assert_eq!(found, [Mark::Idle(1.0), Mark::Start(3.0)]);
        assert!(marks.is_forged());
    }

    #[test]
    fn lines_without_the_token_are_the_workload_s_own() {
        let mut marks = marks();
        assert_eq!(
            marks.feed(b"==ktrial== idle 1 \n==ktrial== token idle 1 \n"),
            []
        );
        assert!(!marks.is_forged());
    }

    #[test]
    fn every_trial_has_another_token() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(one, other);
        assert!(one.word().len() == 16 && one.word().bytes().all(|b| b.is_ascii_hexdigit()));
    }

    #[test]
    fn paths_that_mktemp_did_not_make_are_not_taken() {
        for path in [
            "/etc/passwd",
            "ktrial.x",
            "/tmp/ktrial.$(id)",
            "/tmp/ktrial.a;b",
        ] {
            let text = format!("==ktrial== TOKEN report 1 {path}\n");
            assert_eq!(marks().feed(text.as_bytes()), [], "{path}");
        }
    }

    #[test]
    fn an_endless_line_does_not_grow() {
        let mut marks = marks();
        marks.feed(&[b'x'; 100_000]);
        assert!(marks.line.len() <= LINE_LIMIT);
        assert_eq!(
            marks.feed(b"\n==ktrial== TOKEN idle 1 \n"),
            [Mark::Idle(1.0)]
        );
    }
}
