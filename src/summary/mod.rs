//! Summaries: one number a trial and metric.
//!
//! A series `memory.used` gives, over the workload phase (over everything when the phases are not known):
//!
//! | summary | meaning |
//! |---|---|
//! | `memory.used.peak` | largest sample |
//! | `memory.used.median` | median |
//! | `memory.used.p95` | 95th percentile (linear between samples) |
//! | `memory.used.mean` | mean |
//! | `memory.used.idle` | median of the idle phase, when there is one |
//! | `memory.used.rise` | peak minus idle, when there is an idle phase |
//!
//! A counter such as `vmstat.pgfault` has only `.peak`: how much it grew while the workload ran.
//!
//! Single values (a udev unit's time at a boot) are their own summary, and stand for a series' summary of the
//! same name: an exact published peak counts, not the peak of a digitised plot.

pub mod curve;
pub mod peak;
pub mod quantiles;
pub mod stream;

use std::collections::HashMap;

use crate::experiment::metrics;
use crate::record::{Record, State, Trial};
use crate::series::{Cell, Missed, Parsed, Phase, Series};
use crate::stats;
use crate::unit::Unit;

/// One number of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The trial's id.
    pub trial: String,
    /// Its condition.
    pub condition: String,
    /// Its parameters' values.
    pub cell: Cell,
    /// Its host.
    pub host: Option<String>,
    /// Its boot.
    pub boot_id: Option<String>,
    /// The trial whose figures it repeats.
    pub duplicate_of: Option<String>,
    /// Metric, such as `memory.used.peak`.
    pub metric: String,
    /// Unit of `value`.
    pub unit: Unit,
    /// The number: the first, when the trial has several for the metric.
    pub value: f64,
    /// How many further numbers the trial has for the metric. They do not count.
    pub further: usize,
    /// Share of the samples behind `value` that were due and not taken, 0 to 1.
    pub missed_share: f64,
}

impl Record {
    /// Summaries of every complete trial, in the plan's order. Others are left out: part of a trial has no peak. So are
    /// those with a raw file that is missing or cannot be read, which [`Record::damage`] names.
    pub fn summaries(&self) -> Vec<Summary> {
        let mut rows = Vec::new();
        for trial in &self.manifest().trials {
            if trial.state == State::Complete
                && let Ok(parsed) = self.parse(trial)
            {
                rows.extend(summarise(trial, &parsed));
            }
        }
        rows
    }
}

/// Summaries of one trial.
pub fn summarise(trial: &Trial, parsed: &Parsed) -> Vec<Summary> {
    let row = |metric: String, unit: &Unit, value: f64| Summary {
        trial: trial.id.clone(),
        condition: trial.condition.clone(),
        cell: trial.cell.clone(),
        host: trial.host.clone(),
        boot_id: trial.boot_id.clone(),
        duplicate_of: trial.duplicate_of.clone(),
        metric,
        unit: unit.clone(),
        value,
        further: 0,
        missed_share: 0.0,
    };
    let mut rows: Vec<Summary> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for value in &parsed.values {
        match index.get(&value.metric) {
            Some(first) => rows[*first].further += 1,
            None => {
                index.insert(value.metric.clone(), rows.len());
                rows.push(row(value.metric.clone(), &value.unit, value.value));
            }
        }
    }
    let exact = rows.len();
    for series in &parsed.series {
        let missed_share = missed_share(series, parsed);
        for (suffix, value) in summaries_of(series, trial) {
            let metric = format!("{}.{suffix}", series.metric);
            match index.get(&metric) {
                // An exact value stands for the series' summary, which is no second one.
                Some(first) if *first < exact => {}
                Some(first) => rows[*first].further += 1,
                None => {
                    index.insert(metric.clone(), rows.len());
                    rows.push(Summary {
                        missed_share,
                        ..row(metric, &series.unit, value)
                    });
                }
            }
        }
    }
    rows
}

/// What the series' monitor missed.
fn missed_share(series: &Series, parsed: &Parsed) -> f64 {
    let monitor = metrics::series(&series.metric).map(|metric| metric.monitor.name());
    let missed = parsed
        .missed
        .iter()
        .find(|m| Some(m.monitor.as_str()) == monitor);
    missed.map_or(0.0, Missed::share)
}

