//! Holm's adjustment of several p values.

/// Each p value adjusted over the family of all that are there; none and what is not a number stay out and stay none.
///
/// The i-th smallest of m is multiplied by m - i + 1, is at least the one before, and at most 1.
/// To reject where the adjusted p is below alpha keeps the chance of any wrong rejection below alpha.
/// Holm, S. (1979), A Simple Sequentially Rejective Multiple Test Procedure,
/// Scandinavian Journal of Statistics 6(2), 65-70.
///
/// ```
/// use ktrial::stats::holm;
/// assert_eq!(holm(&[Some(0.25), None, Some(0.125)]), [Some(0.25), None, Some(0.25)]);
/// ```
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut family: Vec<(usize, f64)> = p
        .iter()
        .enumerate()
        .filter_map(|(i, p)| p.filter(|p| !p.is_nan()).map(|p| (i, p)))
        .collect();
    family.sort_by(|x, y| x.1.total_cmp(&y.1));
    let mut adjusted = vec![None; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, &(i, p)) in family.iter().enumerate() {
        largest = largest.max((family.len() - rank) as f64 * p).min(1.0);
        adjusted[i] = Some(largest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_left_as_it_is_and_none_is_no_member() {
        assert_eq!(holm(&[Some(0.03)]), [Some(0.03)]);
        assert_eq!(
            holm(&[None, Some(0.03), Some(f64::NAN)]),
            [None, Some(0.03), None]
        );
        assert_eq!(holm(&[]), []);
    }

    #[test]
    fn never_falls_and_never_passes_one() {
        let p = [Some(0.5), Some(0.25), Some(0.375), Some(0.0625)];
        assert_eq!(holm(&p), [Some(0.75), Some(0.75), Some(0.75), Some(0.25)]);
        assert_eq!(holm(&[Some(0.9), Some(0.8)]), [Some(1.0), Some(1.0)]);
    }
}
