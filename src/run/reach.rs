//! Before anything runs: every host of the plan is reached and looked at, and what is not ready is told, all at once.

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Plan;
use crate::host::Host;
use crate::record::HostFacts;

use super::ledger::Ledger;
use super::preflight::{self, Findings};
use super::progress::{Progress, Update};
use super::{Ways, beside, said};

/// Longest reason in the record for which a host is left out, in characters.
const REASON: usize = 1000;

/// The hosts as they were found.
pub(super) struct Reached {
    /// Those that are ready.
    pub(super) hosts: Vec<Box<dyn Host>>,
    /// Their facts, in the same order.
    pub(super) facts: Vec<HostFacts>,
    /// Those that the run goes without.
    pub(super) left_out: Vec<LeftOut>,
}

/// A host that is not ready.
pub(super) struct LeftOut {
    name: String,
    kind: ErrorKind,
    /// What is wrong, a line each, without the host's name.
    problems: Vec<String>,
}

impl LeftOut {
    pub(super) fn by_error(name: &str, error: &Error) -> LeftOut {
        let report = error.report().replacen("error: ", "", 1);
        // Errors of a connection name their host already.
        let own = report.strip_prefix(&format!("{name}: "));
        LeftOut {
            name: name.to_owned(),
            kind: error.kind(),
            problems: vec![own.unwrap_or(&report).to_owned()],
        }
    }

    fn by_problems(name: &str, problems: Vec<String>) -> LeftOut {
        LeftOut {
            name: name.to_owned(),
            kind: ErrorKind::HostStable,
            problems,
        }
    }

    /// Says so in the record, in each of the host's trials, and to whoever watches.
    pub(super) fn tell(&self, plan: &Plan, ledger: &Ledger, progress: &dyn Progress) -> Result<()> {
        let lines = self.problems.iter().flat_map(|problem| problem.lines());
        // What to do next is for whoever ran it; the record has what was wrong.
        let words = lines.map(str::trim).filter(|l| !l.starts_with("next: "));
        let words: Vec<&str> = words.collect();
        let why = said::escaped(&words.join("; "), REASON);
        ledger.note(format!("{} was left out: {why}", self.name))?;
        for trial in plan.trials.iter().filter(|t| t.host == self.name) {
            let reason = format!("the host was left out: {why}");
            ledger.slot(&trial.id).pass_over(&reason)?;
        }
        progress.update(Update::LeftOut {
            host: &self.name,
            reason: &why,
        });
        Ok(())
    }
}

/// Connects to every host of the plan and runs the preflight there. Each takes no longer than its deadlines.
///
/// # Errors
/// When a host is not ready, or with [`Ways::go_without`] when none is: every problem of every host, of the kind of one
/// that another try does not solve, where there is any.
pub(super) fn reach(plan: &Plan, ways: &Ways<'_>) -> Result<Reached> {
    let names: BTreeSet<&str> = plan.trials.iter().map(|t| t.host.as_str()).collect();
    let found = beside(
        names.into_iter().collect(),
        ways.max_hosts,
        |name: &str| -> std::result::Result<(Box<dyn Host>, Findings), LeftOut> {
            let host = ways.to(name).map_err(|e| LeftOut::by_error(name, &e))?;
            let found = preflight::run(host.as_ref(), plan);
            let found = found.map_err(|e| LeftOut::by_error(name, &e))?;
            match found.problems.is_empty() {
                true => Ok((host, found)),
                false => Err(LeftOut::by_problems(name, found.problems)),
            }
        },
    );
    let mut reached = Reached {
        hosts: Vec::new(),
        facts: Vec::new(),
        left_out: Vec::new(),
    };
    for found in found {
        let not_ready = match found {
            Err(not_ready) => not_ready,
            Ok((host, findings)) => {
                let facts = preflight::facts(host.name(), &findings);
                match same_machine(&facts, &reached.facts) {
                    Some(problem) => LeftOut::by_problems(host.name(), vec![problem]),
                    None => {
                        reached.hosts.push(host);
                        reached.facts.push(facts);
                        continue;
                    }
                }
            }
        };
        reached.left_out.push(not_ready);
    }
    let any_ready = !reached.hosts.is_empty();
    // A plan without trials has no hosts, and nothing is wrong with them.
    if reached.left_out.is_empty() || (any_ready && ways.go_without) {
        return Ok(reached);
    }
    Err(not_ready(&reached.left_out, any_ready))
}

/// Names of hosts that are one machine: their trials would run at the same time, and change each other's settings.
fn same_machine(host: &HostFacts, others: &[HostFacts]) -> Option<String> {
    let boot_id = host.facts.get("boot_id")?;
    let has_it = |other: &&HostFacts| other.facts.get("boot_id") == Some(boot_id);
    let other = others.iter().find(has_it)?;
    Some(format!(
        "is the same machine as {} (boot_id {boot_id}): name it once",
        other.name
    ))
}

/// The error of hosts that are not ready.
pub(super) fn not_ready(hosts: &[LeftOut], any_ready: bool) -> Error {
    let kinds = hosts.iter().map(|host| host.kind);
    let kind = kinds
        .into_iter()
        .find(|kind| *kind != ErrorKind::HostTransient)
        .unwrap_or(ErrorKind::HostTransient);
    let mut error = Error::new(kind, "not ready, nothing was run:");
    for host in hosts {
        for problem in &host.problems {
            let mut lines = problem.lines();
            let first = lines.next().unwrap_or_default();
            error = error.detail(format!("{}: {first}", host.name));
            error = lines.fold(error, Error::detail);
        }
    }
    error.next(match any_ready {
        true => {
            "put this right and run again; or `--go-without` runs on the hosts that are ready, and `ktrial resume` \
             runs the other trials later"
        }
        false => "put this right and run again",
    })
}
