//! What came of a trial: its files as the host has them, each from its begin, kept in the record as it comes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Experiment, WorkloadKind};
use crate::monitor::MOST_BYTES;

use super::ledger::Slot;
use super::said;

/// Most that is kept of words for people, and of reports.
const WORDS_LIMIT_BYTES: u64 = ktrial_agent::OUTPUT_LIMIT;

/// How much of the end of a file is at hand.
const TAIL_BYTES: usize = 64 << 10;

/// The list of a trial's files on the host.
const RESULT: &str = "result";

/// A file that is expected of a trial.
struct Expected {
    /// Its name in the trial's folder on the host.
    name: String,
    /// What wrote it, as the record calls it, and its name there; none when only its end is of use.
    kept: Option<(String, String)>,
    limit: u64,
    /// Whether it belongs to the record even when nothing came.
    always: bool,
}

/// The files of a trial of this experiment.
fn expected(experiment: &Experiment) -> Vec<Expected> {
    let file = |name: &str, kept: Option<(&str, &str)>, limit, always| Expected {
        name: name.to_owned(),
        kept: kept.map(|(monitor, file)| (monitor.to_owned(), file.to_owned())),
        limit,
        always,
    };
    let mut files = Vec::new();
    for monitor in &experiment.monitors {
        let name = monitor.kind.name();
        let samples = format!("{name}.txt");
        files.push(file(&samples, Some((name, &samples)), MOST_BYTES, true));
        files.push(file(&format!("{name}.err"), None, WORDS_LIMIT_BYTES, false));
    }
    for (name, monitor) in [
        ("workload.stdout", "workload-stdout"),
        ("workload.stderr", "workload-stderr"),
    ] {
        files.push(file(name, Some((monitor, name)), WORDS_LIMIT_BYTES, true));
    }
    files.push(file(
        "events",
        Some(("events", "events.txt")),
        WORDS_LIMIT_BYTES,
        true,
    ));
    // The list of the others.
    files.push(file(RESULT, None, WORDS_LIMIT_BYTES, false));
    let agent = Some(("agent", "agent.txt"));
    files.push(file("agent.txt", agent, WORDS_LIMIT_BYTES, false));
    if experiment.workload.kind == WorkloadKind::StressNg {
        let report = Some(("stress-ng-yaml", "stress-ng.yaml"));
        files.push(file("stress-ng.yaml", report, WORDS_LIMIT_BYTES, false));
    }
    files
}

/// One file as far as it came.
struct Taken {
    expected: Expected,
    file: Option<File>,
    /// How much came, kept or not.
    bytes: u64,
    hash: Sha256,
    /// Whether the hash is of everything that came.
    is_whole: bool,
    tail: Vec<u8>,
}

/// A piece does not follow on what came before: asking again from [`Received::offsets`] helps.
#[derive(Debug)]
pub(super) struct Gap;

/// A trial's files.
pub(super) struct Received<'a> {
    slot: Slot<'a>,
    files: BTreeMap<String, Taken>,
    /// Of files that nobody expects: only so that they are not sent again.
    ignored: BTreeMap<String, u64>,
}

