//! What parsing gives: time series and single values, in plain vectors.

use std::collections::BTreeMap;

use crate::unit::Unit;

/// Parameters of an experiment and the value each has in one part of it, such as `config: debug`.
pub type Cell = BTreeMap<String, String>;

/// One metric over time within one trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Such as `memory.used`.
    pub metric: String,
    /// Unit of `values`.
    pub unit: Unit,
    /// Seconds, ascending; since the workload's start when that is known, else since the first sample.
    pub time_s: Vec<f64>,
    /// As many as `time_s`.
    pub values: Vec<f64>,
    /// Full width of what a value may be off by (a digitised plot's row height), in `unit`.
    pub quantum: Option<f64>,
}

/// One number of one trial: a udev unit's time at a boot, a published peak.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Such as `systemd-udev-settle.service` or `memory.used.peak`.
    pub metric: String,
    /// Unit of `value`.
    pub unit: Unit,
    /// The number.
    pub value: f64,
}

/// What one raw file held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// Time series, in the file's order.
    pub series: Vec<Series>,
    /// Single values, in the file's order.
    pub values: Vec<Value>,
    /// Samples that were due and not taken, one a monitor that missed some.
    pub missed: Vec<Missed>,
    /// Lines that could not be read, at most the first 20, as `line number: why`. Never dropped silently.
    pub unread: Vec<String>,
    /// How many lines could not be read in all.
    pub unread_count: usize,
}

/// Samples of one monitor that were due and not taken, as the host was too busy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// The monitor's name, such as `meminfo`.
    pub monitor: String,
    /// How many were missed.
    pub count: u64,
    /// How many were taken.
    pub taken: u64,
}

impl Missed {
    /// How many were due.
    pub fn due(&self) -> u64 {
        self.count.saturating_add(self.taken)
    }

    /// The share that was missed, 0 to 1.
    pub fn share(&self) -> f64 {
        self.count as f64 / self.due().max(1) as f64
    }
}

/// How many unread lines are kept in words.
pub(crate) const UNREAD_SHOWN: usize = 20;

impl Parsed {
    /// Counts a line that could not be read, with its number from 1 and why.
    pub fn skip(&mut self, line: usize, why: &str) {
        self.unread_count += 1;
        if self.unread.len() < UNREAD_SHOWN {
            self.unread.push(format!("line {line}: {why}"));
        }
    }
}

/// A phase of a trial's time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the workload, nothing runs: the reference.
    Idle,
    /// The workload runs.
    Workload,
    /// After the workload.
    Settle,
}

/// When a phase was, in seconds since the workload's start.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpan {
    /// Which.
    pub phase: Phase,
    /// From, seconds since the workload's start (negative while idle).
    pub start_s: f64,
    /// To, seconds since the workload's start.
    pub end_s: f64,
}
