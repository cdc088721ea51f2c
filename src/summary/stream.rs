//! Summary of one trial's samples in one pass, in bounded memory.

use crate::summary::curve::Curve;
use crate::summary::quantiles::Quantiles;

/// Gathers a summary sample by sample; holds at most 60 MiB however long the stream is.
#[derive(Debug, Default)]
pub struct Stream {
    count: u64,
    first: f64,
    last: f64,
    min: f64,
    max: f64,
    sums: Sums,
    quantiles: Quantiles,
    curve: Curve,
}

/// Sums over y = value - first value, from which mean and lag-1 autocorrelation follow.
#[derive(Debug, Default)]
struct Sums {
    y: Compensated,
    y_squared: Compensated,
    y_times_former: Compensated,
}

/// The summary of one trial's samples.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamSummary {
    /// Number of samples.
    pub count: u64,
    /// The first sample.
    pub first: f64,
    /// The smallest.
    pub min: f64,
    /// The greatest.
    pub peak: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// By how much of their size `median` and `p95` may be off; 0 when they are exact.
    pub quantile_error: f64,
    /// Lag-1 autocorrelation; none when all samples are equal or there are fewer than three.
    pub lag1: Option<f64>,
    /// Points to draw: place in the stream, from 0, and value.
    pub curve: Vec<(u64, f64)>,
}

impl Stream {
    /// Takes the next sample, a finite number.
    pub fn push(&mut self, value: f64) {
        if self.count == 0 {
            (self.first, self.last, self.min, self.max) = (value, value, value, value);
        }
        let (y, former) = (value - self.first, self.last - self.first);
        self.sums.y.add(y);
        self.sums.y_squared.add(y * y);
        if self.count > 0 {
            self.sums.y_times_former.add(y * former);
        }
        self.count += 1;
        self.last = value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.quantiles.push(value);
        self.curve.push(value);
    }

    /// The summary; none when there was no sample.
    pub fn finish(self) -> Option<StreamSummary> {
        let [median, p95] = self.quantiles.at([0.5, 0.95])?;
        Some(StreamSummary {
            count: self.count,
            first: self.first,
            min: self.min,
            peak: self.max,
            median,
            p95,
            mean: self.first + self.sums.y.value() / self.count as f64,
            quantile_error: self.quantiles.error(),
            lag1: self.lag1(),
            curve: self.curve.points(),
        })
    }

    /// Sum of (y_i - m)(y_i+1 - m) over sum of (y_i - m)^2, as Box and Jenkins define it.
    fn lag1(&self) -> Option<f64> {
        if self.count < 3 || self.min == self.max {
            return None;
        }
        let n = self.count as f64;
        let sum = self.sums.y.value();
        let mean = sum / n;
        let squares = self.sums.y_squared.value() - n * mean * mean;
        // The first y is 0, so the sum without the first is the whole sum.
        let products = self.sums.y_times_former.value()
            - mean * (2.0 * sum - (self.last - self.first))
            + (n - 1.0) * mean * mean;
        let lag1 = products / squares;
        (squares > 0.0 && lag1.is_finite()).then(|| lag1.clamp(-1.0, 1.0))
    }
}

impl StreamSummary {
    /// The number of independent samples that these are worth: n (1 - r) / (1 + r), at most n.
    /// Source: Zwiers and von Storch (1995), Journal of Climate 8, for a first-order autoregression.
    pub fn effective_count(&self) -> Option<f64> {
        let n = self.count as f64;
        self.lag1.map(|r| (n * (1.0 - r) / (1.0 + r)).clamp(1.0, n))
    }

    /// Every value times `factor`: the same samples in another unit.
    pub fn scaled(mut self, factor: f64) -> Self {
        for value in [
            &mut self.first,
            &mut self.min,
            &mut self.peak,
            &mut self.median,
            &mut self.p95,
            &mut self.mean,
        ] {
            *value *= factor;
        }
        self.curve
            .iter_mut()
            .for_each(|(_, value)| *value *= factor);
        self
    }
}

/// A sum whose rounding errors are carried along: Neumaier (1974), ZAMM 54.
#[derive(Debug, Default)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - sum) + value
        } else {
            (value - sum) + self.sum
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(values: &[f64]) -> StreamSummary {
        let mut stream = Stream::default();
        values.iter().for_each(|&value| stream.push(value));
        stream.finish().unwrap()
    }

    #[test]
    fn a_short_series() {
        let s = summary(&[10.0, 30.0, 20.0, 20.0]);
        assert_eq!(
            (s.first, s.min, s.peak, s.median, s.mean),
            (10.0, 10.0, 30.0, 20.0, 20.0)
        );
        // Deviations -10, 10, 0, 0: products -100 over squares 200.
        assert_eq!(s.lag1, Some(-0.5));
        assert_eq!(s.effective_count(), Some(4.0));
        assert!(Stream::default().finish().is_none());
    }

    #[test]
    fn equal_samples_have_no_autocorrelation() {
        assert_eq!(summary(&[5.0; 100]).lag1, None);
    }

    #[test]
    fn a_small_part_is_not_lost_in_a_large_sum() {
        let mut values = vec![0.1; 1_000_000];
        values[0] = 1e12;
        let exact = (1e12 + 99_999.9) / 1e6;
        assert!((summary(&values).mean - exact).abs() < 1e-9 * exact);
    }

    proptest! {
        #[test]
        fn as_the_definition_says(values in prop::collection::vec(1e5..6e5, 3..100)) {
            let s = summary(&values);
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            prop_assert!((s.mean - mean).abs() < 1e-6);
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
            prop_assert!((s.lag1.unwrap() - products / squares).abs() < 1e-6);
        }

        #[test]
        fn no_finite_values_make_it_panic(values in prop::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 1..50)) {
            let s = summary(&values);
            prop_assert!(s.lag1.is_none_or(|r| (-1.0..=1.0).contains(&r)));
        }
    }
}
