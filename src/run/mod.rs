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
mod by_host;
mod cancel;
mod clock;
mod events;
mod fetch;
mod folder;
mod frames;
mod hook;
#[cfg(test)]
mod hosts_tests;
mod identity;
mod ledger;
mod link;
mod plan_file;
mod preflight;
mod program;
mod progress;
mod reach;
mod received;
mod resume;
#[cfg(test)]
mod resume_tests;
mod root;
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
pub use by_host::summary;
pub use cancel::Cancel;
pub use folder::trial_scripts;
pub use hook::Hook;
pub use preflight::script as preflight_script;
pub use program::{agent_script, place_script, send_script};
pub use progress::{Progress, Silent, Update};
pub use resume::{is_done, resume};

pub(crate) use clock::Clock;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, PlannedBoot};
use crate::host::{Host, Password};
use crate::record::{HostFacts, Record, State};
use crate::supervisor::Kind;

use clock::SystemClock;
use fetch::Unusable;
use ledger::Ledger;
use reach::Reached;
use root::Roots;
use sequence::Shared;

/// How a host is reached by its name; used again when a connection breaks.
pub type Connect<'a> = dyn Fn(&str) -> Result<Box<dyn Host>> + Sync + 'a;

/// How a host is started anew by something that is not on it, with the kernel and words that the boot asks for:
/// a boot loader's tool, a hypervisor, a power switch. It may return before the host is up.
pub type Restart<'a> = dyn Fn(&str, &PlannedBoot, &Cancel) -> Result<()> + Sync + 'a;

/// How long a host may be out of reach during a trial, unless [`Ways::patience`] says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// How the user is asked for the password of the login on a host, for sudo there.
pub type Ask<'a> = dyn Fn(&str) -> Result<Password> + Sync + 'a;

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
    /// Asked before the first trial, at most once a run, when the plan needs root and a host has no other way to it; the
    /// answer serves every host that asks. Without it such a host is not ready.
    pub password: Option<&'a Ask<'a>>,
    /// So many hosts are used at once, and the others wait their turn; without it all are.
    pub max_hosts: Option<NonZeroUsize>,
    /// Whether hosts that are not ready are left out: their trials are not run, and [`resume`] runs them later.
    /// Without it nothing is run then.
    pub go_without: bool,
}

impl<'a> Ways<'a> {
    /// To hosts that nothing starts anew from outside, all at once, when each of them is ready; no password is asked for.
    pub fn new(connect: &'a Connect<'a>) -> Ways<'a> {
        Ways {
            connect,
            restart: None,
            supervisor: None,
            patience: PATIENCE,
            lease: None,
            password: None,
            max_hosts: None,
            go_without: false,
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
/// something (all of them, with [`Ways::go_without`]); the message names every problem of every host. `Io` or `Record` when the record cannot be written.
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
    with_root(plan, ways, |ways, ask_no_more| {
        let open = |facts| {
            ask_no_more();
            begin(facts)
        };
        carry_out(clock, plan, open, Unusable::new(), ways, cancel, progress)
    })
}

/// Gives the ways by which a plan's hosts are reached: the one place where a host becomes root's. The function ends
/// the time in which the user may be asked for a password.
fn with_root<T>(
    plan: &Plan,
    ways: &Ways<'_>,
    work: impl FnOnce(&Ways<'_>, &dyn Fn()) -> Result<T>,
) -> Result<T> {
    let roots = Roots::new(ways);
    let connect = |name: &str| match plan.needs_root() {
        true => roots.connect(name),
        false => (ways.connect)(name),
    };
    let ways = Ways {
        connect: &connect,
        ..*ways
    };
    work(&ways, &|| roots.ask_no_more())
}

/// Carries a plan out on its hosts; `open` opens the record once they are ready. On those that are `unusable` a trial
/// runs only after a boot.
fn carry_out(
    clock: &dyn Clock,
    plan: &Plan,
    open: impl FnOnce(Vec<HostFacts>) -> Result<Ledger>,
    mut unusable: Unusable,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<Record> {
    boot::check(plan, ways)?;
    let Reached {
        hosts,
        facts,
        left_out,
    } = reach::reach(plan, ways)?;
    let boot_ids: Vec<Option<String>> = facts
        .iter()
        .map(|host| host.facts.get("boot_id").cloned())
        .collect();
    let ledger = open(facts)?;
    progress.update(Update::RunStarted {
        record: ledger.dir(),
        trials: plan.trials.len(),
        hosts: &trials_by_host(plan),
    });
    for host in &left_out {
        host.tell(plan, &ledger, progress)?;
    }
    let shared = Shared {
        plan,
        ledger: &ledger,
        ways,
        clock,
        cancel,
        progress,
    };
    let hosts = hosts.into_iter().zip(boot_ids).map(|(host, boot_id)| {
        let unusable = unusable.remove(host.name());
        (host, boot_id, unusable)
    });
    let results = beside(
        hosts.collect(),
        ways.max_hosts,
        |(host, boot_id, unusable)| {
            sequence::run(host, boot_id, unusable, &shared).inspect_err(|_| {
                // Without a record no trial is worth its time: the other hosts end theirs.
                cancel.cancel();
            })
        },
    );
    let written = results.into_iter().collect::<Result<()>>();
    let record = ledger.dir().to_owned();
    written
        .and_then(|()| ledger.finish(cancel.is_cancelled()))
        .map_err(|error| unfinished(error, record))
}

/// The plan's hosts, each with the ids of its trials in order.
fn trials_by_host(plan: &Plan) -> BTreeMap<&str, Vec<&str>> {
    let mut hosts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for trial in &plan.trials {
        hosts.entry(&trial.host).or_default().push(&trial.id);
    }
    hosts
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

/// Does something for each item, each in a thread of its own, at most so many at once and in their order; results in
/// the items' order.
fn beside<T: Send, R: Send>(
    items: Vec<T>,
    at_once: Option<NonZeroUsize>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = at_once.map_or(items.len(), |n| n.get().min(items.len()));
    let queue = Mutex::new(items.into_iter().enumerate());
    let work = &work;
    let take = &|| {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.next()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let next = || take().map(|(place, item)| (place, work(item)));
                scope.spawn(move || std::iter::from_fn(next).collect::<Vec<_>>())
            })
            .collect();
        let ended = threads.into_iter().flat_map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ended.collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
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
    let message = format!(
        "the run is {}; of {} trials: {}",
        manifest.state.word(),
        manifest.trials.len(),
        by_host::counts(manifest.trials.iter()).join(", ")
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
