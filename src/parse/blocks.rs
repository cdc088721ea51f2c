//! Samples of a file of the kernel, as they are sampled again and again: blocks, each under a line with its time.
//!
//! | line | what follows |
//! |---|---|
//! | `@ SECONDS` | the whole file |
//! | `+ SECONDS` | only those lines that differ from the block before |
//! | `! SECONDS N` | nothing: N samples before this time were due and not taken |
//!
//! SECONDS are the host's CLOCK_BOOTTIME. Of a file's lines only the wanted fields are kept, those of one block.

use crate::series::{Missed, Parsed};

/// A line of the sampled file: a field's name and its number; none when it is no line of that file.
pub(super) type ReadLine = fn(&[u8]) -> Option<(&[u8], u64)>;

/// One sample.
pub(super) struct Block<const N: usize> {
    /// Where it begins in the file, from 1.
    pub line: usize,
    pub boottime_s: f64,
    /// The wanted fields, in their order; none for one that the file does not have.
    pub fields: [Option<u64>; N],
    /// Whether every one of its lines could be read.
    pub clean: bool,
}

/// How many samples there were, and how many there should have been besides.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub taken: u64,
    pub missed: u64,
}

impl Count {
    /// As the record knows it; none when no sample was missed.
    pub fn missed_by(self, monitor: &str) -> Option<Missed> {
        (self.missed > 0).then(|| Missed {
            monitor: monitor.to_owned(),
            count: self.missed,
            taken: self.taken,
        })
    }
}

/// Reads blocks of a file, whose name is for messages, and gives each to `take`, which says what is wrong with it, if
/// something is.
///
/// What cannot be read is counted in `parsed`. Changes are worth nothing without what they change: after a line that
/// could not be read no `+` block is given, and each is counted, until a whole one comes. A last `+` block that is
/// cut off between two of its lines cannot be told from a whole one.
pub(super) fn read<const N: usize>(
    bytes: &[u8],
    file: &'static str,
    wanted: &[&str; N],
    read_line: ReadLine,
    parsed: &mut Parsed,
    take: impl FnMut(&Block<N>) -> Result<(), &'static str>,
) -> Count {
    let mut reader = Reader {
        current: None,
        known: None,
        last_s: f64::NEG_INFINITY,
        count: Count::default(),
        parsed,
        take,
    };
    let not_of_it = format!("not a line of {file}");
    let mut number = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        number += 1;
        let Some(line) = line.strip_suffix(b"\n") else {
            reader.damage(number, "the file ends within this line");
            continue;
        };
        if let Some(stamp) = line.strip_prefix(b"@ ") {
            reader.begin(number, stamp, Kind::Whole);
        } else if let Some(stamp) = line.strip_prefix(b"+ ") {
            reader.begin(number, stamp, Kind::Changes);
        } else if let Some(rest) = line.strip_prefix(b"! ") {
            reader.missed(number, rest);
        } else if let Some((name, value)) = read_line(line) {
            reader.set(number, wanted, name, value);
        } else {
            reader.damage(number, &not_of_it);
        }
    }
    reader.end_block();
    reader.count
}

/// A time as in `/proc/uptime`, with as many digits as there are.
pub(super) fn boottime(text: &[u8]) -> Option<f64> {
    let seconds: f64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// A field's number.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Changes,
}

struct Reader<'a, const N: usize, Take> {
    /// The block on its way.
    current: Option<(Block<N>, Kind)>,
    /// The fields of the last block, when all of them are sure.
    known: Option<[Option<u64>; N]>,
    last_s: f64,
    count: Count,
    parsed: &'a mut Parsed,
    take: Take,
}

impl<const N: usize, Take> Reader<'_, N, Take>
where
    Take: FnMut(&Block<N>) -> Result<(), &'static str>,
{
    fn begin(&mut self, line: usize, stamp: &[u8], kind: Kind) {
        self.end_block();
        let Some(boottime_s) = boottime(stamp) else {
            return self.damage(line, "not a time");
        };
        let fields = match (kind, self.known) {
            (Kind::Whole, _) => [None; N],
            (Kind::Changes, known) => known.unwrap_or([None; N]),
        };
        let clean = true;
        self.current = Some((
            Block {
                line,
                boottime_s,
                fields,
                clean,
            },
            kind,
        ));
    }

    fn set(&mut self, line: usize, wanted: &[&str; N], name: &[u8], value: u64) {
        let Some((block, _)) = &mut self.current else {
            return self.damage(line, "before any time");
        };
        for (known, place) in wanted.iter().zip(&mut block.fields) {
            if known.as_bytes() == name {
                *place = Some(value);
            }
        }
    }

    fn missed(&mut self, line: usize, rest: &[u8]) {
        self.end_block();
        let mut words = rest.splitn(2, |&b| b == b' ');
        let time = words.next().and_then(boottime);
        match (time, words.next().and_then(number)) {
            (Some(_), Some(count)) => self.count.missed = self.count.missed.saturating_add(count),
            _ => self.damage(line, "not a time and a count of samples"),
        }
    }

    fn damage(&mut self, line: usize, why: &str) {
        self.parsed.skip(line, why);
        self.known = None;
        if let Some((block, _)) = &mut self.current {
            block.clean = false;
        }
    }

    fn end_block(&mut self) {
        let Some((block, kind)) = self.current.take() else {
            return;
        };
        if kind == Kind::Changes && self.known.is_none() {
            let why = "changes of a sample that could not be read, or is not there";
            self.parsed.skip(block.line, why);
            return;
        }
        // Checked before the time: a sample that is out of order still says what the next one changes.
        self.known = block.clean.then_some(block.fields);
        let forward = block.boottime_s > self.last_s;
        let taken = match forward {
            true => (self.take)(&block),
            false => Err("time does not go forward"),
        };
        match taken {
            Ok(()) => {
                self.last_s = block.boottime_s;
                self.count.taken += 1;
            }
            Err(why) => {
                self.parsed.skip(block.line, why);
                // What lacks a field is no ground for changes.
                self.known = self.known.filter(|_| !forward);
            }
        }
    }
}
