//! Two trials' series, compared by their summaries: n = 1 each, whatever the number of samples.

use crate::ascii::excerpt;
use crate::compare::{Comparison, Options, Sample, adjust, compare};
use crate::series::Cell;
use crate::summary::stream::StreamSummary;
use crate::unit::{Unit, significant};

/// Of fewer samples the autocorrelation is a guess.
const FEWEST_SAMPLES: u64 = 10;

/// A weaker likeness of neighbours, or one that independent samples show too (2 / sqrt(n)), is not worth a sentence.
const LEAST_LAG1: f64 = 0.3;

/// One trial: a condition and what its samples come to.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesTrial {
    /// The condition's name.
    pub condition: String,
    /// Its samples, in the comparison's unit.
    pub summary: StreamSummary,
    /// Full width of what a sample may be off by, in the same unit.
    pub quantum: Option<f64>,
}

/// Compares peak, median, 95th percentile and mean of two trials: `<metric>.peak` first, then the others.
/// No test is made. The peak's warnings tell whether its gap already stands in the first sample.
pub fn compare_series(
    metric: &str,
    unit: &Unit,
    a: &SeriesTrial,
    b: &SeriesTrial,
    options: &Options,
) -> Vec<Comparison> {
    type Pick = fn(&StreamSummary) -> f64;
    let summaries: [(&str, Pick); 4] = [
        ("peak", |s| s.peak),
        ("median", |s| s.median),
        ("p95", |s| s.p95),
        ("mean", |s| s.mean),
    ];
    let mut comparisons: Vec<Comparison> = summaries
        .iter()
        .map(|(summary, pick)| {
            let sample = |trial: &SeriesTrial| Sample {
                condition: trial.condition.clone(),
                values: vec![pick(&trial.summary)],
            };
            let metric = format!("{metric}.{summary}");
            compare(&metric, unit, &Cell::new(), &sample(a), &sample(b), options)
        })
        .collect();
    adjust(&mut comparisons);
    for comparison in &mut comparisons {
        let said = of_samples(&comparison.metric, unit, a, b, false);
        comparison.warnings.extend(said);
    }
    comparisons
}

/// What the samples behind a peak, median, 95th percentile or mean of two single trials give reason to say.
/// Without an idle phase the peak's gap may come from where the trials started.
pub(super) fn of_samples(
    metric: &str,
    unit: &Unit,
    a: &SeriesTrial,
    b: &SeriesTrial,
    idle: bool,
) -> Vec<String> {
    let summary = metric.rsplit_once('.').map_or("", |(_, summary)| summary);
    let said = match summary {
        "peak" if !idle => start(unit, a, b),
        "median" | "p95" => approximate(a, b),
        _ => None,
    };
    let said = said.into_iter().chain(quantised(unit, a, b));
    said.chain(dependent(a, b)).collect()
}

/// Whether the peaks' gap is there from the start.
///
/// It is when the first samples differ in the same direction by at least half of what the peaks differ by:
/// then less than half of the gap arose while the samples were taken.
fn start(unit: &Unit, a: &SeriesTrial, b: &SeriesTrial) -> Option<String> {
    let (x, y) = (&a.summary, &b.summary);
    let (first, peak) = (y.first - x.first, y.peak - x.peak);
    if peak == 0.0 || x.count < 2 || y.count < 2 {
        return None;
    }
    let rises = format!(
        "the rise from the first sample to the peak is {} in {} and {} in {}",
        unit.show(x.peak - x.first),
        name(a),
        unit.show(y.peak - y.first),
        name(b)
    );
    Some(if first * peak.signum() >= 0.5 * peak.abs() {
        format!(
            "the gap already stands in the first sample: {} there, {} at the peaks; so it may come from the starting point, not from the workload; {rises}; sample an idle phase before the workload and compare the rises",
            unit.show(first.abs()),
            unit.show(peak.abs())
        )
    } else {
        format!(
            "the first samples differ by {}, the peaks by {}; {rises}",
            unit.show_signed(first),
            unit.show_signed(peak)
        )
    })
}

fn approximate(a: &SeriesTrial, b: &SeriesTrial) -> Option<String> {
    let error = a.summary.quantile_error.max(b.summary.quantile_error);
    (error > 0.0).then(|| {
        format!(
            "too many distinct values to keep: median and p95 may be off by {} % of their size",
            significant(error * 100.0)
        )
    })
}

