//! The Hodges-Lehmann shift: how far b lies from a, without any assumption on the values' shape.

use super::descriptive::{finite, quantile_of_sorted};
use super::mann_whitney;

/// Beyond this many pairs nothing is computed: the differences would fill the memory.
const PAIRS: usize = 1_000_000;

/// The Hodges-Lehmann shift of b against a with its exact interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HodgesLehmann {
    /// Median of all differences b - a.
    pub shift: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The interval's coverage: exact up to about 270 + 270 values, by the normal distribution beyond.
    /// Equal values can only make the true coverage larger.
    pub coverage: f64,
}

/// The median of all differences b - a, with the interval that Mann and Whitney's U gives: the k-th smallest to
/// the k-th largest difference, with the largest k whose coverage 1 - 2 P(U < k) is at least 1 - `alpha`.
/// When no k reaches that (3 + 4 values at 0.05), the interval is from the smallest to the largest difference,
/// and the coverage says what it is worth.
///
/// None for an empty arm, for 1 + 1 values (no interval covers anything), for more than 1e6 pairs,
/// and when a value or a difference is not finite.
///
/// Hodges, J. L., and Lehmann, E. L. (1963), Estimates of Location Based on Rank Tests,
/// Annals of Mathematical Statistics 34, 598-611;
/// Hollander, M., Wolfe, D. A., and Chicken, E. (2013), Nonparametric Statistical Methods, section 4.3.
///
/// ```
/// use ktrial::stats::hodges_lehmann;
/// let hl = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], 0.05).unwrap();
/// assert_eq!((hl.shift, hl.low, hl.high), (10.0, 7.0, 13.0));
/// assert_eq!(hl.coverage, 1.0 - 2.0 / 70.0);
/// ```
pub fn hodges_lehmann(a: &[f64], b: &[f64], alpha: f64) -> Option<HodgesLehmann> {
    let pairs = a.len().checked_mul(b.len())?;
    if pairs > PAIRS || alpha.is_nan() || alpha <= 0.0 || alpha >= 1.0 {
        return None;
    }
    let mut differences: Vec<f64> = b
        .iter()
        .flat_map(|b| a.iter().map(move |a| b - a))
        .collect();
    finite(&differences)?;
    differences.sort_unstable_by(f64::total_cmp);
    let widest = (0, super::smallest_p(a.len(), b.len())? / 2.0);
    let (u, tail) = mann_whitney::lower_quantile(a.len(), b.len(), alpha / 2.0).unwrap_or(widest);
    let coverage = 1.0 - 2.0 * tail;
    Some(HodgesLehmann {
        shift: quantile_of_sorted(&differences, 0.5)?,
        low: *differences.get(u)?,
        high: *differences.get(pairs.checked_sub(u + 1)?)?,
        coverage,
    })
    .filter(|_| coverage > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_say_what_their_interval_is_worth() {
        let hl = hodges_lehmann(&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0, 9.0], 0.05).unwrap();
        assert_eq!((hl.low, hl.high), (1.0, 8.0));
        assert_eq!(hl.coverage, 1.0 - 2.0 / 35.0);
        assert_eq!(hodges_lehmann(&[1.0], &[2.0], 0.05), None);
        let one = hodges_lehmann(&[1.0], &[2.0, 3.0, 4.0], 0.05).unwrap();
        assert_eq!((one.shift, one.coverage), (2.0, 0.5));
    }

    #[test]
    fn none_where_it_cannot_be_had() {
        assert_eq!(hodges_lehmann(&[], &[1.0], 0.05), None);
        assert_eq!(hodges_lehmann(&[f64::NAN], &[1.0, 2.0], 0.05), None);
        assert_eq!(hodges_lehmann(&[-1.7e308], &[1.7e308, 1.0], 0.05), None);
        assert_eq!(hodges_lehmann(&[1.0; 1001], &[1.0; 1000], 0.05), None);
    }

    #[test]
    fn large_arms_by_the_normal_form() {
        let a: Vec<f64> = (0..900).map(f64::from).collect();
        let b: Vec<f64> = (0..900).map(|i| f64::from(i) + 50.0).collect();
        let hl = hodges_lehmann(&a, &b, 0.05).unwrap();
        assert_eq!(hl.shift, 50.0);
        assert!(hl.low < 50.0 && hl.high > 50.0 && (hl.coverage - 0.95).abs() < 1e-4);
    }
}
