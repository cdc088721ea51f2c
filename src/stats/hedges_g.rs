//! Hedges' g: the difference in standard deviations.

use super::{difference_of_means, sd};

/// (mean b - mean a) over the pooled standard deviation, times 1 - 3 / (4 df - 1) with df = na + nb - 2,
/// which takes off most of the bias of few values. None when an arm has fewer than two values or nothing spreads.
///
/// Hedges, L. V. (1981), Distribution Theory for Glass's Estimator of Effect Size and Related Estimators,
/// Journal of Educational Statistics 6(2), 107-128.
pub fn hedges_g(a: &[f64], b: &[f64]) -> Option<f64> {
    let (sd_a, sd_b) = (sd(a)?, sd(b)?);
    let (df_a, df_b) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
    let df = df_a + df_b;
    let pooled = (sd_a * (df_a / df).sqrt()).hypot(sd_b * (df_b / df).sqrt());
    if pooled == 0.0 {
        return None;
    }
    let g = difference_of_means(a, b)? / pooled * (1.0 - 3.0 / (4.0 * df - 1.0));
    g.is_finite().then_some(g)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Both deviations 1, df 4: 2 * (1 - 3 / 15).
        let g = hedges_g(&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0]).unwrap();
        assert!((g - 1.6).abs() < 1e-12);
    }

    #[test]
    fn none_where_it_cannot_be_had() {
        assert_eq!(hedges_g(&[1.0], &[2.0, 3.0]), None);
        assert_eq!(hedges_g(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert_eq!(hedges_g(&[1.0, f64::INFINITY], &[2.0, 3.0]), None);
    }
}
