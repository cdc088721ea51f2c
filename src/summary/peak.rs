//! What a slower sampling would have seen of a peak.

use crate::series::Series;
use crate::stats;

/// How far the peaks that a slower sampling sees fall short of the peak of all samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// Time between the slower samples, seconds.
    pub period_s: f64,
    /// How many phases the slower sampling can have: first samples that it can begin with.
    pub phases: usize,
    /// The peak of all samples.
    pub peak: f64,
    /// Smallest shortfall over the phases, in the series' unit.
    pub min: f64,
    /// Median shortfall.
    pub median: f64,
    /// Largest shortfall.
    pub max: f64,
}

/// The shortfall of the peak at this period, over every phase.
///
/// A phase begins with one of the samples of the first period and from there takes, every `period_s`, the sample that
/// lies nearest; gaps in the series so do not shift it. `None` without samples, with a period that is not above 0, or
/// when the series is shorter than one period: then some phases would see one sample, and others none.
///
/// ```
/// use ktrial::series::Series;
/// use ktrial::summary::peak::shortfall;
/// let (time_s, values) = (vec![0.0, 0.1, 0.2, 0.3], vec![1.0, 2.0, 9.0, 3.0]);
/// let series = Series { time_s, values, ..Series::default() };
/// // One phase sees 1 and 9, the other 2 and 3.
/// let fifth = shortfall(&series, 0.2).unwrap();
/// assert_eq!((fifth.phases, fifth.min, fifth.median, fifth.max), (2, 0.0, 3.0, 6.0));
/// ```
pub fn shortfall(series: &Series, period_s: f64) -> Option<Shortfall> {
    let samples: Vec<(f64, f64)> = series
        .time_s
        .iter()
        .copied()
        .zip(series.values.iter().copied())
        .collect();
    let ((first_s, _), (last_s, _)) = (*samples.first()?, *samples.last()?);
    let long_enough = period_s > 0.0 && last_s - first_s >= period_s * (1.0 - TOLERANCE);
    let peak = stats::max(&series.values).filter(|_| long_enough)?;
    let begins = samples
        .iter()
        .take_while(|(time_s, _)| time_s - first_s < period_s * (1.0 - TOLERANCE));
    let shortfalls: Vec<f64> = begins
        .filter_map(|(begin_s, _)| Some(peak - peak_of_every(&samples, *begin_s, period_s)?))
        .collect();
    Some(Shortfall {
        period_s,
        phases: shortfalls.len(),
        peak,
        min: stats::min(&shortfalls)?,
        median: stats::median(&shortfalls)?,
        max: stats::max(&shortfalls)?,
    })
}

/// Times are sums of binary fractions, and samples come a little late: so much of a period makes no difference.
const TOLERANCE: f64 = 1e-3;

/// The peak of the samples nearest to `begin_s`, and from there to every further `period_s`.
fn peak_of_every(samples: &[(f64, f64)], begin_s: f64, period_s: f64) -> Option<f64> {
    let last_s = samples.last()?.0 + period_s * TOLERANCE;
    let mut rest = samples;
    let mut peak: Option<f64> = None;
    let mut due_s = begin_s;
    for step in 1u32.. {
        if due_s > last_s {
            break;
        }
        // The last sample before the time and the first one from it on.
        let after = rest.partition_point(|(time_s, _)| *time_s < due_s);
        rest = rest.get(after.saturating_sub(1)..)?;
        let two = rest.get(..2).unwrap_or(rest);
        let distance = |sample: &&(f64, f64)| (sample.0 - due_s).abs();
        let nearest = two
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        peak = Some(peak.map_or(nearest.1, |peak| peak.max(nearest.1)));
        due_s = begin_s + f64::from(step) * period_s;
    }
    peak
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 10 s at 100 Hz: a ramp with one spike of a single sample.
    fn spike() -> Series {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[500] = 5000.0;
        Series {
            time_s: (0..1000).map(|i| 3.0 + f64::from(i) / 100.0).collect(),
            values,
            ..Series::default()
        }
    }

    #[test]
    fn one_phase_of_a_hundred_sees_a_spike_of_one_sample() {
        let at_1_hz = shortfall(&spike(), 1.0).unwrap();
        assert_eq!(
            (at_1_hz.phases, at_1_hz.peak, at_1_hz.min),
            (100, 5000.0, 0.0)
        );
        // The phase that begins with the first sample takes 500, the others end with 900 + phase.
        assert_eq!(at_1_hz.max, 5000.0 - 901.0);
        assert!((4000.0..4100.0).contains(&at_1_hz.median));
        let at_100_hz = shortfall(&spike(), 0.01).unwrap();
        assert_eq!((at_100_hz.phases, at_100_hz.max), (1, 0.0));
    }

    #[test]
    fn a_gap_does_not_shift_the_phases() {
        let mut series = spike();
        // Samples 100 to 149 were missed; the spike is still what phase 0 sees.
        series.time_s.drain(100..150);
        series.values.drain(100..150);
        let at_1_hz = shortfall(&series, 1.0).unwrap();
        assert_eq!((at_1_hz.phases, at_1_hz.min), (100, 0.0));
        let first = peak_of_every(&[(0.0, 1.0), (0.9, 2.0), (1.6, 7.0), (2.1, 3.0)], 0.0, 1.0);
        assert_eq!(first, Some(3.0));
    }

    #[test]
    fn what_has_no_period_has_no_shortfall() {
        let series = spike();
        assert_eq!(shortfall(&series, 0.0), None);
        assert_eq!(shortfall(&series, f64::NAN), None);
        assert_eq!(shortfall(&series, 11.0), None);
        assert_eq!(shortfall(&Series::default(), 1.0), None);
    }

    proptest! {
        #[test]
        fn a_shortfall_is_never_negative_and_in_order(
            values in proptest::collection::vec(-1e9f64..1e9, 2..300), period in 1usize..40,
        ) {
            let time_s = (0..values.len()).map(|i| i as f64 * 0.01).collect();
            let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                - values.iter().copied().fold(f64::INFINITY, f64::min);
            let count = values.len();
            let series = Series { time_s, values, ..Series::default() };
            match shortfall(&series, period as f64 * 0.01) {
                Some(s) => {
                    prop_assert!(0.0 <= s.min && s.min <= s.median && s.median <= s.max && s.max <= range);
                    prop_assert_eq!(s.min, 0.0, "some phase meets the peak");
                    prop_assert_eq!(s.phases, period.min(count));
                }
                None => prop_assert!(count <= period),
            }
        }
    }
}
