//! What values are like: mean, spread, order statistics.

/// Arithmetic mean.
///
/// The mean of the residuals is added once (two passes), so that the result is good to the last digits
/// even when the values lie far from 0. It is kept between the smallest and the largest value.
pub fn mean(values: &[f64]) -> Option<f64> {
    let (low, high) = (min(values)?, max(values)?);
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let first = if sum.is_finite() {
        sum / n
    } else {
        values.iter().map(|x| x / n).sum()
    };
    let rest: f64 = values.iter().map(|x| (x - first) / n).sum();
    let mean = first + rest;
    mean.is_finite().then(|| mean.clamp(low, high))
}

/// Mean of b minus mean of a, taken from a common point, so that no digits are lost when both are large and alike.
pub fn difference_of_means(a: &[f64], b: &[f64]) -> Option<f64> {
    let point = mean(a)?;
    let from_point = |values: &[f64]| mean(&values.iter().map(|x| x - point).collect::<Vec<_>>());
    let difference = from_point(b)? - from_point(a)?;
    difference.is_finite().then_some(difference)
}

/// Standard deviation with n - 1; none for fewer than two values. Exactly 0 when all values are equal.
///
/// Deviations are divided by the largest one before they are squared,
/// so that neither 1e-200 nor 1e200 leaves the range of numbers.
pub fn sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let largest = values.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return Some(0.0);
    }
    let squares: f64 = values.iter().map(|x| ((x - mean) / largest).powi(2)).sum();
    let sd = largest * (squares / (values.len() - 1) as f64).sqrt();
    sd.is_finite().then_some(sd)
}

/// Smallest value.
pub fn min(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::min)
}

/// Largest value.
pub fn max(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::max)
}

/// Median: the quantile at 0.5.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile by linear interpolation at (n - 1) * `probability`: type 7, the default of R and NumPy.
///
/// Hyndman, R. J., and Fan, Y. (1996), Sample Quantiles in Statistical Packages,
/// The American Statistician 50(4), 361-365.
///
/// ```
/// use ktrial::stats::quantile;
/// assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
/// assert_eq!(quantile(&[], 0.5), None);
/// ```
pub fn quantile(values: &[f64], probability: f64) -> Option<f64> {
    let mut sorted = finite(values)?.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, probability)
}

/// [`quantile`] of values that are finite and ascend already.
pub(super) fn quantile_of_sorted(sorted: &[f64], probability: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let place = (sorted.len().checked_sub(1)?) as f64 * probability;
    let low = *sorted.get(place.floor() as usize)?;
    let high = *sorted.get(place.ceil() as usize)?;
    let fraction = place.fract();
    Some((low * (1.0 - fraction) + high * fraction).clamp(low, high))
}

/// The values, when each of them is a finite number.
pub(super) fn finite(values: &[f64]) -> Option<&[f64]> {
    values.iter().all(|x| x.is_finite()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_what_is_not_a_number_give_none() {
        for values in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY]] {
            for function in [mean, sd, min, max, median] {
                assert_eq!(function(values), None, "{values:?}");
            }
        }
        assert_eq!(sd(&[1.0]), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
        assert_eq!(quantile(&[1.0], 1.1), None);
    }

    #[test]
    fn equal_values_have_no_spread_at_all() {
        assert_eq!(mean(&[0.1; 3]), Some(0.1));
        assert_eq!(sd(&[0.1; 3]), Some(0.0));
        assert_eq!(quantile(&[0.1; 3], 0.3), Some(0.1));
    }

    #[test]
    fn scale_and_offset_do_not_spoil_it() {
        assert_eq!(mean(&[1.7e308, 1.7e308]), Some(1.7e308));
        assert_eq!(median(&[-1.7e308, 1.7e308]), Some(0.0));
        assert!((sd(&[1e-200, 3e-200]).unwrap() / 2f64.sqrt() / 1e-200 - 1.0).abs() < 1e-14);
        assert!((sd(&[1e200, 3e200]).unwrap() / 2f64.sqrt() / 1e200 - 1.0).abs() < 1e-14);
        assert_eq!(sd(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]), Some(1.0));
    }

    #[test]
    fn quantiles_interpolate() {
        let values = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 1.0), Some(50.0));
        assert!((quantile(&values, 0.95).unwrap() - 48.0).abs() < 1e-12);
    }
}
