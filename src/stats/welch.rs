//! Welch's t test: the difference of two means when the variances may differ.

use super::{difference_of_means, sd, students_t};

/// What Welch's test gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Mean of b minus mean of a.
    pub difference: f64,
    /// Standard error of `difference`; above 0.
    pub standard_error: f64,
    /// `difference` over `standard_error`.
    pub t: f64,
    /// Degrees of freedom by Welch and Satterthwaite.
    pub df: f64,
    /// Two-sided p.
    pub p: f64,
    /// Lower end of the interval of `difference`.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Welch's test with an interval that covers 1 - `alpha`. None when an arm has fewer than two values
/// or both have no spread: then there is no standard error to judge by.
///
/// With s the standard error of an arm's mean: t = (mean b - mean a) / sqrt(sa^2 + sb^2) and
/// df = (sa^2 + sb^2)^2 / (sa^4 / (na - 1) + sb^4 / (nb - 1)).
/// Welch, B. L. (1947), The generalization of "Student's" problem when several different population
/// variances are involved, Biometrika 34, 28-35.
///
/// ```
/// use ktrial::stats::welch;
/// let w = welch(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], 0.05).unwrap();
/// assert_eq!(w.difference, 1.0);
/// assert!((w.df - 4.0).abs() < 1e-12);
/// assert!(w.low < 0.0 && w.high > 2.0);
/// ```
pub fn welch(a: &[f64], b: &[f64], alpha: f64) -> Option<Welch> {
    let error_a = sd(a)? / (a.len() as f64).sqrt();
    let error_b = sd(b)? / (b.len() as f64).sqrt();
    let standard_error = error_a.hypot(error_b);
    if standard_error == 0.0 {
        return None;
    }
    // As shares of the whole, so that fourth powers cannot leave the range of numbers.
    let share_a = (error_a / standard_error).powi(2);
    let share_b = (error_b / standard_error).powi(2);
    let df =
        1.0 / (share_a * share_a / (a.len() - 1) as f64 + share_b * share_b / (b.len() - 1) as f64);
    // Rounding may bring it a hair below the least that it can be.
    let df = df.max((a.len().min(b.len()) - 1) as f64);
    let difference = difference_of_means(a, b)?;
    let t = difference / standard_error;
    let margin = students_t::quantile(1.0 - alpha / 2.0, df)? * standard_error;
    let (low, high) = (difference - margin, difference + margin);
    Some(Welch {
        difference,
        standard_error,
        t,
        df,
        p: students_t::two_sided_p(t, df)?,
        low,
        high,
    })
    .filter(|_| low.is_finite() && high.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_test_without_spread_or_with_one_value() {
        assert_eq!(welch(&[1.0], &[2.0, 3.0], 0.05), None);
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0], 0.05), None);
        assert_eq!(welch(&[1.0, f64::NAN], &[2.0, 3.0], 0.05), None);
        assert_eq!(welch(&[], &[], 0.05), None);
        assert_eq!(welch(&[-1.7e308, 0.0], &[1.7e308, 0.0], 0.05), None);
    }

    #[test]
    fn one_arm_without_spread_leaves_the_other_ones_degrees_of_freedom() {
        let w = welch(&[1.0, 1.0, 1.0], &[2.0, 3.0, 4.0, 5.0], 0.05).unwrap();
        assert_eq!(w.df, 3.0);
    }
}