fn summaries_of(series: &Series, trial: &Trial) -> Vec<(&'static str, f64)> {
    let work = over_workload(series, trial);
    let idle = span(trial, Phase::Idle)
        .map(|span| within(series, span))
        .and_then(|values| stats::median(&values));
    let peak = stats::max(&work);
    let rise = peak.zip(idle).map(|(peak, idle)| peak - idle);
    let known = metrics::series(&series.metric);
    let has =
        |name: &str| known.is_none_or(|metric| metric.summaries().iter().any(|s| s.name == name));
    [
        ("peak", peak),
        ("median", stats::median(&work)),
        ("p95", stats::quantile(&work, 0.95)),
        ("mean", stats::mean(&work)),
        ("idle", idle),
        ("rise", rise),
    ]
    .into_iter()
    .filter(|(name, _)| has(name))
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// The samples of the workload phase; all when the phases are not known.
pub(crate) fn over_workload(series: &Series, trial: &Trial) -> Vec<f64> {
    match span(trial, Phase::Workload) {
        Some(span) => within(series, span),
        None => series.values.clone(),
    }
}

fn span(trial: &Trial, phase: Phase) -> Option<(f64, f64)> {
    trial
        .phases
        .iter()
        .find(|p| p.phase == phase)
        .map(|p| (p.start_s, p.end_s))
}

fn within(series: &Series, (start_s, end_s): (f64, f64)) -> Vec<f64> {
    series
        .time_s
        .iter()
        .zip(&series.values)
        .filter(|(t, _)| (start_s..=end_s).contains(*t))
        .map(|(_, v)| *v)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{PhaseSpan, Value};

    fn trial(phases: &[(Phase, f64, f64)]) -> Trial {
        let mut trial = Trial::new("t01", "before");
        trial.phases = phases
            .iter()
            .map(|&(phase, start_s, end_s)| PhaseSpan {
                phase,
                start_s,
                end_s,
            })
            .collect();
        trial
    }

    fn series() -> Series {
        Series {
            metric: "memory.used".into(),
            unit: Unit::KiB,
            time_s: vec![-2.0, -1.0, 0.0, 1.0, 2.0, 3.0],
            values: vec![100.0, 102.0, 110.0, 150.0, 140.0, 400.0],
            quantum: None,
        }
    }

    fn values(rows: &[Summary]) -> Vec<(&str, f64)> {
        rows.iter().map(|r| (r.metric.as_str(), r.value)).collect()
    }

    #[test]
    fn the_peak_is_the_workloads_and_the_rise_starts_from_idle() {
        let trial = trial(&[
            (Phase::Idle, -2.0, 0.0),
            (Phase::Workload, 0.0, 2.0),
            (Phase::Settle, 2.0, 3.0),
        ]);
        let parsed = Parsed {
            series: vec![series()],
            ..Parsed::default()
        };
        let rows = summarise(&trial, &parsed);
        let find = |name: &str| rows.iter().find(|r| r.metric == name).unwrap().value;
        assert_eq!(find("memory.used.peak"), 150.0);
        assert_eq!(find("memory.used.median"), 140.0);
        assert_eq!(find("memory.used.idle"), 102.0);
        assert_eq!(find("memory.used.rise"), 48.0);
    }

    #[test]
    fn without_phases_all_samples_count_and_there_is_no_rise() {
        let parsed = Parsed {
            series: vec![series()],
            ..Parsed::default()
        };
        let rows = summarise(&trial(&[]), &parsed);
        assert_eq!(values(&rows)[0], ("memory.used.peak", 400.0));
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn an_exact_value_stands_for_the_series_summary() {
        let parsed = Parsed {
            series: vec![series()],
            values: vec![Value {
                metric: "memory.used.peak".into(),
                unit: Unit::KiB,
                value: 397.0,
            }],
            ..Parsed::default()
        };
        let rows = summarise(&trial(&[]), &parsed);
        assert_eq!(values(&rows)[0], ("memory.used.peak", 397.0));
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn a_counter_has_a_peak_only_and_missed_samples_are_known() {
        let counter = Series {
            metric: "vmstat.pgfault".into(),
            ..series()
        };
        let missed = |monitor: &str, count| Missed {
            monitor: monitor.into(),
            count,
            taken: 6,
        };
        let parsed = Parsed {
            series: vec![series(), counter],
            missed: vec![missed("meminfo", 2), missed("other", 6)],
            ..Parsed::default()
        };
        let rows = summarise(&trial(&[]), &parsed);
        let shares: Vec<_> = rows
            .iter()
            .map(|r| (r.metric.as_str(), r.missed_share))
            .collect();
        assert_eq!(shares[0], ("memory.used.peak", 0.25));
        assert_eq!(shares[4..], [("vmstat.pgfault.peak", 0.0)]);
    }

    #[test]
    fn a_trial_gives_one_value_a_metric_and_counts_the_others() {
        let value = |value: f64| Value {
            metric: "a.service".into(),
            unit: Unit::Second,
            value,
        };
        let parsed = Parsed {
            series: vec![series(), series()],
            values: vec![value(1.0), value(2.0), value(3.0)],
            ..Parsed::default()
        };
        let rows = summarise(&trial(&[]), &parsed);
        assert_eq!(
            values(&rows)[..2],
            [("a.service", 1.0), ("memory.used.peak", 400.0)]
        );
        assert_eq!((rows.len(), rows[0].further, rows[1].further), (5, 2, 1));
    }
}