impl<'a> Received<'a> {
    /// What the record has of the trial already, to go on from there; `seen` is told of each file's content.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub(super) fn go_on(
        slot: Slot<'a>,
        experiment: &Experiment,
        mut seen: impl FnMut(&str, &[u8]),
    ) -> Result<Received<'a>> {
        let mut received = Received {
            slot,
            files: BTreeMap::new(),
            ignored: BTreeMap::new(),
        };
        for expected in expected(experiment) {
            let mut taken = Taken::new(expected);
            let monitor = taken.expected.kept.as_ref().map(|(monitor, _)| monitor);
            let there = match monitor {
                Some(monitor) => slot.reopen_raw(monitor)?,
                None => None,
            };
            match there {
                Some((file, bytes)) => {
                    seen(&taken.expected.name, &bytes);
                    taken.count(&bytes);
                    // What is past the limit was counted by another ktrial, which did not say how much.
                    taken.is_whole = taken.bytes < taken.expected.limit;
                    taken.file = Some(file);
                }
                None if taken.expected.always => taken.open(slot)?,
                None => {}
            }
            received.files.insert(taken.expected.name.clone(), taken);
        }
        Ok(received)
    }

    /// How much came of each file.
    pub(super) fn offsets(&self) -> BTreeMap<String, u64> {
        let files = self.files.iter().map(|(name, taken)| (name, taken.bytes));
        let ignored = self.ignored.iter().map(|(name, bytes)| (name, *bytes));
        let all = files.chain(ignored);
        all.filter(|(_, bytes)| *bytes > 0)
            .map(|(name, bytes)| (name.clone(), bytes))
            .collect()
    }

    /// Takes a piece; gives that part of it which is new.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn take<'b>(
        &mut self,
        name: &str,
        offset: u64,
        bytes: &'b [u8],
    ) -> Result<std::result::Result<&'b [u8], Gap>> {
        let have = match self.files.get(name) {
            Some(taken) => taken.bytes,
            None => self.ignored.get(name).copied().unwrap_or(0),
        };
        let Some(known) = have.checked_sub(offset) else {
            return Ok(Err(Gap));
        };
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        let new = bytes.get(known..).unwrap_or_default();
        match self.files.get_mut(name) {
            Some(taken) => taken.take(new, self.slot)?,
            None => {
                // A host may name any number of files.
                if self.ignored.len() < 100 || self.ignored.contains_key(name) {
                    self.ignored
                        .insert(name.to_owned(), have + new.len() as u64);
                }
            }
        }
        Ok(Ok(new))
    }

    /// The end of a file; nothing when nothing came.
    pub(super) fn tail(&self, name: &str) -> &[u8] {
        self.files.get(name).map_or(&[], |taken| &taken.tail)
    }

    /// The last line of a file that says something, escaped.
    pub(super) fn last_line(&self, name: &str) -> Option<String> {
        said::last_line(self.tail(name))
    }

    /// What was not kept, in words.
    pub(super) fn cut(&self) -> Vec<String> {
        let cut = self.files.values().filter(|t| t.bytes > t.expected.limit);
        cut.map(|taken| {
            format!(
                "{}: the first {} of {} bytes are kept",
                taken.expected.name, taken.expected.limit, taken.bytes
            )
        })
        .collect()
    }

    /// The first file that did not come as the host's list of lengths and hashes has it, and how it differs.
    pub(super) fn damaged(&self) -> Option<String> {
        let list = String::from_utf8_lossy(self.tail(RESULT));
        for taken in self.files.values() {
            let name = &taken.expected.name;
            if name == RESULT {
                continue;
            }
            let mut lines = list.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            let line = lines.find(|words| words.first() == Some(&name.as_str()));
            let (bytes, sha256) = match line.as_deref() {
                Some([_, bytes, sha256]) => (bytes.parse::<u64>().ok(), *sha256),
                Some(_) => (None, "-"),
                None => (Some(0), "-"),
            };
            if bytes != Some(taken.bytes) {
                let said = bytes.map_or("no number".to_owned(), |bytes| bytes.to_string());
                return Some(format!(
                    "of {name} {} bytes came, the host says {said}",
                    taken.bytes
                ));
            }
            let hash = crate::record::hex(&taken.hash.clone().finalize());
            if taken.is_whole && sha256 != "-" && sha256 != hash {
                return Some(format!("{name} has another hash than on the host"));
            }
        }
        None
    }
}

impl Taken {
    fn new(expected: Expected) -> Taken {
        Taken {
            expected,
            file: None,
            bytes: 0,
            hash: Sha256::new(),
            is_whole: true,
            tail: Vec::new(),
        }
    }

    fn open(&mut self, slot: Slot<'_>) -> Result<()> {
        if let Some((monitor, file)) = &self.expected.kept {
            self.file = Some(slot.open_raw(monitor, file)?);
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8], slot: Slot<'_>) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            self.open(slot)?;
        }
        let room = self.expected.limit.saturating_sub(self.bytes);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let kept = bytes.get(..room).unwrap_or(bytes);
        if let Some(file) = &mut self.file {
            file.write_all(kept).map_err(|e| {
                Error::new(ErrorKind::Io, "cannot write what the host sent").because(e)
            })?;
        }
        // Last: what could not be written is asked for again.
        self.count(bytes);
        Ok(())
    }

    fn count(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
    }
}
