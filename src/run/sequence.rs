//! One host's trials, one after the other, over connections that may break.

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
use super::link::Link;
use super::progress::{Progress, Update};
use super::said;
use super::trial::{Ending, Outcome, Setting, execute, forget};

/// What every host's thread shares.
pub(super) struct Shared<'a> {
    pub(super) plan: &'a Plan,
    pub(super) ledger: &'a Ledger,
    pub(super) ways: &'a Ways<'a>,
    pub(super) clock: &'a dyn Clock,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a dyn Progress,
}

/// Runs the plan's trials of one host in order. `found` is the boot_id that its preflight found, `unusable` why nothing
/// can be measured there before a boot.
///
/// # Errors
/// Only when the record cannot be written; what happens to hosts and trials is in the record.
pub(super) fn run(
    host: Box<dyn Host>,
    found: Option<String>,
    mut unusable: Option<String>,
    shared: &Shared<'_>,
) -> Result<()> {
    let name = host.name().to_owned();
    let mut link = Link::new(&name, host, shared);
    let mut boot_id: Option<String> = None;
    let mut last_boot_id = found;
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

        // A new attempt would make its host's copy nobody's.
        if slot.on_host().is_some() {
            unusable = Some(kept(&planned.id));
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
                let not_up = boot.run(&mut link.host)?;
                boot_id = slot.boot_id();
                not_up
            }
        };
        let id = &planned.id;
        let outcome = match not_up {
            Some(ending) => Outcome {
                ending,
                unusable: Some(format!("the host did not boot as it should for trial {id}")),
            },
            None => {
                let setting = Setting {
                    planned,
                    experiment: &shared.plan.experiment,
                    slot,
                    boot_id: boot_id.as_deref(),
                };
                attempt(&setting, &mut link)?
            }
        };
        last_boot_id = slot.boot_id().or(last_boot_id);
        unusable = outcome.unusable;
        end(outcome.ending, slot, &mut link, id)?;
        if slot.on_host().is_some() {
            unusable.get_or_insert_with(|| kept(id));
        }
    }
    shared.progress.update(Update::HostDone { host: &name });
    Ok(())
}

/// Why a host that still has a trial takes no other one.
fn kept(id: &str) -> String {
    format!("the host still has trial {id}, which `ktrial resume` fetches")
}

/// Runs the trial; an error of its host is the trial's own end.
fn attempt(setting: &Setting<'_>, link: &mut Link<'_>) -> Result<Outcome> {
    let id = &setting.planned.id;
    let ended = match setting.experiment.workload.kind {
        WorkloadKind::Boot => boot_times::fetch(setting, link).map(Outcome::from),
        _ => execute(setting, link),
    };
    match ended {
        Ok(mut outcome) => {
            if outcome.ending == Ending::Rebooted {
                outcome.unusable = Some(format!("the host rebooted by itself before trial {id}"));
            }
            Ok(outcome)
        }
        Err(error) if of_the_record(error.kind()) => Err(error),
        Err(error) => Ok(lost(&error, setting.slot, link)),
    }
}

/// The end of a trial whose host cannot be asked any more.
pub(super) fn lost(error: &Error, slot: Slot<'_>, link: &Link<'_>) -> Outcome {
    let said = words(error);
    let stays = match slot.on_host() {
        Some(_) => "; the trial goes on there by itself, and `ktrial resume` fetches it",
        None => "",
    };
    let ending = match link.shared.cancel.is_cancelled() {
        true => Ending::Lost(format!(
            "ended by the user while the host was out of reach{stays}"
        )),
        false => Ending::Failed(format!("the host was lost: {said}{stays}")),
    };
    Outcome {
        ending,
        unusable: link
            .host
            .is_none()
            .then(|| format!("the host was lost before: {said}")),
    }
}

/// Says in the record what became of a trial; only then does its host forget it.
///
/// # Errors
/// When the record cannot be written.
pub(super) fn end(ending: Ending, slot: Slot<'_>, link: &mut Link<'_>, id: &str) -> Result<()> {
    let (state, reason) = ending.words();
    slot.end(state, reason.as_deref())?;
    link.shared.progress.update(Update::TrialEnded {
        host: link.name,
        trial: id,
        state,
        reason: reason.as_deref(),
    });
    if link.host.is_some() {
        forget(slot, link)?;
    }
    match slot.on_host() {
        // More may come of it.
        Some(_) => Ok(()),
        None => slot.compress(),
    }
}

/// Whether an error is of the record, which every host writes to, rather than of one host.
pub(super) fn of_the_record(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Io | ErrorKind::Record)
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
