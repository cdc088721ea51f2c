//! One host's trials, one after the other, over connections that may break.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Plan;
use crate::host::Host;
use crate::workload;

use super::Ways;
use super::cancel::Cancel;
use super::clock::Clock;
use super::ledger::Ledger;
use super::progress::{Progress, Update};
use super::said;
use super::trial::{Ending, Remains, Setting, execute};

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

/// Runs the plan's trials of one host in order.
///
/// # Errors
/// Only when the record cannot be written; what happens to hosts and trials is in the record.
pub(super) fn run(mut host: Box<dyn Host>, shared: &Shared<'_>) -> Result<()> {
    let name = host.name().to_owned();
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
        if let Some(why) = &unusable {
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
        let mut remains = Remains::default();
        let setting = Setting {
            host: host.as_ref(),
            experiment: &shared.plan.experiment,
            clock: shared.clock,
            cancel: shared.cancel,
            progress: shared.progress,
            slot,
        };
        let (ending, broken) = match execute(planned, &setting, &mut remains) {
            Ok(ending) => (ending, None),
            Err(error) => match error.kind() {
                ErrorKind::HostTransient => (
                    Ending::Failed(format!("the connection broke: {}", words(&error))),
                    Some(error),
                ),
                ErrorKind::HostStable => (Ending::Failed(words(&error)), None),
                _ => return Err(error),
            },
        };
        let (state, reason) = ending.words();
        slot.update(|trial| {
            trial.state = state;
            trial.reason.clone_from(&reason);
        })?;
        shared.progress.update(Update::TrialEnded {
            host: &name,
            trial: &planned.id,
            state,
            reason: reason.as_deref(),
        });

        slot.compress()?;

        unusable = remains.running.take();
        if broken.is_some() {
            match reconnect(&name, &remains, shared) {
                Ok(again) => host = again,
                Err(error) => {
                    unusable = Some(format!("the host was lost before: {}", words(&error)))
                }
            }
        }
    }
    shared.progress.update(Update::HostDone { host: &name });
    Ok(())
}

/// Reaches the host again and ends what the broken trial left there.
fn reconnect(name: &str, remains: &Remains, shared: &Shared<'_>) -> Result<Box<dyn Host>> {
    let mut last = None;
    for (pause, attempt) in RECONNECT_AFTER.into_iter().zip(1..) {
        shared.progress.update(Update::Reconnecting {
            host: name,
            attempt,
        });
        shared.clock.sleep(pause);
        let reached = (shared.ways.connect)(name).and_then(|host| {
            remains.clear(host.as_ref(), shared.clock)?;
            Ok(host)
        });
        match reached {
            Ok(host) => return Ok(host),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| Error::new(ErrorKind::HostTransient, "was not tried again")))
}

/// An error and its causes in one line, safe to show.
fn words(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    said::escaped(&text, 3 * said::MESSAGE)
}
