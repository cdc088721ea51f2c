//! The plan: the ordered trials that an experiment's design expands to.

use crate::experiment::Experiment;
use crate::series::Cell;

/// The order of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A B B A, then again: slow drift hits both conditions alike.
    Abba,
    /// Shuffled within blocks of one trial a condition, from the design's seed.
    Random,
}

/// An experiment and its trials in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The experiment.
    pub experiment: Experiment,
    /// Trials, in the order they run.
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
