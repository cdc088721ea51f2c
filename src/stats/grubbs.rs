//! Grubbs' test: does one value stand out from the rest.

use super::{mean, sd, students_t};

/// Fewer values are not tested.
const FEWEST: usize = 4;

/// The index of the one value that lies further from the mean than chance would put any of n normal values,
/// at `alpha` two-sided; none for fewer than four values or without spread.
///
/// Of three values the test says nothing: at 0.05 it calls the third one out whenever two lie within 3 % of the
/// range of each other, which two readings of a coarse clock do by themselves.
///
/// G = max |x - mean| / sd is compared with (n - 1) / sqrt(n) * sqrt(t^2 / (n - 2 + t^2)),
/// t being the upper alpha / (2 n) point with n - 2 degrees of freedom.
/// Grubbs, F. E. (1969), Procedures for Detecting Outlying Observations in Samples, Technometrics 11(1), 1-21.
///
/// ```
/// use ktrial::stats::outlier;
/// assert_eq!(outlier(&[28.765, 28.292, 34.588, 28.641], 0.05), Some(2));
/// assert_eq!(outlier(&[5.672, 5.418, 5.707, 6.250], 0.05), None);
/// ```
pub fn outlier(values: &[f64], alpha: f64) -> Option<usize> {
    if values.len() < FEWEST {
        return None;
    }
    let (mean, sd) = (mean(values)?, sd(values)?);
    if sd == 0.0 {
        return None;
    }
    let (index, distance) = values
        .iter()
        .map(|x| (x - mean).abs() / sd)
        .enumerate()
        .max_by(|x, y| x.1.total_cmp(&y.1))?;
    let n = values.len() as f64;
    let t = students_t::quantile(1.0 - alpha / (2.0 * n), n - 2.0)?;
    let critical = (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt();
    (distance > critical).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_without_spread_or_with_too_few() {
        assert_eq!(outlier(&[1.0, 100.0], 0.05), None);
        assert_eq!(outlier(&[5.0, 5.0, 9.0], 0.05), None);
        assert_eq!(outlier(&[1.0; 9], 0.05), None);
        assert_eq!(outlier(&[1.0, 2.0, 3.0, f64::NAN], 0.05), None);
    }

    #[test]
    fn critical_value_of_ten() {
        // Published critical value for n = 10, alpha 0.05 two-sided: 2.290.
        let with = |x: f64| [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, x];
        let g = |v: &[f64]| (v[9] - mean(v).unwrap()) / sd(v).unwrap();
        assert!(g(&with(15.0)) < 2.290 && outlier(&with(15.0), 0.05).is_none());
        assert!(g(&with(16.0)) > 2.290 && outlier(&with(16.0), 0.05) == Some(9));
    }
}
