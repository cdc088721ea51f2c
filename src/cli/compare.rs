//! `ktrial compare`.

mod files;
mod looks;
mod names;
mod record;
mod runs;
mod series;
mod setup;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use crate::compare::{Assumption, Options};
use crate::error::{Error, ErrorKind, Result};

/// Seed of the random splits of a permutation test with too many splits to look at all.
const SEED: u64 = 1;

/// Compare two files or the conditions of a record.
///
/// A file holds one number a line, or is a log of `free -k -s 1`; lines that begin with # are comments.
/// Differences are B minus A.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Two files (`-` is the standard input), or the directory of one record.
    #[arg(value_name = "A B | RECORD", num_args = 1..=2, required = true)]
    paths: Vec<PathBuf>,

    /// Each file is one trial's samples over time: peak, median, p95 and mean are compared, n = 1, no test.
    #[arg(long, conflicts_with = "runs")]
    series: bool,

    /// Each number is the result of one run: estimate, interval, p values, verdict.
    #[arg(long)]
    runs: bool,

    /// The unit of the numbers, such as KiB or s, when the files do not say it.
    #[arg(long)]
    unit: Option<String>,

    /// Name of what the numbers measure; of a record, a metric to compare (may be given more than once).
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,

    /// What is assumed of the runs, which decides the test.
    #[arg(long, value_enum, default_value_t = Assume::Normal)]
    assume: Assume,

    /// Of a record with more than two conditions, compare the others with this one instead of the first.
    #[arg(long, value_name = "CONDITION")]
    against: Option<String>,

    /// Of a record, count a boot that was recorded twice as two.
    #[arg(long)]
    keep_duplicates: bool,

    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Assume {
    /// Roughly normal with any variances: Welch's t test.
    Normal,
    /// Nothing but exchangeable labels: exact permutation test.
    Exact,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Plain ASCII, 72 columns, for a mail.
    Text,
    /// Schema 1 of docs/json.md.
    Json,
}

impl Args {
    fn options(&self) -> Options {
        Options {
            assumption: match self.assume {
                Assume::Normal => Assumption::Normal,
                Assume::Exact => Assumption::Exact,
            },
            seed: SEED,
        }
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if args.metric.iter().any(|name| name.trim().is_empty()) {
        return Err(Error::usage("--metric is empty").next("give a name, such as memory.used"));
    }
    let report = match args.paths.as_slice() {
        [a, b] => files::compare_files(a, b, args)?,
        [record] if record.is_dir() => record::compare_record(record, args)?,
        _ => {
            return Err(Error::usage("compare needs two files, or a record's directory")
                .next("ktrial compare --series BEFORE AFTER, ktrial compare --runs BEFORE AFTER, or ktrial compare RECORD"));
        }
    };
    let text = match args.format {
        Format::Text => report.to_text(),
        Format::Json => report.to_json(),
    };
    super::print(&text)?;
    if report.comparisons.is_empty() {
        return Err(Error::new(ErrorKind::Record, "there is nothing to compare")
            .next("a comparison needs complete trials of two conditions that share a metric; the notes say what is missing"));
    }
    Ok(ExitCode::SUCCESS)
}