fn quantised(unit: &Unit, a: &SeriesTrial, b: &SeriesTrial) -> Option<String> {
    let off = (a.quantum.unwrap_or(0.0) + b.quantum.unwrap_or(0.0)) / 2.0;
    (off > 0.0).then(|| {
        format!(
            "the samples were read in steps: a difference of samples may be off by up to {}",
            unit.show(off)
        )
    })
}

/// How few independent samples the neighbours' likeness leaves, where it leaves clearly fewer.
fn dependent(a: &SeriesTrial, b: &SeriesTrial) -> Option<String> {
    let worth: Vec<String> = [a, b].into_iter().filter_map(worth).collect();
    (!worth.is_empty()).then(|| {
        format!(
            "{}; a condition's samples are all of one trial, and only more trials make n larger",
            worth.join(", ")
        )
    })
}

fn worth(trial: &SeriesTrial) -> Option<String> {
    let StreamSummary { count, lag1, .. } = trial.summary;
    let (lag1, worth) = (lag1?, trial.summary.effective_count()?);
    let chance = 2.0 / (count as f64).sqrt();
    (count >= FEWEST_SAMPLES && lag1 > LEAST_LAG1.max(chance)).then(|| {
        format!(
            "the {count} samples of {} are worth about {} independent ones (lag-1 autocorrelation {lag1:.2})",
            name(trial),
            worth.round()
        )
    })
}

fn name(trial: &SeriesTrial) -> String {
    excerpt(&trial.condition, 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::stream::Stream;

    fn trial(condition: &str, values: &[f64]) -> SeriesTrial {
        let mut stream = Stream::default();
        values.iter().for_each(|&value| stream.push(value));
        SeriesTrial {
            condition: condition.into(),
            summary: stream.finish().unwrap(),
            quantum: None,
        }
    }

    fn start_of(a: &[f64], b: &[f64]) -> Option<String> {
        start(&Unit::KiB, &trial("before", a), &trial("after", b))
    }

    #[test]
    fn a_gap_of_half_the_peaks_gap_stands_from_the_start() {
        let said = start_of(&[500.0, 520.0], &[450.0, 420.0]).unwrap();
        assert!(said.starts_with("the gap already stands in the first sample: 50.0 KiB there"));
        assert!(said.contains("70.0 KiB at the peaks"));
        assert!(said.contains("20.0 KiB in before and 0 KiB in after"));
    }

    #[test]
    fn a_gap_that_arises_later_or_turns_round_does_not() {
        let later = start_of(&[500.0, 600.0], &[490.0, 500.0]).unwrap();
        assert!(later.starts_with("the first samples differ by -10.0 KiB, the peaks by -100 KiB"));
        let turned = start_of(&[500.0, 600.0], &[590.0, 500.0]).unwrap();
        assert!(turned.starts_with("the first samples differ"));
        assert!(turned.contains("the rise from the first sample to the peak is 100 KiB in before"));
        assert_eq!(start_of(&[1.0, 2.0], &[1.5, 2.0]), None);
        assert_eq!(start_of(&[1.0], &[2.0]), None);
    }

    #[test]
    fn likeness_of_neighbours_is_told_when_it_matters() {
        let wave: Vec<f64> = (0..40).map(|i| f64::from(i / 10)).collect();
        let restless: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11)).collect();
        let said = |a: &[f64], b: &[f64]| dependent(&trial("before", a), &trial("after", b));
        let both = said(&wave, &wave).unwrap();
        assert!(both.starts_with("the 40 samples of before are worth about"));
        assert!(both.contains("the 40 samples of after"));
        let one = said(&restless, &wave).unwrap();
        assert!(one.contains("of after") && !one.contains("of before"));
        assert_eq!(said(&restless, &restless), None);
        assert_eq!(said(&[1.0, 2.0, 3.0], &[1.0, 1.0, 3.0, 3.0]), None);
    }

    #[test]
    fn four_summaries_and_no_test() {
        let (a, b) = (
            trial("before", &[1.0, 4.0, 2.0]),
            trial("after", &[1.0, 3.0, 2.0]),
        );
        let comparisons = compare_series("used", &Unit::KiB, &a, &b, &Options::default());
        let found: Vec<_> = comparisons
            .iter()
            .map(|c| (c.metric.as_str(), c.difference.unwrap()))
            .collect();
        assert_eq!(found[0], ("used.peak", -1.0));
        assert_eq!(found[1], ("used.median", 0.0));
        assert!(comparisons.iter().all(|c| c.p().is_none() && c.a.n == 1));
    }
}
