//! One sampled file: read again and again, and what changed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use rustix::fs::OFlags;

use super::delta::changed_lines;
use crate::clock::{Seconds, ms, now_ns};

/// Bytes that a sampled file may have.
const LIMIT: usize = 4 << 20;

/// How often the file is given whole, at least: a cut record loses little.
const WHOLE_NS: u64 = ms(1_000);

/// A file that is kept open.
#[derive(Debug)]
pub struct Target {
    file: File,
    before: Vec<u8>,
    before_bytes: usize,
    now: Vec<u8>,
    /// Reads that the last whole reading took before the one that found the end.
    reads: usize,
    whole_at_ns: Option<u64>,
}

impl Target {
    /// Opens a file and reads it once, so that buffers are large enough.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn open(path: &str) -> io::Result<Target> {
        let no_wait = OFlags::NONBLOCK.bits() as i32;
        let mut options = OpenOptions::new();
        let mut target = Target {
            file: options.read(true).custom_flags(no_wait).open(path)?,
            before: Vec::new(),
            before_bytes: 0,
            now: vec![0; 16 << 10],
            reads: 0,
            whole_at_ns: None,
        };
        target.read(true)?;
        // Room to grow by half.
        let room = target.now.len().max(target.now.len() / 2 * 3);
        target.now.resize(room, 0);
        target.before.resize(room, 0);
        Ok(target)
    }

    /// Whether the next block is to be a whole one, whatever changed.
    pub fn is_whole_due(&self, now_ns: u64) -> bool {
        self.whole_at_ns
            .is_none_or(|last_ns| now_ns >= last_ns + WHOLE_NS)
    }

    /// Takes a sample and appends its block, a whole one if `is_due`; whether it became a whole one.
    ///
    /// # Errors
    /// When the file cannot be read any more; nothing is appended then.
    pub fn sample(&mut self, is_due: bool, out: &mut Vec<u8>) -> io::Result<bool> {
        let at_ns = now_ns();
        let bytes = self.read(is_due)?;
        let now = self.now.get(..bytes).unwrap_or_default();
        let before = self.before.get(..self.before_bytes).unwrap_or_default();
        let begin = out.len();
        let mut is_whole = is_due;
        if !is_due {
            // A Vec takes all that is written.
            let _ = writeln!(out, "+ {}", Seconds(at_ns));
            if !changed_lines(before, now, out) {
                out.truncate(begin);
                is_whole = true;
            }
        }
        if is_whole {
            let _ = writeln!(out, "@ {}", Seconds(at_ns));
            out.extend_from_slice(now);
            if !now.is_empty() && !now.ends_with(b"\n") {
                out.push(b'\n');
            }
            self.whole_at_ns = Some(at_ns);
        }
        std::mem::swap(&mut self.before, &mut self.now);
        self.before_bytes = bytes;
        if self.now.len() < self.before.len() {
            self.now.resize(self.before.len(), 0);
        }
        Ok(is_whole)
    }

    /// Reads the file into `now`. The kernel gives a long one in pieces, and tells its end by a read of nothing; that
    /// costs as much as a piece, so it is left out where as many pieces as last time end with the line that ended the
    /// file then. `surely`: never.
    fn read(&mut self, surely: bool) -> io::Result<usize> {
        let mut bytes = 0;
        let mut reads = 0;
        loop {
            if bytes == self.now.len() {
                if bytes >= LIMIT {
                    return Err(io::Error::other(format!("more than {LIMIT} bytes")));
                }
                self.now.resize(bytes * 2, 0);
            }
            let room = self.now.get_mut(bytes..).unwrap_or_default();
            match self.file.read_at(room, bytes as u64) {
                Ok(0) => break,
                Ok(n) => {
                    bytes += n;
                    reads += 1;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            if !surely
                && reads == self.reads
                && bytes < self.now.len()
                && self.ends_as_before(bytes)
            {
                break;
            }
        }
        self.reads = reads;
        Ok(bytes)
    }

    fn ends_as_before(&self, bytes: usize) -> bool {
        let before = self.before.get(..self.before_bytes).unwrap_or_default();
        let now = self.now.get(..bytes).unwrap_or_default();
        now.ends_with(b"\n") && last_word(now).is_some() && last_word(now) == last_word(before)
    }
}

/// The first word of the last line, when the line has others: a line of one word may differ from one time to the next.
fn last_word(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_suffix(b"\n")?;
    let line = text.rsplit(|&b| b == b'\n').next()?;
    let end = line.iter().position(|&b| b == b' ')?;
    line.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(target: &mut Target) -> (bool, String) {
        let mut out = Vec::new();
        let whole = target
            .sample(target.is_whole_due(now_ns()), &mut out)
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        let (stamp, rest) = text.split_once('\n').unwrap();
        assert_eq!(stamp.starts_with("@ "), whole, "{stamp}");
        (whole, rest.to_owned())
    }

    #[test]
    fn a_file_is_given_whole_when_its_lines_are_others_and_its_changes_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut old = String::new();
        let mut is_first = true;
        // The clock may make any of them whole.
        for text in [
            "a 1\nb 2\n",
            "a 1\nb 3\n",
            "a 1\nb 3\nc 4\n",
            "b 3\n",
            "7",
            "",
            "a 5\nb 6\n",
        ] {
            std::fs::write(&path, text).unwrap();
            if is_first {
                old = text.to_owned();
            }
            let mut target = Target::open(path.to_str().unwrap()).unwrap();
            std::fs::write(&path, &old).unwrap();
            assert_eq!(sample(&mut target).1.trim_end(), old.trim_end());
            std::fs::write(&path, text).unwrap();
            let (whole, rest) = sample(&mut target);
            match whole {
                true => assert_eq!(rest.trim_end(), text.trim_end()),
                false => {
                    let mut lines = text.lines().filter(|line| !old.lines().any(|l| l == *line));
                    assert_eq!(rest.trim_end(), lines.next().unwrap_or_default());
                }
            }
            is_first = false;
            old = text.to_owned();
        }
    }

    #[test]
    fn a_file_of_several_pieces_is_read_to_its_end() {
        let mut target = Target::open("/proc/vmstat").unwrap();
        for _ in 0..20 {
            sample(&mut target);
            let bytes = target.before.get(..target.before_bytes).unwrap();
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let now = std::fs::read_to_string("/proc/vmstat").unwrap();
            assert_eq!(text.lines().count(), now.lines().count());
        }
    }
}
