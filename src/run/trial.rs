//! One trial: its host runs it, this process watches and says what became of it.

use ktrial_agent::{Ended, Spec};

use crate::error::Result;
use crate::experiment::{Experiment, PlannedTrial, WorkloadKind};
use crate::record::State;
use crate::supervisor;
use crate::workload;

use super::folder::{Folder, forget_script};
use super::identity::Identity;
use super::ledger::Slot;
use super::link::Link;
use super::program;
use super::said;
use super::watch::{SHORT, Stop, Watch};

const REBOOTED: &str = "the host rebooted during the trial";

/// What a trial runs with.
pub(super) struct Setting<'a> {
    pub(super) planned: &'a PlannedTrial,
    pub(super) experiment: &'a Experiment,
    pub(super) slot: Slot<'a>,
    /// The boot that the trial has to run in, where the experiment boots its hosts.
    pub(super) boot_id: Option<&'a str>,
}

impl Setting<'_> {
    /// The end of a trial that would run in another boot than the experiment's: a host that rebooted by itself may
    /// run another kernel.
    pub(super) fn other_boot(&self, boot_id: Option<&str>) -> Option<Ending> {
        let other = self.boot_id.is_some() && self.boot_id != boot_id;
        other.then_some(Ending::Rebooted)
    }
}

/// How a trial ended.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    Complete,
    Failed(String),
    Interrupted,
    /// Ended by the user, and the host does not know.
    Lost(String),
    /// The host runs another boot than the experiment's.
    Rebooted,
}

impl Ending {
    /// As the manifest says it.
    pub(super) fn words(self) -> (State, Option<String>) {
        match self {
            Ending::Complete => (State::Complete, None),
            Ending::Failed(reason) => (State::Failed, Some(reason)),
            Ending::Interrupted => (State::Interrupted, Some("ended by the user".to_owned())),
            Ending::Lost(reason) => (State::Interrupted, Some(reason)),
            Ending::Rebooted => (
                State::Failed,
                Some("the host rebooted by itself since the experiment booted it".to_owned()),
            ),
        }
    }
}

/// How a trial ended, and what that means for its host.
pub(super) struct Outcome {
    pub(super) ending: Ending,
    /// Why nothing can be measured on the host before a boot.
    pub(super) unusable: Option<String>,
}

/// Runs one trial. What came from the host until then is in the record, however it ends.
///
/// # Errors
/// `HostTransient` or `HostStable` when the host is out of reach: the trial goes on there, and the record says where.
/// Others when the record cannot be written: the same.
pub(super) fn execute(setting: &Setting<'_>, link: &mut Link<'_>) -> Result<Outcome> {
    let Setting {
        planned,
        experiment,
        slot,
        ..
    } = *setting;
    let identity = link.again(Identity::read)?;
    if let Some(ending) = setting.other_boot(identity.boot_id.as_deref()) {
        return Ok(ending.into());
    }
    slot.update(|trial| {
        trial.boot_id = identity.boot_id;
        trial.kernel = identity.kernel;
    })?;
    let ways = link.shared.ways;
    let ready = link.again(|host| program::ready(host, ways.supervisor))?;
    let folder = Folder::new(&ready)?;
    let lease = ways.lease;
    let spec = supervisor::spec(planned, experiment, ready.kind, lease);
    slot.note(
        ready
            .note
            .into_iter()
            .chain(slower(experiment, &spec))
            .collect(),
    )?;
    slot.update(|trial| trial.on_host = Some(folder.on_host()))?;
    let mut watch = Watch::new(planned, experiment, link, slot, folder)?;
    match start(&mut watch, &spec)? {
        Some(refused) => Ok(Outcome {
            unusable: Some(refused.clone()),
            ending: Ending::Failed(refused),
        }),
        None => {
            let mut outcome = conclude(&mut watch)?;
            if watch.is_lost {
                // It may run on, and what it changed may still be so.
                let id = &planned.id;
                let why = format!("what became of trial {id} on the host is not known");
                outcome.unusable.get_or_insert(why);
            }
            Ok(outcome)
        }
    }
}

/// What a reader has to know of monitors that sample less often than the experiment asks for.
fn slower(experiment: &Experiment, spec: &Spec) -> Vec<String> {
    let monitors = experiment.monitors.iter().zip(&spec.monitors);
    monitors
        .filter(|(asked, told)| asked.period.as_micros() < u128::from(told.period_us))
        .map(|(asked, told)| {
            format!(
                "monitor {}: a sample every {} s, as the shell supervises, not every {} s",
                told.name,
                told.period_us as f64 / 1e6,
                asked.period.as_secs_f64()
            )
        })
        .collect()
}

/// Starts the trial on the host; gives the reason when that refuses.
fn start(watch: &mut Watch<'_, '_, '_>, spec: &Spec) -> Result<Option<String>> {
    let folder = &watch.folder;
    let output = watch.link.again(|host| folder.start(host, spec))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if text.lines().any(|line| line.starts_with("started ")) {
        return Ok(None);
    }
    let refused = text.lines().find_map(|line| line.strip_prefix("refused "));
    let why = match refused {
        Some(why) => said::escaped(why, 2 * said::MESSAGE),
        None => said::last_line(&output.stderr).unwrap_or_else(|| "it said nothing".to_owned()),
    };
    Ok(Some(format!("the host did not start the trial: {why}")))
}

