//! The verdict rule, and Holm's adjustment over the comparisons of a record.

use super::{Assumption, Comparison, Verdict, warnings};
use crate::stats;

/// The level of every verdict, two-sided.
pub const ALPHA: f64 = 0.05;

/// The verdict on a comparison whose deciding p value is `p`, adjusted or not.
///
/// - `cannot be shown with this n`: an arm has fewer than two values,
///   or under `exact` even the smallest attainable p is above 0.05.
/// - `supported`: p is below 0.05. Under `normal` p is Welch's, under `exact` the permutation test's.
/// - `not shown`: otherwise, also when there is no p (no spread in either arm under `normal`).
pub(super) fn verdict(comparison: &Comparison, p: Option<f64>) -> Verdict {
    let out_of_reach = comparison.assumption == Assumption::Exact
        && comparison.p_min.is_none_or(|least| least > ALPHA);
    if comparison.a.n < 2 || comparison.b.n < 2 || out_of_reach {
        Verdict::CannotBeShown
    } else if p.is_some_and(|p| p < ALPHA) {
        Verdict::Supported
    } else {
        Verdict::NotShown
    }
}

/// Sets `p_adjusted` and the verdict of comparisons that are reported together.
///
/// The primary metric stands alone at 0.05; all other metrics are one family, adjusted by Holm.
/// A primary metric compared more than once (several cells, more than two conditions) is a family of its own,
/// so that the chance of any wrong `supported` on it stays below 0.05.
/// Comparisons without a p value are in no family.
pub fn adjust(comparisons: &mut [Comparison]) {
    for primary in [true, false] {
        let mut family: Vec<&mut Comparison> = comparisons
            .iter_mut()
            .filter(|c| c.primary == primary)
            .collect();
        let p: Vec<Option<f64>> = family.iter().map(|c| c.p()).collect();
        let size = p.iter().flatten().count();
        for (comparison, adjusted) in family.iter_mut().zip(stats::holm(&p)) {
            comparison.p_adjusted = adjusted;
            comparison.verdict = verdict(comparison, adjusted);
            if let Some(warning) = warnings::of_reach(comparison, size)
                && !comparison.warnings.contains(&warning)
            {
                comparison.warnings.push(warning);
            }
        }
    }
}
