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
    /// Lines that could not be read, at most the first 20, as `line number: why`. Never dropped silently.
    pub unread: Vec<String>,
    /// How many lines could not be read in all.
    pub unread_count: usize,
}

/// How many unread lines are kept in words.
const UNREAD_SHOWN: usize = 20;

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
