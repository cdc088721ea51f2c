//! Whether a file looks like a series or like runs, for the message that asks which it is.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::error::{Error, Result};
use crate::parse::number_file::NumberFile;
use crate::summary::stream::{Stream, StreamSummary};

/// As many numbers are looked at.
const MOST: usize = 100_000;

/// Of fewer numbers nothing can be told.
const FEWEST_OF_A_SERIES: u64 = 20;

/// Neighbours at least so alike look like a series.
const LEAST_LAG1: f64 = 0.3;

/// Whole numbers from 16 MiB to 16 TiB may be memory in KiB, as a column of `free`.
const MEMORY_KIB: RangeInclusive<f64> = 16_384.0..=17_179_869_184.0;

const MEMORY_HINT: &str = "; whole numbers of this size may be KiB of memory: \
     when they are samples of `free` over time, --series --unit KiB";

/// What a file looks like, and why.
#[derive(Debug, PartialEq)]
pub(super) enum Look {
    FreeLog,
    Series { count: u64, lag1: f64 },
    Runs { count: u64, lag1: f64 },
    Few { count: u64 },
    Equal { count: u64 },
}

impl Look {
    /// A log of `free`, or 20 numbers and more whose lag-1 autocorrelation is at least 0.3 and
    /// more than independent numbers give (2 / sqrt(n)), look like a series; fewer or equal ones look like nothing.
    pub fn of(summary: &StreamSummary, free: bool) -> Look {
        let count = summary.count;
        let chance = 2.0 / (count as f64).sqrt();
        match summary.lag1 {
            _ if free => Look::FreeLog,
            _ if count < FEWEST_OF_A_SERIES => Look::Few { count },
            Some(lag1) if lag1 >= LEAST_LAG1 && lag1 > chance => Look::Series { count, lag1 },
            Some(lag1) => Look::Runs { count, lag1 },
            None => Look::Equal { count },
        }
    }

    pub fn is_series(&self) -> bool {
        matches!(self, Look::FreeLog | Look::Series { .. })
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Look::FreeLog => write!(f, "looks like a series: it is a log of `free`"),
            Look::Series { count, lag1 } => write!(
                f,
                "looks like a series: {count} numbers whose neighbours are alike (lag-1 autocorrelation {lag1:.2})"
            ),
            Look::Few { count: 1 } => write!(f, "cannot tell: 1 number is too few"),
            Look::Few { count } => write!(f, "cannot tell: {count} numbers are too few"),
            Look::Equal { count } => write!(f, "cannot tell: {count} equal numbers"),
            Look::Runs { count, lag1 } => write!(
                f,
                "looks like runs: {count} numbers whose neighbours are not alike (lag-1 autocorrelation {lag1:.2})"
            ),
        }
    }
}

/// The error that explains `--series` and `--runs`.
///
/// # Errors
/// When a file cannot be read at all.
pub(super) fn which(a: &Path, b: &Path) -> Result<Error> {
    let mut error = Error::usage("say what the files hold: --series or --runs")
        .detail(
            "--series: each file is one trial's samples over time, as a `free` log: n = 1, no test",
        )
        .detail(
            "--runs: each number is the result of one run, as for ministat: n = how many, tested",
        );
    for path in [a, b] {
        let place = crate::ascii::excerpt(&path.to_string_lossy(), 100);
        error = error.detail(format!("{place}: {}", look(path)?));
    }
    Ok(error.next("give the one that is true of both files"))
}

fn look(path: &Path) -> Result<String> {
    let mut file = NumberFile::open(path)?;
    let mut stream = Stream::default();
    let mut memory = true;
    for value in file.by_ref().take(MOST) {
        let value = value?;
        memory &= value.fract() == 0.0 && MEMORY_KIB.contains(&value);
        stream.push(value);
    }
    let summary = stream.finish().ok_or_else(|| file.empty())?;
    let look = Look::of(&summary, file.free_layout().is_some());
    let hint = match look {
        Look::Few { .. } | Look::Equal { .. } if memory => MEMORY_HINT,
        _ => "",
    };
    Ok(format!("{look}{hint}"))
}
