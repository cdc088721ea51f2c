//! Experiments: the YAML file that says what to run, checked and with defaults filled in.

mod boot;
mod check;
mod draft;
pub(crate) mod duration;
mod fits;
mod hosts;
mod keys;
pub mod metrics;
mod order;
mod outline;
mod overrides;
mod plan;
mod samples;
mod settings;
mod sources;
mod template;
mod words;
mod yaml;

pub use boot::{BOOT_TAKES, Boot, Every, PlannedBoot};
pub use keys::key_table;
pub use order::Order;

pub use plan::{OVERHEAD_A_TRIAL, Plan, PlannedTrial, show_p};
pub use settings::Setting;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::error::Result;
use crate::series::Cell;

/// A checked experiment. Made from YAML by [`Experiment::read`] or [`Experiment::parse`].
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name: the file's stem unless the file says another; safe as a file name.
    pub name: String,
    /// What it asks, one sentence.
    pub question: String,
    /// The metric that decides, named before the run; such as `memory.used.peak`.
    pub primary: String,
    /// Further metrics named before the run; when there are any, no others are compared.
    pub secondary: Vec<String>,
    /// What a reader of the results has to know, a sentence each.
    pub notes: Vec<String>,
    /// Names as the user's ssh knows them, or `local`; with `{variable}` places still open.
    pub hosts: Vec<String>,
    /// Conditions in the file's order, each with its variables; the first is the reference.
    pub conditions: Vec<Condition>,
    /// Parameters and their values; their product makes the cells.
    pub params: BTreeMap<String, Vec<String>>,
    /// When and into what hosts are booted; none when they stay as they are.
    pub boot: Option<Boot>,
    /// Files of the kernel that hold a value during each trial, with `{variable}` places still open.
    pub settings: Vec<Setting>,
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

impl Experiment {
    /// Reads an experiment's file. Every key is in docs/experiment.md.
    ///
    /// # Errors
    /// `Input`: the file cannot be read, or something in it is wrong; with line, column and the next step.
    pub fn read(path: impl AsRef<Path>) -> Result<Experiment> {
        let path = path.as_ref();
        Self::parse(&sources::read_file(path)?, path)
    }

    /// Reads an experiment from a text; `file` names it in errors, gives it a name, and is where `extends` looks.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    ///
    /// ```
    /// use ktrial::experiment::Experiment;
    /// let text = "
    /// question: Do four workers take more memory than one?
    /// primary: memory.used.peak
    /// hosts: [local]
    /// conditions: {one: {workers: 1}, four: {workers: 4}}
    /// workload: {stress-ng: [--vm, '{workers}'], duration: 3s}
    /// monitors: {meminfo: {every: 100ms}}
    /// design: {trials: 4}
    /// ";
    /// let plan = Experiment::parse(text, "workers.yaml").unwrap().plan().unwrap();
    /// assert_eq!(plan.trials.len(), 8);
    /// assert_eq!(plan.trials[7].argv, ["stress-ng", "--vm", "1"]);
    /// ```
    pub fn parse(text: &str, file: impl AsRef<Path>) -> Result<Experiment> {
        let file = file.as_ref();
        let (draft, sources) = sources::Sources::read(text, file)?;
        check::check(draft, &sources, file)
    }

    /// The experiment as one YAML text with every default written out; [`Experiment::parse`] gives it back.
    pub fn to_yaml(&self) -> String {
        yaml::write(self)
    }

    /// The trials in order.
    ///
    /// # Errors
    /// `Input`: an argument's `{variable}` has no value, or there are more than 10000 trials.
    /// An experiment that was read has neither.
    pub fn plan(&self) -> Result<Plan> {
        plan::plan(self)
    }

    /// Every combination of the parameters' values, the last parameter changing fastest;
    /// one empty cell when there are none.
    pub fn cells(&self) -> Vec<Cell> {
        self.params
            .iter()
            .fold(vec![Cell::new()], |cells, (name, values)| {
                cells
                    .iter()
                    .flat_map(|cell| {
                        values.iter().map(move |value| {
                            let mut cell = cell.clone();
                            cell.insert(name.clone(), value.clone());
                            cell
                        })
                    })
                    .collect()
            })
    }
}

impl Experiment {
    /// Every text in which `{variable}` has a meaning, with its path of keys.
    fn templates(&self) -> Vec<(Vec<String>, &str)> {
        let at = |path: &[&str], index: usize| {
            let index = index.to_string();
            let path = path.iter().copied().chain([index.as_str()]);
            path.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut all = Vec::new();
        let path = fits::workload_path(self.workload.kind);
        for (index, argument) in self.workload.arguments.iter().enumerate() {
            all.push((at(&path, index), argument.as_str()));
        }
        for (index, host) in self.hosts.iter().enumerate() {
            all.push((at(&["hosts"], index), host));
        }
        for setting in &self.settings {
            let path = ["settings".to_owned(), setting.file.clone()];
            all.push((path.to_vec(), &setting.value));
        }
        if let Some(boot) = &self.boot {
            for (index, word) in boot.command_line.iter().enumerate() {
                all.push((at(&["boot", "command_line"], index), word));
            }
            if let Some(kernel) = &boot.kernel {
                all.push((vec!["boot".into(), "kernel".into()], kernel));
            }
        }
        all
    }
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
    /// Program and arguments; for `stress-ng` and `kmod` their arguments only, for `boot` the units that are watched.
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
    /// The kernel's own test of its module loader, `tools/testing/selftests/kmod/kmod.sh`.
    Kmod,
    /// The boot itself, as systemd-analyze(1) tells of it afterwards.
    Boot,
}

impl WorkloadKind {
    /// Every one, in the order of the key table.
    pub const ALL: [WorkloadKind; 4] = [
        WorkloadKind::StressNg,
        WorkloadKind::Kmod,
        WorkloadKind::Boot,
        WorkloadKind::Command,
    ];

    /// The key below `workload`.
    pub fn word(self) -> &'static str {
        match self {
            WorkloadKind::Command => "command",
            WorkloadKind::StressNg => "stress-ng",
            WorkloadKind::Kmod => "kmod",
            WorkloadKind::Boot => "boot",
        }
    }
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
    /// `/proc/vmstat`, whole.
    Vmstat,
    /// The literal pipeline `free -k -s 1 | grep Mem | awk '{print $3}'`.
    Free,
}

impl MonitorKind {
    /// Every one, in the order in which they are shown.
    pub const ALL: [MonitorKind; 3] =
        [MonitorKind::Meminfo, MonitorKind::Vmstat, MonitorKind::Free];

    /// The name, as in the experiment's file and in the record.
    pub fn name(self) -> &'static str {
        match self {
            MonitorKind::Meminfo => "meminfo",
            MonitorKind::Vmstat => "vmstat",
            MonitorKind::Free => "free",
        }
    }
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
