//! `manifest.yaml`: what a record says of itself. Schema 1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::series::{Cell, PhaseSpan};
use crate::unit::Unit;

/// The schema that this version writes.
pub const SCHEMA: u32 = 1;

/// The manifest of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this layout.
    pub schema: u32,
    /// The record's name: its directory's name when it was made.
    pub name: String,
    /// Whether ktrial ran it or imported it.
    pub kind: RecordKind,
    /// When the record was made, RFC 3339, UTC.
    pub created: String,
    /// Program and version that made it, such as `ktrial 0.1.0`.
    pub made_by: String,
    /// Where imported figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What the experiment asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The metric named before the run that decides; none for imported figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<String>,
    /// Further metrics named before the run; when there are any, no others are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secondary: Vec<String>,
    /// Conditions in order; the first is the reference (`a` of a comparison).
    pub conditions: Vec<String>,
    /// What is repeated independently.
    pub replication: Replication,
    /// How the run ended.
    pub state: State,
    /// The hosts that took part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFacts>,
    /// Every trial of the plan, in order, whatever became of it.
    #[serde(default)]
    pub trials: Vec<Trial>,
    /// Published figures without their data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// What a reader has to know: warnings that belong to the record as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Every other file of the record with its hash.
    #[serde(default)]
    pub files: Vec<FileEntry>,
}

impl Manifest {
    /// The kernels that a host's complete trials ran on, in order; without any, the one that the host said before the run.
    pub fn kernels(&self, host: &HostFacts) -> Vec<String> {
        let mut kernels: Vec<String> = Vec::new();
        for trial in &self.trials {
            let here = trial.host.as_deref() == Some(&host.name) && trial.state == State::Complete;
            if let Some(kernel) = trial
                .kernel
                .as_ref()
                .filter(|k| here && !kernels.contains(k))
            {
                kernels.push(kernel.clone());
            }
        }
        if kernels.is_empty() {
            kernels.extend(host.facts.get("kernel").cloned());
        }
        kernels
    }

    /// A manifest with nothing in it yet, made now by this version.
    pub fn new(name: &str, kind: RecordKind, replication: Replication) -> Manifest {
        Manifest {
            schema: SCHEMA,
            name: name.to_owned(),
            kind,
            created: jiff::Timestamp::now()
                .round(jiff::Unit::Second)
                .unwrap_or_default()
                .to_string(),
            made_by: concat!("ktrial ", env!("CARGO_PKG_VERSION")).to_owned(),
            source: None,
            question: None,
            primary: None,
            secondary: Vec::new(),
            conditions: Vec::new(),
            replication,
            state: State::Complete,
            hosts: Vec::new(),
            trials: Vec::new(),
            claims: Vec::new(),
            notes: Vec::new(),
            files: Vec::new(),
        }
    }
}

/// How a record came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// ktrial ran the experiment.
    Run,
    /// Figures that others measured.
    Import,
}

/// The unit of replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replication {
    /// Each trial is one boot.
    Boot,
    /// Trials repeat within a boot.
    Trial,
}

/// What became of a run or a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Planned, not begun.
    NotRun,
    /// Under way when the manifest was written.
    Running,
    /// Ended as planned.
    Complete,
    /// Ended by an error; what was received until then is kept.
    Failed,
    /// Ended by the user; what was received until then is kept.
    Interrupted,
}

impl State {
    /// The word as in the manifest.
    pub fn word(self) -> &'static str {
        match self {
            State::NotRun => "not-run",
            State::Running => "running",
            State::Complete => "complete",
            State::Failed => "failed",
            State::Interrupted => "interrupted",
        }
    }
}

/// One trial of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Unique in the record and safe as a file name: `t01`.
    pub id: String,
    /// One of the manifest's conditions.
    pub condition: String,
    /// Parameters' values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cell: Cell,
    /// The host's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// `/proc/sys/kernel/random/boot_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// What `uname -r` said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The kernel's command line, where the experiment booted the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmdline: Option<String>,
    /// Which attempt this is, from 1; a resumed run makes further ones of trials that were not complete.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// What became of it.
    pub state: State,
    /// Why, when it is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The trial that this one repeats the figures of (the same boot posted twice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// Phases, when known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseSpan>,
    /// The host's CLOCK_BOOTTIME at the workload's start, seconds: zero of the time line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_boottime_s: Option<f64>,
    /// Where it still is on its host; none once everything is fetched and removed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_host: Option<OnHost>,
    /// Raw files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<RawFile>,
    /// What a reader has to know of this trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Trial {
    /// A trial that has not run yet.
    pub fn new(id: &str, condition: &str) -> Trial {
        Trial {
            id: id.to_owned(),
            condition: condition.to_owned(),
            cell: Cell::new(),
            host: None,
            boot_id: None,
            kernel: None,
            cmdline: None,
            attempt: first(),
            state: State::NotRun,
            reason: None,
            duplicate_of: None,
            phases: Vec::new(),
            start_boottime_s: None,
            on_host: None,
            raw: Vec::new(),
            notes: Vec::new(),
        }
    }
}

fn first() -> u32 {
    1
}

fn is_first(attempt: &u32) -> bool {
    *attempt == first()
}

/// A trial that its host runs, or has kept until somebody fetches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnHost {
    /// The name of its folder on the host: 16 hexadecimal digits.
    pub id: String,
    /// What takes it through its phases there: `agent` or `shell`.
    pub supervisor: String,
    /// Whether the user ended it, and the host was asked to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// A raw file of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    /// What wrote it; decides how it is parsed (see [`crate::parse`]).
    pub monitor: String,
    /// Path within the record, with `/`.
    pub path: String,
}

/// A host as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The name under which it was reached.
    pub name: String,
    /// Facts by name (`kernel`, `machine`, `cpus`, `memory_kib`, `procps`, ...), as the host said them.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// Where imported figures come from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Who published them.
    pub author: String,
    /// When, `YYYY-MM-DD`, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Mailing list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// Subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Message-ID or link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// SHA-256 of the file that was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How the figures were taken from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

impl Source {
    /// Author, date, list, subject and message, as far as they are known, in one line.
    pub fn citation(&self) -> String {
        let others = [&self.date, &self.list, &self.subject, &self.message];
        let known = std::iter::once(&self.author).chain(others.into_iter().flatten());
        known.map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// A published figure whose data are not published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What is claimed, in ktrial's own words.
    pub what: String,
    /// The metric, such as `memory.used.peak`.
    pub metric: String,
    /// The value; a difference is after minus before.
    pub value: f64,
    /// Unit of `value`.
    pub unit: Unit,
    /// Runs behind it, where stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// Conditions, parameters and workload, where stated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cell: Cell,
}

impl Claim {
    /// The value as it was published, no digit more or less, with its unit.
    pub fn figure(&self) -> String {
        self.unit.after(&self.value.to_string())
    }
}

/// A file of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path within the record, with `/`.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: String,
}
