//! What a command line may change of an experiment. The record has the experiment as it was run.

use super::check::MAX_TRIALS_A_CONDITION;
use super::hosts::{Fault, fault};
use crate::error::{Error, Result};
use crate::experiment::Experiment;

impl Experiment {
    /// The same experiment on other hosts, each of which runs every condition.
    ///
    /// # Errors
    /// `Usage` when there is none, a name cannot be one, or one stands twice.
    pub fn on_hosts(&self, hosts: &[String]) -> Result<Experiment> {
        if let Some(Fault { message, next, .. }) = fault(hosts) {
            return Err(Error::usage(format!("--host: {message}")).next(next));
        }
        Ok(Experiment {
            hosts: hosts.to_vec(),
            ..self.clone()
        })
    }

    /// The same experiment with another number of trials of each condition.
    ///
    /// # Errors
    /// `Usage` when the number cannot be one.
    pub fn with_trials(&self, trials: u32) -> Result<Experiment> {
        if !(1..=MAX_TRIALS_A_CONDITION).contains(&trials) {
            return Err(Error::usage(format!("--trials: {trials} is not possible"))
                .next(format!("give 1 to {MAX_TRIALS_A_CONDITION}")));
        }
        let mut other = self.clone();
        other.design.trials = trials;
        Ok(other)
    }
}
