//! Raw bytes to series and values. What cannot be read is counted, never dropped silently.

pub mod agent;
pub mod blame;
mod blocks;
pub mod boot_time;
pub mod dumb_plot;
pub mod figures;
pub mod free;
pub mod free_pipeline;
pub mod header;
mod lines;
pub mod meminfo;
pub mod number_file;
mod numbers;
mod record;
pub mod series_file;
pub mod stress_ng;
mod time_span;
pub mod vmstat;

pub(crate) use record::no_such;

use crate::record::Trial;
use crate::series::Parsed;

/// A raw file's parser.
pub type Parser = fn(&[u8], &Trial) -> Parsed;

/// The parser of what a monitor wrote; none for text that only people read (the workload's output).
pub fn parser(monitor: &str) -> Option<Parser> {
    match monitor {
        "free" => Some(|bytes, trial| free_pipeline::parse(bytes, trial.start_boottime_s)),
        meminfo::MONITOR => Some(|bytes, trial| meminfo::parse(bytes, trial.start_boottime_s)),
        vmstat::MONITOR => Some(|bytes, trial| vmstat::parse(bytes, trial.start_boottime_s)),
        agent::MONITOR => Some(|bytes, trial| agent::parse(bytes, trial.start_boottime_s)),
        "stress-ng-yaml" => Some(|bytes, _| stress_ng::parse(bytes)),
        "figures" => Some(|bytes, _| figures::parse(bytes)),
        "series" => Some(|bytes, _| series_file::parse(bytes)),
        "systemd-analyze-time" => Some(|bytes, _| boot_time::parse(bytes)),
        blame::MONITOR => Some(|bytes, _| blame::parse(bytes)),
        _ => None,
    }
}

/// What is wrong with one line; the caller knows the file and the line number.
#[derive(Debug)]
struct Wrong {
    /// In characters, from 1.
    column: usize,
    message: String,
    next: String,
}
