//! Whether a file looks like a series or like runs, for the message that asks which it is.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::parse::number_file::NumberFile;
use crate::summary::stream::{Stream, StreamSummary};

/// As many numbers are looked at.
const MOST: usize = 100_000;

/// Fewer numbers look like runs.
const FEWEST_OF_A_SERIES: u64 = 20;

/// Neighbours at least so alike look like a series.
const LEAST_LAG1: f64 = 0.3;

/// What a file looks like, and why.
#[derive(Debug, PartialEq)]
pub(super) enum Look {
    FreeLog,
    Series { count: u64, lag1: f64 },
    Few { count: u64 },
    Runs { count: u64, lag1: Option<f64> },
}

impl Look {
    /// A log of `free`, or 20 numbers and more whose lag-1 autocorrelation is at least 0.3 and
    /// more than independent numbers give (2 / sqrt(n)), look like a series.
    pub fn of(summary: &StreamSummary, free: bool) -> Look {
        let count = summary.count;
        let chance = 2.0 / (count as f64).sqrt();
        match summary.lag1 {
            _ if free => Look::FreeLog,
            _ if count < FEWEST_OF_A_SERIES => Look::Few { count },
            Some(lag1) if lag1 >= LEAST_LAG1 && lag1 > chance => Look::Series { count, lag1 },
            lag1 => Look::Runs { count, lag1 },
        }
    }

    pub fn is_series(&self) -> bool {
        matches!(self, Look::FreeLog | Look::Series { .. })
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Look::FreeLog => write!(f, "a series: it is a log of `free`"),
            Look::Series { count, lag1 } => write!(
                f,
                "a series: {count} numbers whose neighbours are alike (lag-1 autocorrelation {lag1:.2})"
            ),
            Look::Few { count: 1 } => write!(f, "runs: only 1 number"),
            Look::Few { count } => write!(f, "runs: only {count} numbers"),
            Look::Runs { count, lag1: None } => write!(f, "runs: {count} equal numbers"),
            Look::Runs {
                count,
                lag1: Some(lag1),
            } => write!(
                f,
                "runs: {count} numbers whose neighbours are not alike (lag-1 autocorrelation {lag1:.2})"
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
        error = error.detail(format!("{place} looks like {}", look(path)?));
    }
    Ok(error.next("give the one that is true of both files"))
}

fn look(path: &Path) -> Result<Look> {
    let mut file = NumberFile::open(path)?;
    let mut stream = Stream::default();
    for value in file.by_ref().take(MOST) {
        stream.push(value?);
    }
    let summary = stream.finish().ok_or_else(|| file.empty())?;
    Ok(Look::of(&summary, file.free_layout().is_some()))
}
