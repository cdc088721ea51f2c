//! One host's trials, one after the other, over connections that may break.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, WorkloadKind};
use crate::host::Host;
use crate::workload;

use super::Ways;
use super::boot::Boot;
use super::boot_times;
use super::cancel::Cancel;
use super::clock::Clock;
use super::ledger::{Ledger, Slot};
use super::progress::{Progress, Update};
use super::remains::Remains;
use super::said;
use super::trial::{Ending, Setting, execute};

/// Pauses before the tries to reach a host again.
const RECONNECT_AFTER: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(7),
    Duration::from_secs(20),
];

/// What every host's thread shares.
pub(super) struct Shared<'a> {
    pub(super) plan: &'a Plan,
    pub(super) ledger: &'a Ledger,
    pub(super) ways: &'a Ways<'a>,
    pub(super) clock: &'a dyn Clock,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a dyn Progress,
}

/// Runs the plan's trials of one host in order. `found` is the boot_id that its preflight found.
///
/// # Errors
/// Only when the record cannot be written; what happens to hosts and trials is in the record.
pub(super) fn run(host: Box<dyn Host>, found: Option<String>, shared: &Shared<'_>) -> Result<()> {
    let name = host.name().to_owned();
    let mut host = Some(host);
    let mut boot_id: Option<String> = None;
    let mut last_boot_id = found;
    let mut unusable: Option<String> = None;
    for planned in &shared.plan.trials {
        if planned.host != name {
            continue;
        }
        let slot = shared.ledger.slot(&planned.id);
        if shared.cancel.is_cancelled() {
            slot.pass_over("the run was ended before")?;
            continue;
        }
        // A boot ends what withstood, and may bring back what was lost.
        if let (Some(why), None) = (&unusable, &planned.boot) {
            slot.pass_over(why)?;
            continue;
        }

        slot.begin()?;
        shared.progress.update(Update::TrialStarted {
            host: &name,
            trial: &planned.id,
            condition: &planned.condition,
            planned: workload::planned(&shared.plan.experiment),
        });
        let not_up = match &planned.boot {
            None => None,
            Some(wanted) => {
                let boot = Boot {
                    host: &name,
                    trial: planned,
                    wanted,
                    last_boot_id: last_boot_id.as_deref(),
                    slot,
                    shared,
                };
                let not_up = boot.run(&mut host)?;
                boot_id = slot.boot_id();
                not_up
            }
        };
        let mut remains = Remains::default();
        let id = &planned.id;
        let not_booted =
            || Then::Unusable(format!("the host did not boot as it should for trial {id}"));
        let (ending, then) = match (not_up, &host) {
            (Some(ending), _) => (ending, not_booted()),
            (None, None) => (Ending::Failed("the host was lost".to_owned()), not_booted()),
            (None, Some(host)) => {
                let setting = Setting {
                    host: host.as_ref(),
                    experiment: &shared.plan.experiment,
                    clock: shared.clock,
                    cancel: shared.cancel,
                    progress: shared.progress,
                    slot,
                    boot_id: boot_id.as_deref(),
                };
                let ended = match shared.plan.experiment.workload.kind {
                    WorkloadKind::Boot => boot_times::fetch(&setting),
                    _ => execute(planned, &setting, &mut remains),
                };
                match ended {
                    Ok(ending @ Ending::Rebooted) => {
                        let why = format!("the host rebooted by itself before trial {id}");
                        (ending, Then::Unusable(why))
                    }
                    Ok(ending) => (ending, Then::GoOn),
                    Err(error) => match error.kind() {
                        ErrorKind::HostTransient => (
                            Ending::Failed(format!("the connection broke: {}", words(&error))),
                            Then::Reconnect,
                        ),
                        kind if of_the_record(kind) => {
                            if remains.are_left() {
                                // The record cannot have more; the host is still owed its state.
                                let _ = reconnect(&name, &mut remains, slot, shared);
                            }
                            return Err(error);
                        }
                        // Such as sudo that could start nothing when the trial was to be ended.
                        _ if remains.are_left() => (Ending::Failed(words(&error)), Then::Reconnect),
                        _ => (Ending::Failed(words(&error)), Then::GoOn),
                    },
                }
            }
        };
        last_boot_id = slot.boot_id().or(last_boot_id);

        // The host comes first: a record that cannot be written must leave nothing there.
        let lost = match then {
            Then::GoOn => None,
            Then::Unusable(why) => Some(why),
            Then::Reconnect => match reconnect(&name, &mut remains, slot, shared) {
                Ok(again) => {
                    host = Some(again);
                    None
                }
                Err(error) if of_the_record(error.kind()) => return Err(error),
                Err(error) => {
                    host = None;
                    Some(format!("the host was lost before: {}", words(&error)))
                }
            },
        };
        unusable = lost.or(remains.running.take());

        let (state, reason) = ending.words();
        slot.end(state, reason.as_deref())?;
        shared.progress.update(Update::TrialEnded {
            host: &name,
            trial: &planned.id,
            state,
            reason: reason.as_deref(),
        });
        slot.compress()?;
    }
    shared.progress.update(Update::HostDone { host: &name });
    Ok(())
}

/// What a trial's end means for the next ones on its host.
enum Then {
    GoOn,
    /// The connection broke, or the trial could not be ended over it.
    Reconnect,
    /// Nothing can be measured there before another boot, and why.
    Unusable(String),
}

/// Whether an error is of the record, which every host writes to, rather than of one host.
pub(super) fn of_the_record(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Io | ErrorKind::Record)
}

/// Reaches the host again and clears what the broken trial left there.
fn reconnect(
    name: &str,
    remains: &mut Remains,
    slot: Slot<'_>,
    shared: &Shared<'_>,
) -> Result<Box<dyn Host>> {
    let mut last = None;
    for (pause, attempt) in RECONNECT_AFTER.into_iter().zip(1..) {
        shared.progress.update(Update::Reconnecting {
            host: name,
            attempt,
        });
        shared.clock.sleep(pause);
        let reached = shared.ways.to(name).and_then(|host| {
            remains.clear(host.as_ref(), shared.clock)?;
            Ok(host)
        });
        let notes = std::mem::take(&mut remains.notes);
        if !notes.is_empty() {
            slot.update(|trial| trial.notes.extend(notes))?;
        }
        match reached {
            Ok(host) => return Ok(host),
            Err(error) => last = Some(error),
        }
    }
    if let Some(guard) = &remains.guard {
        slot.update(|trial| trial.notes.push(guard.unchecked()))?;
    }
    Err(last.unwrap_or_else(|| Error::new(ErrorKind::HostTransient, "was not tried again")))
}

/// An error and its causes in one line, safe to show.
pub(super) fn words(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    said::escaped(&text, 3 * said::MESSAGE)
}