/// Watches a trial to its end, and says what became of it. Everything is in the record and on the disk then; the
/// host keeps it until [`forget`].
///
/// # Errors
/// As [`execute`].
pub(super) fn conclude(watch: &mut Watch<'_, '_, '_>) -> Result<Outcome> {
    let mut lost = watch.finish()?;
    let mut damaged = watch.received.damaged();
    if (lost.is_some() || damaged.is_some()) && is_of_another_boot(watch)? {
        // A host that lost its power has lost what it had not written to its disk, too.
        watch
            .events
            .ended
            .get_or_insert((Ended::Rebooted, String::new()));
    } else if lost.is_none() && damaged.is_some() {
        // The host has it whole.
        watch.anew()?;
        lost = watch.finish()?;
        damaged = watch.received.damaged();
    }
    watch.is_lost = lost.is_some();
    let damaged = damaged.map(|what| format!("its files did not come whole: {what}"));
    let mut notes = std::mem::take(&mut watch.events.notes);
    notes.extend(watch.notes());
    let ending = match (lost.or(damaged), watch.ended()) {
        (Some(why), Some((Ended::Rebooted, _))) => {
            notes.push(format!("after the reboot of the host: {why}"));
            Ending::Failed(REBOOTED.to_owned())
        }
        (Some(why), _) => Ending::Failed(why),
        (None, _) => ending(watch, &mut notes),
    };
    watch.slot.note(notes)?;
    let id = &watch.planned.id;
    let left = watch.events.left.take();
    Ok(Outcome {
        unusable: left.map(|left| format!("{left} after trial {id}")),
        ending,
    })
}

/// Whether the host runs another boot than when the trial began.
///
/// # Errors
/// As [`execute`].
fn is_of_another_boot(watch: &mut Watch<'_, '_, '_>) -> Result<bool> {
    let now = watch.link.again(Identity::read)?.boot_id;
    let then = watch.slot.boot_id();
    Ok(now.is_some() && then.is_some() && now != then)
}

/// Removes a trial that its host has no more to say of.
///
/// # Errors
/// When the record cannot be written. A host that is out of reach keeps it.
pub(super) fn forget(slot: Slot<'_>, link: &mut Link<'_>) -> Result<()> {
    let Some(on_host) = slot.on_host() else {
        return Ok(());
    };
    let forgotten = link.again(|host| {
        let base = program::base(host)?;
        match forget_script(&base, &on_host) {
            Some(script) => Ok(host.exec(&script, SHORT)?.exit.ok()),
            None => Ok(true),
        }
    });
    match forgotten {
        Ok(true) => slot.update(|trial| trial.on_host = None),
        // A resumed run asks again.
        Ok(false) | Err(_) => Ok(()),
    }
}

/// What became of a trial whose host told all of it.
fn ending(watch: &Watch<'_, '_, '_>, notes: &mut Vec<String>) -> Ending {
    let Some((ended, why)) = watch.ended() else {
        return Ending::Failed("the host does not say how the trial ended".to_owned());
    };
    let experiment = watch.experiment;
    match ended {
        Ended::Complete => by_the_workload(watch, notes),
        Ended::Stopped if watch.stopped() == Some(Stop::User) => Ending::Interrupted,
        Ended::Stopped if watch.stopped() == Some(Stop::Overdue) => {
            Ending::Failed("the host did not end the trial in time".to_owned())
        }
        Ended::Stopped => Ending::Failed(
            "the trial was ended early, by a signal or a ktrial that is not this one".to_owned(),
        ),
        Ended::Limit => Ending::Failed(format!(
            "the workload was ended at its deadline of {} s",
            workload::deadline(&experiment.workload).as_secs()
        )),
        Ended::Lease => Ending::Failed(
            "the host ended the trial, as nobody watched it for too long".to_owned(),
        ),
        Ended::Failed => Ending::Failed(why.to_owned()),
        Ended::Died => Ending::Failed(
            "what supervised the trial on the host was killed; what it had left was ended and put back"
                .to_owned(),
        ),
        Ended::Rebooted => Ending::Failed(REBOOTED.to_owned()),
    }
}

/// What the workload's code, output and report say.
fn by_the_workload(watch: &Watch<'_, '_, '_>, notes: &mut Vec<String>) -> Ending {
    let received = &watch.received;
    let said = || match received.last_line("workload.stderr") {
        Some(line) => format!("; it said: {line}"),
        None => String::new(),
    };
    let Some(code) = watch.events.timeline.code else {
        return Ending::Failed(format!("the workload did not run{}", said()));
    };
    let workload = &watch.experiment.workload;
    let output = [
        received.tail("workload.stderr"),
        received.tail("workload.stdout"),
    ]
    .concat();
    if let Some(reason) = workload::failure(workload, code, &String::from_utf8_lossy(&output)) {
        return Ending::Failed(reason);
    }
    if code != 0 {
        return Ending::Failed(format!(
            "the workload ended with exit code {code}{}",
            said()
        ));
    }
    if workload.kind != WorkloadKind::StressNg {
        return Ending::Complete;
    }
    match workload::stress_ng::idle_stressors(received.tail("stress-ng.yaml")) {
        Err(reason) => Ending::Failed(reason),
        Ok(idle) => {
            if !idle.is_empty() {
                notes.push(format!(
                    "stress-ng did not finish one operation of: {}",
                    idle.join(", ")
                ));
            }
            Ending::Complete
        }
    }
}

impl From<Ending> for Outcome {
    fn from(ending: Ending) -> Outcome {
        Outcome {
            ending,
            unusable: None,
        }
    }
}
