//! Cliff's delta: how often a value of b is above one of a, less how often below.

use super::descriptive::finite;

/// (pairs with b > a, less pairs with b < a) over all pairs: from -1, all of b below all of a, to 1.
/// None for an empty arm. Takes n log n steps.
///
/// Cliff, N. (1993), Dominance statistics: Ordinal analyses to answer ordinal questions,
/// Psychological Bulletin 114(3), 494-509.
///
/// ```
/// use ktrial::stats::cliffs_delta;
/// assert_eq!(cliffs_delta(&[1.0, 2.0], &[2.0, 3.0]), Some(0.75));
/// ```
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut sorted = finite(a)?.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut dominance = 0.0;
    for b in finite(b)? {
        // By value, not by total order: -0 and 0 are equal.
        let below = sorted.partition_point(|a| a < b);
        let above = sorted.len() - sorted.partition_point(|a| a <= b);
        dominance += below as f64 - above as f64;
    }
    Some(dominance / a.len() as f64 / b.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_ties_and_none() {
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[5.0, 6.0], &[3.0, 4.0]), Some(-1.0));
        assert_eq!(cliffs_delta(&[5.0; 3], &[5.0; 4]), Some(0.0));
        assert_eq!(cliffs_delta(&[0.0], &[-0.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(cliffs_delta(&[f64::NAN], &[1.0]), None);
    }
}
