//! Workloads: what runs on a host, between an idle and a settle phase.

pub mod boot;
mod kmod;
mod mark;
pub(crate) mod module;
mod scripts;
pub mod settings;
pub mod stress_ng;

pub(crate) use mark::{Mark, Marks, Token};
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

/// Shell lines that set `modules_to_unload`: what the trial loads and is not loaded yet, and maybe its own module that
/// is; they load nothing. None for a trial that loads none.
pub(crate) fn modules(trial: &PlannedTrial, experiment: &Experiment) -> Option<String> {
    match experiment.workload.kind {
        WorkloadKind::Kmod => Some(kmod::names(&trial.argv)),
        WorkloadKind::StressNg => module::names(&trial.argv),
        WorkloadKind::Command | WorkloadKind::Boot => None,
    }
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

/// The script that runs a trial's phases, as it runs on the host but for one word: the marks of a trial hold a random
/// word that its workload is not told, and here `TOKEN` stands for it.
///
/// It runs in a process group of its own; INT or TERM to the group ends the phase under way and the script with it.
/// The workload has `KTRIAL_GROUP=[GROUP]` in its environment, by which processes are known that leave the group.
/// On standard output it tells the phases with the host's CLOCK_BOOTTIME (`/proc/uptime`), between what the workload
/// writes. A watchdog in the same group ends the workload at its [`deadline`].
///
/// For `stress-ng` it adds `--timeout`, `--metrics-brief` and `--yaml` with a temporary file. For `boot` there are no
/// phases: it is what systemd-analyze(1) is asked after the boot, each line by itself.
pub fn script(trial: &PlannedTrial, experiment: &Experiment) -> String {
    if experiment.workload.kind == WorkloadKind::Boot {
        return boot::questions();
    }
    marked_script(trial, experiment, &Token::placeholder())
}

/// [`script`] exactly as it runs on the host, with the trial's own token.
pub(crate) fn marked_script(
    trial: &PlannedTrial,
    experiment: &Experiment,
    token: &Token,
) -> String {
    let workload = &experiment.workload;
    let (around, command) = match workload.kind {
        WorkloadKind::Command | WorkloadKind::Boot => (Around::default(), quote(&trial.argv)),
        WorkloadKind::Kmod => (kmod::around(&trial.argv), kmod::command(&trial.argv)),
        WorkloadKind::StressNg => (
            module::around(&trial.argv).and_prepare(stress_ng::PREPARE),
            format!(
                "{} {}",
                quote(&trial.argv),
                stress_ng::options(workload.duration)
            ),
        ),
    };
    let around = [settings::around(&settings::of(trial, experiment)), around];
    let limit = experiment.idle + deadline(workload);
    let times = Times {
        idle: experiment.idle,
        settle: experiment.settle,
        limit,
        grace: grace(trial, experiment),
    };
    phases(&around, &command, times, token)
}

/// How long the parts of a script take.
struct Times {
    idle: Duration,
    settle: Duration,
    /// When the watchdog ends the workload.
    limit: Duration,
    /// What passes between its signals.
    grace: Duration,
}

/// The script that runs a command in its phases, with what is done around them.
fn phases(around: &[Around], command: &str, times: Times, token: &Token) -> String {
    let prepare: String = around.iter().map(|a| a.prepare.as_str()).collect();
    let restore: String = around.iter().rev().map(|a| a.restore.as_str()).collect();
    let [idle, settle, limit, grace] =
        [times.idle, times.settle, times.limit, times.grace].map(|t| t.as_secs_f64());
    let variable = variable("$$");
    let (mark, token) = (mark::WORD, token.word());
    format!(
        r#"# the workload with its idle and settle phases
# The watchdog; begun before the trap, which a child has until it is under way, so that TERM always ends it.
# It kills the workload first: this shell has to restore.
{{
  sleep {limit}; kill -s INT 0
  sleep {grace}; trap '' TERM; kill -s TERM 0; trap - TERM
  sleep {grace}
  for file in $(grep -lsF "{variable}" /proc/[0-9]*/environ); do
    file=${{file#/proc/}}; kill -s KILL "${{file%/environ}}"
  done
  sleep {grace}; kill -s KILL 0
}} </dev/null >/dev/null 2>&1 &
mark() {{ read -r up rest </proc/uptime; printf '\n{mark} {token} %s %s %s\n' "$1" "$up" "$2"; }}
restore() {{
trap '' INT TERM HUP PIPE
{restore}}}
leave() {{ kill -s TERM 0; restore; exit "$1"; }}
ended= code=
# A connection that is gone must not end the script before it has restored.
trap 'ended=yes' INT TERM HUP PIPE
{prepare}# Whoever is told to end meanwhile need not idle first.
[ -z "$ended" ] || leave 130
mark idle
sleep {idle}
[ -z "$ended" ] || leave 130
mark start
{variable} {command} </dev/null
code=$?
mark end "$code"
stopped=$ended
# What the workload left behind, and the watchdog; the trap keeps this shell.
kill -s TERM 0
if [ -z "$stopped" ]; then
  sleep {settle}
  mark settled
fi
restore
exit "$code"
"#
    )
}

/// What a trial does on its host around its phases: shell lines before the idle phase and after the settle phase.
#[derive(Debug, Default)]
struct Around {
    /// Ends the script by `leave CODE` when the trial cannot be, with the reason on standard error.
    prepare: String,
    /// Runs however the script ends, even when `prepare` did not come to its end; in reverse order of several.
    restore: String,
}

impl Around {
    fn and_prepare(mut self, lines: &str) -> Around {
        self.prepare.push_str(lines);
        self
    }
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
        WorkloadKind::StressNg if modules => {
            &["mktemp", "head", "modprobe", "modinfo", "rmmod", "tr"]
        }
        WorkloadKind::StressNg => &["mktemp", "head"],
        WorkloadKind::Command | WorkloadKind::Boot => &[],
    }
}

/// Why a workload that ended with this code has failed by its own words, rather than by the code alone.
pub(crate) fn failure(workload: &Workload, code: i32, output: &str) -> Option<String> {
    match workload.kind {
        WorkloadKind::Kmod => kmod::failure(code, output),
        WorkloadKind::StressNg => stress_ng::failure(output).or_else(|| stress_ng::killed(code)),
        WorkloadKind::Command | WorkloadKind::Boot => None,
    }
}

/// What stands in the environment of everything that the workload of this process group started.
pub(crate) fn group_variable(group: i32) -> String {
    variable(&group.to_string())
}

/// The brackets keep group 12 from being found in group 123. No shell takes them for a pattern in an assignment.
fn variable(group: &str) -> String {
    format!("KTRIAL_GROUP=[{group}]")
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
