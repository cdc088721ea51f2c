//! Experiments: the YAML file that says what to run, checked and with defaults filled in.

mod plan;

pub use plan::{Order, Plan, PlannedTrial};

use std::collections::BTreeMap;
use std::time::Duration;

/// A checked experiment. Made from YAML by [`Experiment::read`] or [`Experiment::parse`].
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name: the file's stem unless the file says another; safe as a file name.
    pub name: String,
    /// What it asks, one sentence.
    pub question: String,
    /// The metric that decides, named before the run; such as `memory.used.peak`.
    pub primary: String,
    /// Names as the user's ssh knows them, or `local`.
    pub hosts: Vec<String>,
    /// Conditions in the file's order, each with its variables; the first is the reference.
    pub conditions: Vec<Condition>,
    /// Parameters and their values; their product makes the cells.
    pub params: BTreeMap<String, Vec<String>>,
    /// What runs.
    pub workload: Workload,
    /// How long to watch before.
    pub idle: Duration,
    /// How long to watch after.
    pub settle: Duration,
    /// What is sampled.
    pub monitors: Vec<Monitor>,
    /// How trials are laid out.
    pub design: Design,
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Name.
    pub name: String,
    /// Variables that the workload's arguments may use as `{name}`.
    pub variables: BTreeMap<String, String>,
}

/// What runs on the host, with `{variable}` places still open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Which kind.
    pub kind: WorkloadKind,
    /// Program and arguments, or for `stress-ng` its arguments only.
    pub arguments: Vec<String>,
    /// How long it is planned to run.
    pub duration: Duration,
}

/// The kinds of workload that this version runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadKind {
    /// Any program.
    Command,
    /// stress-ng, whose own report decides success.
    StressNg,
}

/// A monitor and how often it samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monitor {
    /// Which.
    pub kind: MonitorKind,
    /// Time between samples.
    pub period: Duration,
}

/// The monitors that this version has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitorKind {
    /// `/proc/meminfo`, whole.
    Meminfo,
    /// The literal pipeline `free -k -s 1 | grep Mem | awk '{print $3}'`.
    Free,
}

/// How trials are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// Trials per condition, cell and host.
    pub trials: u32,
    /// Their order.
    pub order: Order,
    /// Seed of all randomness.
    pub seed: u64,
}
