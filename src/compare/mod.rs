//! Comparisons: an estimate with its interval and p value for one metric between two conditions.

use crate::series::Cell;
use crate::unit::Unit;

/// One arm of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// The values compared, one a unit of replication, in order of running.
    pub values: Vec<f64>,
    /// How many.
    pub n: usize,
    /// Mean; none when `n` is 0.
    pub mean: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Standard deviation with n - 1; none when `n` < 2.
    pub sd: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// What is assumed of the values; decides which p value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assumption {
    /// Values per unit of replication are roughly normal, variances may differ: Welch.
    #[default]
    Normal,
    /// Only that labels are exchangeable when nothing changed: exact permutation.
    Exact,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The difference is shown at the stated level.
    Supported,
    /// It is not.
    NotShown,
    /// The conditions agree within the stated margin.
    Equivalent,
    /// No data of this size could show it.
    CannotBeShown,
}

impl Verdict {
    /// The words used in every output.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Supported => "supported",
            Verdict::NotShown => "not shown",
            Verdict::Equivalent => "equivalent",
            Verdict::CannotBeShown => "cannot be shown with this n",
        }
    }
}

/// The Hodges-Lehmann shift of b against a with its exact interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HodgesLehmann {
    /// Median of all differences b - a.
    pub shift: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The interval's exact coverage.
    pub coverage: f64,
}

/// One metric, two conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Metric.
    pub metric: String,
    /// Unit of every value and difference here.
    pub unit: Unit,
    /// Reference condition.
    pub condition_a: String,
    /// The other.
    pub condition_b: String,
    /// Parameters' values; empty when the record has none.
    pub cell: Cell,
    /// Whether the metric was named as primary before the run.
    pub primary: bool,
    /// Reference.
    pub a: Arm,
    /// The other.
    pub b: Arm,
    /// Mean of b minus mean of a.
    pub difference: Option<f64>,
    /// Welch 95 % interval of `difference`.
    pub difference_ci: Option<(f64, f64)>,
    /// Mean of b over mean of a; none when a's mean is 0 or their signs differ.
    pub ratio: Option<f64>,
    /// Two-sided p of Welch's t test.
    pub p_welch: Option<f64>,
    /// Two-sided p of the permutation test of the difference of means.
    pub p_permutation: Option<f64>,
    /// How `p_permutation` was had: `exact` or `monte-carlo`.
    pub permutation_method: Option<&'static str>,
    /// The smallest p that an exact two-sided permutation test can give at this n.
    pub p_min: Option<f64>,
    /// The p value that the assumption chooses, adjusted by Holm over its family.
    pub p_adjusted: Option<f64>,
    /// What was assumed.
    pub assumption: Assumption,
    /// Hodges-Lehmann shift.
    pub hodges_lehmann: Option<HodgesLehmann>,
    /// Cliff's delta, b against a.
    pub cliffs_delta: Option<f64>,
    /// Hedges' g.
    pub hedges_g: Option<f64>,
    /// The smallest difference that would have been seen with 80 % power at this n and spread.
    pub detectable_difference: Option<f64>,
    /// What it says.
    pub verdict: Verdict,
    /// What a reader has to know, each a sentence with its next step.
    pub warnings: Vec<String>,
}
