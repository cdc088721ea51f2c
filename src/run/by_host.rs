//! What became of a run, host by host.

use crate::record::{Manifest, Record, State, Trial};

/// A line for each host of a run: how many of its trials became what, and why some were not run. Empty when the run has
/// fewer than two hosts.
pub fn summary(record: &Record) -> Vec<String> {
    let manifest = record.manifest();
    let mut hosts: Vec<&str> = Vec::new();
    for host in manifest.trials.iter().filter_map(|t| t.host.as_deref()) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    match hosts.as_slice() {
        [] | [_] => Vec::new(),
        hosts => hosts.iter().map(|host| line(manifest, host)).collect(),
    }
}

fn line(manifest: &Manifest, host: &str) -> String {
    let own = |trial: &&Trial| trial.host.as_deref() == Some(host);
    let trials: Vec<&Trial> = manifest.trials.iter().filter(own).collect();
    let counts = counts(trials.iter().copied()).join(", ");
    let mut not_run = trials.iter().filter(|t| t.state == State::NotRun);
    let reason = not_run.find_map(|trial| trial.reason.as_deref());
    let Some(reason) = reason else {
        return format!("{host}: {counts}");
    };
    let lost = reason.strip_prefix("the host was lost before: ");
    let lost = lost.map(|why| format!("lost: {why}"));
    let reason = lost.unwrap_or_else(|| {
        // The line begins with the host.
        reason.trim_start_matches("the host was ").to_owned()
    });
    format!("{host}: {counts}; {reason}")
}

/// How many trials became what: `8 complete`, `2 failed`.
pub(super) fn counts<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Vec<String> {
    let states = [
        State::Complete,
        State::Failed,
        State::Interrupted,
        State::NotRun,
        State::Running,
    ];
    let count = |state| trials.clone().filter(|t| t.state == state).count();
    let counted = states.map(|state| (count(state), state.word()));
    let some = counted.into_iter().filter(|(n, _)| *n > 0);
    some.map(|(n, word)| format!("{n} {word}")).collect()
}
