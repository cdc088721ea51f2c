//! Runs a plan on hosts and writes the record.
//!
//! Every host has a thread and runs its trials one after the other; hosts run beside each other. A trial is its
//! host's own: what supervises it there goes on whatever becomes of the connection, and `watch.rs` follows it.

mod again;
mod attempt;
mod boot;
mod boot_over;
#[cfg(test)]
mod boot_tests;
mod boot_times;
mod cancel;
mod clock;
mod events;
mod fetch;
mod folder;
mod frames;
mod hook;
mod identity;
mod ledger;
mod link;
mod plan_file;
mod preflight;
mod program;
mod progress;
mod received;
mod resume;
#[cfg(test)]
mod resume_tests;
mod said;
mod sample_times;
mod sequence;
#[cfg(test)]
mod story;
#[cfg(test)]
mod tests;
mod timeline;
mod trial;
mod watch;

pub use crate::host::ROOT_CHECK;
pub use cancel::Cancel;
pub use hook::Hook;
pub use preflight::script as preflight_script;
pub use program::{agent_script, place_script};
pub use progress::{Progress, Silent, Update};
pub use resume::resume;

pub(crate) use clock::Clock;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, PlannedBoot};
use crate::host::{Host, as_root};
use crate::record::{HostFacts, Record, State};
use crate::supervisor::Kind;

use clock::SystemClock;
use ledger::Ledger;
use sequence::Shared;

/// How a host is reached by its name; used again when a connection breaks.
pub type Connect<'a> = dyn Fn(&str) -> Result<Box<dyn Host>> + Sync + 'a;

/// How a host is started anew by something that is not on it, with the kernel and words that the boot asks for:
/// a boot loader's tool, a hypervisor, a power switch. It may return before the host is up.
pub type Restart<'a> = dyn Fn(&str, &PlannedBoot, &Cancel) -> Result<()> + Sync + 'a;

/// How long a host may be out of reach during a trial, unless [`Ways::patience`] says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The ways to hosts, and how trials are looked after there.
#[derive(Clone, Copy)]
pub struct Ways<'a> {
    /// How a host is reached.
    pub connect: &'a Connect<'a>,
    /// How a host is started anew; without it a host reboots itself, into a kernel of its own choice.
    pub restart: Option<&'a Restart<'a>>,
    /// What takes trials through their phases on a host; the agent where it can run, and else the shell, when none is
    /// chosen.
    pub supervisor: Option<Kind>,
    /// How long a host may be out of reach during a trial before its other trials are given up.
    pub patience: Duration,
    /// How long a trial goes on while nobody watches it; its planned time and ten minutes when none is given.
    pub lease: Option<Duration>,
}

impl<'a> Ways<'a> {
    /// To hosts that nothing starts anew from outside.
    pub fn new(connect: &'a Connect<'a>) -> Ways<'a> {
        Ways {
            connect,
            restart: None,
            supervisor: None,
            patience: PATIENCE,
            lease: None,
        }
    }

    /// Reaches a host: the one place where hosts are connected.
    fn to(&self, name: &str) -> Result<Box<dyn Host>> {
        (self.connect)(name)
    }
}

/// Where a run's record goes.
#[derive(Debug, Clone)]
pub struct Destination {
    /// The folder in which the record's own folder is made, such as `data/runs`.
    pub folder: PathBuf,
    /// The experiment's file as the user wrote it, copied into the record as `experiment.yaml`.
    /// Without it, or when it draws on other files, `experiment-full.yaml` has every setting.
    pub experiment: Option<Vec<u8>>,
}

