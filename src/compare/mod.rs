//! Comparisons: an estimate with its interval and p value for one metric between two conditions.

mod record;
mod series;
mod summaries;
mod verdict;
mod warnings;

pub use crate::stats::HodgesLehmann;
pub(crate) use record::is_of;
pub use record::{Choice, Comparisons};
pub use series::{SeriesTrial, compare_series};
pub use summaries::{Layout, compare_summaries};
pub use verdict::{ALPHA, adjust};

use crate::series::Cell;
use crate::stats;
use crate::unit::{Scale, Unit};

/// The power at which [`Comparison::detectable_difference`] is stated.
pub const POWER: f64 = 0.8;

/// One condition's values.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The condition's name.
    pub condition: String,
    /// One value a unit of replication, in order of running.
    pub values: Vec<f64>,
}

/// What the caller chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What is assumed of the values; decides which p value counts.
    pub assumption: Assumption,
    /// Seed of the random splits, which are drawn when there are too many to look at all.
    pub seed: u64,
}

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
    /// Mean of b over mean of a; none unless a's mean is above 0 and b's is not below: a share of a negative mean
    /// would turn the difference's sign.
    pub ratio: Option<f64>,
    /// Two-sided p of Welch's t test.
    pub p_welch: Option<f64>,
    /// Two-sided p of the permutation test of the difference of means.
    pub p_permutation: Option<f64>,
    /// How `p_permutation` was had: `exact` or `monte-carlo`.
    pub permutation_method: Option<&'static str>,
    /// The smallest p that an exact two-sided permutation test can give at this n.
    pub p_min: Option<f64>,
    /// The p value that the assumption chooses, adjusted by Holm over its family; none before [`adjust`].
    pub p_adjusted: Option<f64>,
    /// What was assumed.
    pub assumption: Assumption,
    /// Hodges-Lehmann shift.
    pub hodges_lehmann: Option<HodgesLehmann>,
    /// Cliff's delta, b against a.
    pub cliffs_delta: Option<f64>,
    /// Hedges' g.
    pub hedges_g: Option<f64>,
    /// About the smallest difference that would have been seen with 80 % power at this n and spread, at 0.05
    /// unadjusted; [`stats::detectable_difference()`] says how near it is.
    pub detectable_difference: Option<f64>,
    /// What it says.
    pub verdict: Verdict,
    /// What a reader has to know, each a sentence with its next step.
    pub warnings: Vec<String>,
}

impl Arm {
    /// Describes values.
    pub fn new(values: Vec<f64>) -> Arm {
        Arm {
            n: values.len(),
            mean: stats::mean(&values),
            median: stats::median(&values),
            sd: stats::sd(&values),
            min: stats::min(&values),
            max: stats::max(&values),
            values,
        }
    }
}

impl Comparison {
    /// The p value that the assumption chooses, not adjusted.
    pub fn p(&self) -> Option<f64> {
        match self.assumption {
            Assumption::Normal => self.p_welch,
            Assumption::Exact => self.p_permutation,
        }
    }

    /// The unit and digits in which its numbers are shown everywhere.
    pub(crate) fn scale(&self) -> Scale {
        Scale::new(&self.unit, [self.a.mean, self.b.mean], self.difference)
    }
}

/// Compares two samples as if nothing else were compared: the verdict is by the p value as it is
/// until [`adjust`] has seen the whole family.
///
/// `unit` is that of all values. Total: whatever the values are, what cannot be had is none
/// and a warning says why. With fewer than two values in an arm no test is made.
///
/// ```
/// use ktrial::compare::{Options, Sample, Verdict, compare};
/// use ktrial::unit::Unit;
/// let before = Sample { condition: "before".into(), values: vec![5.672, 5.418, 5.707, 6.250] };
/// let after = Sample { condition: "after".into(), values: vec![4.652, 4.634, 4.745] };
/// let c = compare("settle", &Unit::Second, &Default::default(), &before, &after, &Options::default());
/// assert_eq!(c.verdict, Verdict::Supported);
/// assert!((c.p_welch.unwrap() - 0.0072).abs() < 5e-5);
/// ```
pub fn compare(
    metric: &str,
    unit: &Unit,
    cell: &Cell,
    a: &Sample,
    b: &Sample,
    options: &Options,
) -> Comparison {
    compare_trials(metric, unit, cell, [(a, &[]), (b, &[])], options)
}

/// As [`compare`], of values whose trials are known: their ids, in the order of the values, for the warnings.
fn compare_trials(
    metric: &str,
    unit: &Unit,
    cell: &Cell,
    [(a, trials_a), (b, trials_b)]: [(&Sample, &[&str]); 2],
    options: &Options,
) -> Comparison {
    let (arm_a, arm_b) = (Arm::new(a.values.clone()), Arm::new(b.values.clone()));
    let (x, y) = (&arm_a.values[..], &arm_b.values[..]);
    let tested = arm_a.n >= 2 && arm_b.n >= 2;
    let welch = stats::welch(x, y, ALPHA);
    let permutation = tested
        .then(|| stats::permutation(x, y, options.seed))
        .flatten();
    let mut comparison = Comparison {
        metric: metric.to_owned(),
        unit: unit.clone(),
        condition_a: a.condition.clone(),
        condition_b: b.condition.clone(),
        cell: cell.clone(),
        primary: false,
        difference: stats::difference_of_means(x, y),
        difference_ci: welch.map(|w| (w.low, w.high)),
        ratio: ratio(&arm_a, &arm_b),
        p_welch: welch.map(|w| w.p),
        p_permutation: permutation.map(|p| p.p),
        permutation_method: permutation.map(|p| p.method.word()),
        p_min: stats::smallest_p(arm_a.n, arm_b.n),
        p_adjusted: None,
        assumption: options.assumption,
        hodges_lehmann: stats::hodges_lehmann(x, y, ALPHA),
        cliffs_delta: stats::cliffs_delta(x, y),
        hedges_g: stats::hedges_g(x, y),
        detectable_difference: welch.and_then(|w| stats::detectable_difference(&w, ALPHA, POWER)),
        verdict: Verdict::NotShown,
        warnings: Vec::new(),
        a: arm_a,
        b: arm_b,
    };
    comparison.warnings =
        warnings::of_values(&comparison, [trials_a, trials_b], permutation, options);
    comparison.verdict = verdict::verdict(&comparison, comparison.p());
    comparison
}

fn ratio(a: &Arm, b: &Arm) -> Option<f64> {
    let (a, b) = (a.mean?, b.mean?);
    Some(b / a).filter(|ratio| a > 0.0 && b >= 0.0 && ratio.is_finite())
}

#[cfg(test)]
mod tests;
