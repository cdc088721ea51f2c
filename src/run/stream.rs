//! What comes from a running script: kept in raw files, bounded, with the end of it at hand for messages.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::{Event, Exit, Running};

/// Most that is kept of what a monitor writes; the rest is only counted, and the trial says so.
pub(super) const SAMPLES_LIMIT_BYTES: u64 = crate::monitor::MOST_BYTES;

/// Most that is kept of each of a workload's outputs: words for people, and no place to fill a disk from.
pub(super) const WORDS_LIMIT_BYTES: u64 = 16 << 20;

/// How much of the end of a stream is at hand.
const TAIL_BYTES: usize = 64 << 10;

/// How many events are taken from one stream before the next one has its turn.
const TURN: usize = 64;

/// One of a script's two outputs.
#[derive(Default)]
pub(super) struct Output {
    file: Option<File>,
    limit: u64,
    tail: Vec<u8>,
    /// How much came, kept or not.
    pub(super) bytes: u64,
}

impl Output {
    /// Kept in a file as it comes, up to so many bytes.
    pub(super) fn into_file(file: File, limit: u64) -> Output {
        Output {
            file: Some(file),
            limit,
            ..Output::default()
        }
    }

    /// The end of what came.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// What was not kept, in words.
    pub(super) fn cut(&self) -> Option<String> {
        let cut = self.file.is_some() && self.bytes > self.limit;
        cut.then(|| format!("the first {} of {} bytes are kept", self.limit, self.bytes))
    }

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        let room = usize::try_from(self.limit.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        self.bytes += bytes.len() as u64;
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
        let kept = bytes.get(..room).unwrap_or(bytes);
        match &mut self.file {
            Some(file) => file.write_all(kept).map_err(|e| {
                Error::new(ErrorKind::Io, "cannot write what the host sent").because(e)
            }),
            None => Ok(()),
        }
    }
}

/// A script that runs on the host.
pub(super) struct Stream {
    /// What it is, as in the manifest.
    pub(super) name: &'static str,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    /// How it ended, once it has.
    pub(super) exit: Option<Exit>,
    running: Box<dyn Running>,
}

impl Stream {
    pub(super) fn new(
        name: &'static str,
        running: Box<dyn Running>,
        stdout: Output,
        stderr: Output,
    ) -> Stream {
        Stream {
            name,
            stdout,
            stderr,
            exit: None,
            running,
        }
    }

    pub(super) fn group(&self) -> i32 {
        self.running.group()
    }

    /// Takes what came, at most one turn's worth; waits up to `timeout` for the first of it.
    /// `stdout` sees each piece of standard output.
    pub(super) fn take(&mut self, timeout: Duration, mut stdout: impl FnMut(&[u8])) -> Result<()> {
        let mut timeout = timeout;
        for _ in 0..TURN {
            if self.exit.is_some() {
                break;
            }
            match self.running.next(timeout)? {
                Event::Stdout(bytes) => {
                    stdout(&bytes);
                    self.stdout.take(&bytes)?;
                }
                Event::Stderr(bytes) => self.stderr.take(&bytes)?,
                Event::Quiet => break,
                Event::Ended(exit) => self.exit = Some(exit),
            }
            timeout = Duration::ZERO;
        }
        Ok(())
    }
}