/// Runs a plan: preflight of every host, then its trials. Returns the record, whatever became of the trials;
/// [`check`] tells whether all went well.
///
/// The record is `<folder>/<UTC time>-<name>`, with `experiment.yaml` as given, `experiment-full.yaml` with every default,
/// `plan.yaml` with every script, and the trials' raw files.
///
/// # Errors
/// Before anything has run and without a record: `Usage` when the plan boots hosts in a way that is not there (see
/// [`Ways::restart`]) or would boot this machine; `HostTransient` or `HostStable` when hosts cannot be reached or lack
/// something; the message names every problem of every host. `Io` or `Record` when the record cannot be written.
pub fn run(
    plan: &Plan,
    to: &Destination,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<Record> {
    run_by(&SystemClock::new(), plan, to, ways, cancel, progress)
}

fn run_by(
    clock: &dyn Clock,
    plan: &Plan,
    to: &Destination,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<Record> {
    let begin = |facts| {
        let ledger = Ledger::begin(&to.folder, plan, facts)?;
        if let Some(text) = &to.experiment {
            ledger.write("experiment.yaml", text)?;
        }
        ledger.write("experiment-full.yaml", plan.experiment.to_yaml().as_bytes())?;
        ledger.write("plan.yaml", &plan_file::content(plan)?)?;
        Ok(ledger)
    };
    with_root(plan, ways, |ways| {
        carry_out(clock, plan, begin, ways, cancel, progress)
    })
}

/// Gives the ways by which a plan's hosts are reached: the one place where a host becomes root's.
fn with_root<T>(plan: &Plan, ways: &Ways<'_>, work: impl FnOnce(&Ways<'_>) -> Result<T>) -> Result<T> {
    let connect = |name: &str| {
        let host = (ways.connect)(name)?;
        match plan.needs_root() {
            true => as_root(host),
            false => Ok(host),
        }
    };
    work(&Ways {
        connect: &connect,
        ..*ways
    })
}

/// Carries a plan out on its hosts; `open` opens the record once they are ready.
fn carry_out(
    clock: &dyn Clock,
    plan: &Plan,
    open: impl FnOnce(Vec<HostFacts>) -> Result<Ledger>,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<Record> {
    boot::check(plan, ways)?;
    let (hosts, facts) = reach(plan, ways)?;
    let boot_ids: Vec<Option<String>> = facts
        .iter()
        .map(|host| host.facts.get("boot_id").cloned())
        .collect();
    let ledger = open(facts)?;
    progress.update(Update::RunStarted {
        record: ledger.dir(),
        trials: plan.trials.len(),
    });
    let shared = Shared {
        plan,
        ledger: &ledger,
        ways,
        clock,
        cancel,
        progress,
    };
    let hosts = hosts.into_iter().zip(boot_ids).collect();
    let results = beside(hosts, |(host, boot_id)| {
        sequence::run(host, boot_id, &shared).inspect_err(|_| {
            // Without a record no trial is worth its time: the other hosts end theirs.
            cancel.cancel();
        })
    });
    let written = results.into_iter().collect::<Result<()>>();
    let record = ledger.dir().to_owned();
    written
        .and_then(|()| ledger.finish(cancel.is_cancelled()))
        .map_err(|error| unfinished(error, record))
}

/// The error of a record that cannot be written to its end: a full disk, most often.
fn unfinished(error: Error, record: PathBuf) -> Error {
    Error::new(error.kind(), "the record could not be written to its end")
        .at(record)
        .because(error)
        .next(
            "what was received until then is kept there, with the manifest of the last phase that could be written; \
             make room on the disk, then `ktrial resume` runs what is not complete",
        )
}

/// Hosts that are ready, and their facts, in the same order.
type Ready = (Vec<Box<dyn Host>>, Vec<HostFacts>);

/// Connects to every host of the plan and runs the preflight there.
fn reach(plan: &Plan, ways: &Ways<'_>) -> Result<Ready> {
    let names: BTreeSet<&str> = plan.trials.iter().map(|t| t.host.as_str()).collect();
    let reached = beside(names.into_iter().collect(), |name: &str| {
        let found = ways.to(name).and_then(|host| {
            let findings = preflight::run(host.as_ref(), plan)?;
            Ok((host, findings))
        });
        (name, found)
    });
    let (mut hosts, mut facts, mut problems) = (Vec::new(), Vec::new(), Problems::default());
    for (name, found) in reached {
        match found {
            Ok((host, findings)) => {
                for problem in &findings.problems {
                    problems.add(ErrorKind::HostStable, format!("{name}: {problem}"));
                }
                facts.push(preflight::facts(name, &findings));
                hosts.push(host);
            }
            Err(error) => problems.add_of(name, &error),
        }
    }
    for line in one_machine(&facts) {
        problems.add(ErrorKind::HostStable, line);
    }
    problems.none().map(|()| (hosts, facts))
}

/// Names of hosts that are one machine: their trials would run at the same time, and change each other's settings.
fn one_machine(facts: &[HostFacts]) -> Vec<String> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let twice = facts.iter().filter_map(|host| {
        let boot_id = host.facts.get("boot_id")?;
        let other = *first.entry(boot_id).or_insert(&host.name);
        (other != host.name).then(|| {
            format!(
                "{}: is the same machine as {other} (boot_id {boot_id}): name it once",
                host.name
            )
        })
    });
    twice.collect()
}

/// What is wrong with the hosts, all at once.
#[derive(Default)]
struct Problems {
    kind: Option<ErrorKind>,
    lines: Vec<String>,
}

impl Problems {
    /// A problem that another try does not solve decides the kind of the whole.
    fn add(&mut self, kind: ErrorKind, line: String) {
        if self.kind.is_none_or(|k| k == ErrorKind::HostTransient) {
            self.kind = Some(kind);
        }
        self.lines.push(line);
    }

    fn add_of(&mut self, host: &str, error: &Error) {
        let line = error.report().replacen("error: ", "", 1);
        // Errors of a connection name their host already.
        let line = match line.strip_prefix(&format!("{host}: ")) {
            Some(_) => line,
            None => format!("{host}: {line}"),
        };
        self.add(error.kind(), line);
    }

    fn none(self) -> Result<()> {
        let Some(kind) = self.kind else {
            return Ok(());
        };
        let error = Error::new(kind, "not ready, nothing was run:");
        let lines = self.lines.iter().flat_map(|line| line.lines());
        Err(lines
            .fold(error, Error::detail)
            .next("put this right and run again"))
    }
}

/// Does something for each item, each in a thread of its own; results in the items' order.
fn beside<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = items
            .into_iter()
            .map(|item| scope.spawn(|| work(item)))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}

/// Whether every trial of a run is complete.
///
/// # Errors
/// `Interrupted` or `Workload`, with where the record is, how many trials became what, and each one's reason.
/// [`resume`] runs what is not complete.
pub fn check(record: &Record) -> Result<()> {
    let manifest = record.manifest();
    if manifest.state == State::Complete {
        return Ok(());
    }
    let mut counts = Vec::new();
    for state in [
        State::Complete,
        State::Failed,
        State::Interrupted,
        State::NotRun,
        State::Running,
    ] {
        match manifest.trials.iter().filter(|t| t.state == state).count() {
            0 => {}
            n => counts.push(format!("{n} {}", state.word())),
        }
    }
    let message = format!(
        "the run is {}; of {} trials: {}",
        manifest.state.word(),
        manifest.trials.len(),
        counts.join(", ")
    );
    let kind = match manifest.state {
        State::Interrupted => ErrorKind::Interrupted,
        _ => ErrorKind::Workload,
    };
    let mut error = Error::new(kind, message).at(record.dir());
    for trial in &manifest.trials {
        if trial.state != State::Complete {
            let reason = trial.reason.as_deref().unwrap_or("no reason recorded");
            let state = trial.state.word();
            error = error.detail(format!("{} {state}: {reason}", trial.id));
        }
    }
    Err(error)
}
