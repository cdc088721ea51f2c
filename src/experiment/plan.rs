//! The plan: the ordered trials that an experiment's design expands to.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::experiment::{Condition, Experiment, WorkloadKind, order, template};
use crate::series::Cell;

/// Trials that a plan may have.
pub(super) const MAX_TRIALS: u64 = 10_000;

/// What a trial takes beside its phases, for the estimate: starting monitors, fetching what they wrote.
pub const OVERHEAD_A_TRIAL: Duration = Duration::from_secs(1);

/// An experiment and its trials in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The experiment.
    pub experiment: Experiment,
    /// Trials, in the order they run. Hosts run side by side, each its own trials in this order.
    pub trials: Vec<PlannedTrial>,
}

/// One trial to come, with every `{variable}` filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTrial {
    /// `t01`, `t02`, ... in order.
    pub id: String,
    /// Condition's name.
    pub condition: String,
    /// Parameters' values.
    pub cell: Cell,
    /// Host's name.
    pub host: String,
    /// Program and arguments as they will run (for `stress-ng` with `stress-ng` in front).
    pub argv: Vec<String>,
}

impl Plan {
    /// How long it takes: one host's trials, as hosts run side by side, each with its phases and
    /// [`OVERHEAD_A_TRIAL`].
    pub fn estimated_time(&self) -> Duration {
        let experiment = &self.experiment;
        let trial =
            experiment.idle + experiment.workload.duration + experiment.settle + OVERHEAD_A_TRIAL;
        let hosts = experiment.hosts.len().max(1);
        trial.saturating_mul(u32::try_from(self.trials.len() / hosts).unwrap_or(u32::MAX))
    }

    /// Trials of a condition that one comparison has: those of every host, in one cell.
    pub fn trials_a_condition(&self) -> u32 {
        let hosts = u32::try_from(self.experiment.hosts.len()).unwrap_or(u32::MAX);
        self.experiment.design.trials.saturating_mul(hosts)
    }

    /// The smallest two-sided p that an exact permutation test of two conditions can give.
    pub fn smallest_p(&self) -> f64 {
        smallest_p(self.trials_a_condition())
    }
}

impl Experiment {
    /// Trials in all; `u64::MAX` when there are more.
    pub(super) fn total_trials(&self) -> u64 {
        [
            self.hosts.len() as u64,
            self.conditions.len() as u64,
            u64::from(self.design.trials),
        ]
        .into_iter()
        .chain(self.params.values().map(|values| values.len() as u64))
        .fold(1, u64::saturating_mul)
    }
}

/// The smallest two-sided p of an exact permutation test of n + n values: two of the C(2n, n) ways to deal the
/// values out are as extreme as the most extreme one.
pub(crate) fn smallest_p(n: u32) -> f64 {
    // C(2n, n) is the product of (n + i) / i.
    let ways = (1..=n).fold(1.0, |ways, i| ways * f64::from(n + i) / f64::from(i));
    (2.0 / ways).min(1.0)
}

/// Lays an experiment's trials out.
pub(super) fn plan(experiment: &Experiment) -> Result<Plan> {
    let total = experiment.total_trials();
    if total > MAX_TRIALS {
        return Err(Error::input(format!(
            "the plan would have {total} trials; at most {MAX_TRIALS} are allowed"
        )));
    }
    let cells = experiment.cells();
    let mut slots = Vec::new();
    for cell in &cells {
        for condition in &experiment.conditions {
            slots.push((condition, cell, argv(experiment, condition, cell)?));
        }
    }
    let design = &experiment.design;
    let mut sequences: Vec<_> = (0u64..)
        .zip(&experiment.hosts)
        .map(|(index, host)| {
            let blocks = order::blocks(
                design.order,
                design.seed,
                index,
                design.trials as usize,
                slots.len(),
            );
            (host, blocks.into_iter().flatten())
        })
        .collect();
    let digits = total.to_string().len().max(2);
    let mut trials = Vec::new();
    for _ in 0..design.trials as usize * slots.len() {
        for (host, sequence) in &mut sequences {
            let Some((condition, cell, argv)) = sequence.next().and_then(|slot| slots.get(slot))
            else {
                continue;
            };
            trials.push(PlannedTrial {
                id: format!("t{:0digits$}", trials.len() + 1),
                condition: condition.name.clone(),
                cell: (*cell).clone(),
                host: host.to_string(),
                argv: argv.clone(),
            });
        }
    }
    Ok(Plan {
        experiment: experiment.clone(),
        trials,
    })
}

/// Program and arguments under a condition in a cell.
///
/// # Errors
/// `Input` when a variable has no value.
pub(super) fn argv(
    experiment: &Experiment,
    condition: &Condition,
    cell: &Cell,
) -> Result<Vec<String>> {
    let values: BTreeMap<&str, &str> = condition
        .variables
        .iter()
        .chain(cell)
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let program = match experiment.workload.kind {
        WorkloadKind::StressNg => Some(Ok("stress-ng".to_owned())),
        WorkloadKind::Command => None,
    };
    let arguments = experiment.workload.arguments.iter().map(|argument| {
        template::fill(argument, &values).map_err(|why| {
            Error::input(format!(
                "condition `{}`: an argument of the workload {why}",
                condition.name
            ))
        })
    });
    program.into_iter().chain(arguments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_p_is_that_of_the_published_tables() {
        let close = |n: u32, p: f64| assert!((smallest_p(n) - p).abs() < 1e-12, "{n}");
        close(1, 1.0);
        close(2, 2.0 / 6.0);
        close(3, 0.1);
        close(4, 2.0 / 70.0);
        close(5, 2.0 / 252.0);
        assert_eq!(smallest_p(0), 1.0);
        assert!(smallest_p(1000) >= 0.0);
    }
}
