//! Fetching trials that hosts ran, or still run, without a ktrial: the first thing that a resumed run does.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::experiment::{PlannedTrial, WorkloadKind};
use crate::record::State;
use crate::supervisor::Kind;
use crate::workload;

use super::beside;
use super::folder::Folder;
use super::link::Link;
use super::program;
use super::progress::Update;
use super::reach::{LeftOut, not_ready};
use super::sequence::{Shared, end, lost, of_the_record};
use super::trial::conclude;
use super::watch::Watch;

/// Hosts on which nothing can be measured before a boot, with why.
pub(super) type Unusable = BTreeMap<String, String>;

/// Fetches every trial that the record says is on a host, and watches to its end what still runs there. Gives the hosts
/// on which nothing can be measured before a boot, with why.
///
/// # Errors
/// When a host cannot be reached and the run does not go without it, or the record cannot be written.
pub(super) fn fetch(shared: &Shared<'_>) -> Result<Unusable> {
    let mut hosts: BTreeMap<&str, Vec<&PlannedTrial>> = BTreeMap::new();
    for planned in &shared.plan.trials {
        if shared.ledger.slot(&planned.id).on_host().is_some() {
            hosts.entry(&planned.host).or_default().push(planned);
        }
    }
    let results = beside(
        hosts.into_iter().collect(),
        shared.ways.max_hosts,
        |(name, trials)| (name, of_host(name, &trials, shared)),
    );
    let (mut away, mut unusable) = (Vec::new(), Unusable::new());
    for (name, result) in results {
        match result {
            Err(error) if of_the_record(error.kind()) => return Err(error),
            Err(error) => away.push(LeftOut::by_error(name, &error)),
            Ok(None) => {}
            Ok(Some(why)) => {
                unusable.insert(name.to_owned(), why);
            }
        }
    }
    match away.is_empty() || shared.ways.go_without {
        true => Ok(unusable),
        false => Err(not_ready(&away, true)),
    }
}

fn of_host(name: &str, trials: &[&PlannedTrial], shared: &Shared<'_>) -> Result<Option<String>> {
    let mut unusable = None;
    let mut link = Link::new(name, shared.ways.to(name)?, shared);
    for planned in trials {
        if shared.cancel.is_cancelled() {
            break;
        }
        let slot = shared.ledger.slot(&planned.id);
        let Some(on_host) = slot.on_host() else {
            continue;
        };
        let kind = Kind::from_word(&on_host.supervisor);
        let ready = link.again(|host| program::ready(host, kind))?;
        let found = Folder::named(&ready, &on_host);
        let experiment = &shared.plan.experiment;
        let (Some(folder), false) = (found, experiment.workload.kind == WorkloadKind::Boot) else {
            // No such trial can be on a host: the record was made by something else.
            slot.update(|trial| trial.on_host = None)?;
            continue;
        };
        if slot.state() == Some(State::Complete) {
            super::trial::forget(slot, &mut link)?;
            continue;
        }
        shared.progress.update(Update::Fetching {
            host: name,
            trial: &planned.id,
            condition: &planned.condition,
            planned: workload::planned(experiment),
        });
        let watched = Watch::new(planned, experiment, &mut link, slot, folder)
            .and_then(|mut watch| conclude(&mut watch));
        let outcome = match watched {
            Ok(outcome) => outcome,
            Err(error) if of_the_record(error.kind()) => return Err(error),
            Err(error) => lost(&error, slot, &link),
        };
        unusable = outcome.unusable.or(unusable);
        slot.note(vec![
            "its ktrial did not see it to its end: fetched from the host later".to_owned(),
        ])?;
        end(outcome.ending, slot, &mut link, &planned.id)?;
        link.host()?;
    }
    Ok(unusable)
}
