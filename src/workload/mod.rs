//! Workloads: what runs on a host, between an idle and a settle phase.

pub mod boot;
mod kmod;
pub(crate) mod module;
mod scripts;
pub mod settings;
pub mod stress_ng;

pub(crate) use scripts::scripts;

use std::collections::BTreeSet;
use std::time::Duration;

use shlex::Quoter;

use crate::experiment::{Experiment, Plan, PlannedTrial, Workload, WorkloadKind};

/// How long most processes have to end after a signal, before the next and stronger one.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// How long a workload has to end after INT, and again after TERM, before KILL.
///
/// kmod.sh minds a signal only between two loads of modules, and has to put back what it changed; modules are unloaded
/// one after the other.
pub(crate) fn grace(trial: &PlannedTrial, experiment: &Experiment) -> Duration {
    match loads_modules(trial, experiment) {
        true => 3 * GRACE,
        false => GRACE,
    }
}

/// Whether a trial's workload loads modules.
fn loads_modules(trial: &PlannedTrial, experiment: &Experiment) -> bool {
    match experiment.workload.kind {
        WorkloadKind::Kmod => true,
        WorkloadKind::StressNg => module::is_stressed(&trial.argv),
        WorkloadKind::Command | WorkloadKind::Boot => false,
    }
}

/// Whether a trial's workload and its settings need root.
pub(crate) fn needs_root(trial: &PlannedTrial, experiment: &Experiment) -> bool {
    experiment.workload.kind == WorkloadKind::Boot
        || loads_modules(trial, experiment)
        || !trial.settings.is_empty()
}

/// How long a workload may run before it is ended: its planned duration and half of it again, at least a minute more.
///
/// The host keeps this deadline by itself, so that no workload outlives a broken connection by more.
pub fn deadline(workload: &Workload) -> Duration {
    workload.duration + (workload.duration / 2).max(Duration::from_secs(60))
}

/// How long a trial takes when all goes as planned: idle phase, workload, settle phase.
pub fn planned(experiment: &Experiment) -> Duration {
    experiment.idle + experiment.workload.duration + experiment.settle
}

/// What of the workloads has to be checked on a host before a plan runs there: shell lines that print
/// `broken=WHAT`, and facts by `fact KEY VALUE`. A trial checks the same again; where each begins with a boot, what is
/// true before the first one says nothing, and only the trials check.
pub(crate) fn checks(plan: &Plan) -> String {
    let commands: BTreeSet<&[String]> = plan.trials.iter().map(|t| t.argv.as_slice()).collect();
    let kind = plan.experiment.workload.kind;
    let checks: BTreeSet<String> = match kind {
        WorkloadKind::Kmod => commands.iter().map(|argv| kmod::checks(argv)).collect(),
        WorkloadKind::StressNg => commands
            .iter()
            .filter_map(|argv| module::checks(argv))
            .collect(),
        WorkloadKind::Command | WorkloadKind::Boot => BTreeSet::new(),
    };
    if checks.is_empty() {
        return String::new();
    }
    let fault = match plan.experiment.boot {
        None => "fault() { printf 'broken=%s\\n' \"$1\"; }\n",
        Some(_) => "fault() { :; }\n",
    };
    let facts = match kind {
        WorkloadKind::Kmod => kmod::FACTS,
        _ => "",
    };
    let checks: String = checks.into_iter().collect();
    format!("{}{fault}{checks}{facts}", module::FUNCTIONS)
}

/// The programs that a workload needs on a host, besides a POSIX shell and those of its command line.
pub(crate) fn programs(plan: &Plan) -> &'static [&'static str] {
    let modules = plan.trials.iter().any(|t| module::is_stressed(&t.argv));
    match plan.experiment.workload.kind {
        WorkloadKind::Kmod => &[
            "bash", "kmod", "modprobe", "rmmod", "which", "awk", "sed", "tr",
        ],
        WorkloadKind::StressNg if modules => &["modprobe", "modinfo", "rmmod", "tr"],
        WorkloadKind::StressNg | WorkloadKind::Command | WorkloadKind::Boot => &[],
    }
}

/// The file that the workload leaves in the trial's folder.
pub(crate) fn report(experiment: &Experiment) -> Option<String> {
    let is_stress_ng = experiment.workload.kind == WorkloadKind::StressNg;
    is_stress_ng.then(|| stress_ng::REPORT.to_owned())
}

/// Why a workload that ended with this code has failed by its own words, rather than by the code alone.
pub(crate) fn failure(workload: &Workload, code: i32, output: &str) -> Option<String> {
    match workload.kind {
        WorkloadKind::Kmod => kmod::failure(code, output),
        WorkloadKind::StressNg => stress_ng::failure(output).or_else(|| stress_ng::killed(code)),
        WorkloadKind::Command | WorkloadKind::Boot => None,
    }
}

/// A line of what a workload said, escaped and short enough for a message.
fn shown(line: &str) -> String {
    let said: String = line.chars().take(200).collect();
    said.escape_default().to_string()
}

/// Words as one shell line, each quoted where it needs to be.
pub(crate) fn quote(words: &[String]) -> String {
    // With NUL allowed nothing is left that could fail; a NUL never reaches a host, whose exec refuses it.
    Quoter::new()
        .allow_nul(true)
        .join(words.iter().map(String::as_str))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
