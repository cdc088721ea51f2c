//! A record's comparisons.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::series::of_samples;
use super::{Comparison, Layout, Options, SeriesTrial, compare_summaries};
use crate::error::Result;
use crate::parse::{agent, no_such};
use crate::record::{Record, Trial};
use crate::series::{Parsed, Phase};
use crate::summary::stream::Stream;
use crate::summary::{Summary, over_workload};

/// What of a record is compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// Count a trial that repeats another one's figures as one of its own.
    pub keep_duplicates: bool,
    /// Further metrics. One that was not named before the run is compared with a warning; `memory.used` stands for each of
    /// its summaries.
    pub also: &'a [String],
    /// The reference condition, instead of the record's first.
    pub against: Option<&'a str>,
}

/// Comparisons of one record; those of the primary metric come first. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct Comparisons(Vec<Comparison>);

impl Comparisons {
    /// Those of one metric, in the order of cells.
    pub fn of(&self, metric: &str) -> Comparisons {
        self.iter()
            .filter(|c| c.metric == metric)
            .cloned()
            .collect()
    }
}

impl Deref for Comparisons {
    type Target = [Comparison];
    fn deref(&self) -> &[Comparison] {
        &self.0
    }
}

impl FromIterator<Comparison> for Comparisons {
    fn from_iter<T: IntoIterator<Item = Comparison>>(comparisons: T) -> Comparisons {
        let mut all: Vec<Comparison> = comparisons.into_iter().collect();
        all.sort_by_key(|c| !c.primary);
        Comparisons(all)
    }
}

impl Record {
    /// The metrics that were named before the run (all, when there were no secondary ones) in each cell, the first
    /// condition against each other one, under the assumption `normal`; a boot that is there twice counts once.
    ///
    /// # Errors
    /// None for a record as it was opened; trials whose files cannot be read are left out, and [`Record::damage`] names
    /// them.
    pub fn compare(&self) -> Result<Comparisons> {
        self.compare_with(&Options::default(), &Choice::default())
    }

    /// As [`Record::compare`], with the assumption stated and what to compare chosen.
    ///
    /// # Errors
    /// `Usage` when there is no such condition.
    pub fn compare_with(&self, options: &Options, choice: &Choice<'_>) -> Result<Comparisons> {
        let manifest = self.manifest();
        let mut summaries = self.summaries();
        let asked = |metric: &str| choice.also.iter().any(|name| is_of(metric, name));
        // What measuring took is no result of the experiment, unless somebody asks.
        summaries.retain(|summary| !agent::is_own(&summary.metric) || asked(&summary.metric));
        let late = self.named_late(&summaries, choice.also);
        let mut conditions = manifest.conditions.clone();
        if let Some(against) = choice.against {
            let Some(at) = conditions.iter().position(|name| name == against) else {
                return Err(no_such("condition", against, &conditions).at(self.dir()));
            };
            let reference = conditions.remove(at);
            conditions.insert(0, reference);
        }
        let mut metrics = manifest.secondary.clone();
        metrics.extend(late.iter().map(|metric| (*metric).to_owned()));
        let layout = Layout {
            metrics: &metrics,
            conditions: &conditions,
            primary: manifest.primary.as_deref(),
            replication: manifest.replication,
            keep_duplicates: choice.keep_duplicates,
        };
        let mut comparisons = compare_summaries(&summaries, &layout, options);
        for comparison in &mut comparisons {
            if late.contains(comparison.metric.as_str()) || agent::is_own(&comparison.metric) {
                comparison.warnings.push(
                    "this metric was not named before the run: what it shows is a reason for another run, no finding"
                        .into(),
                );
            }
        }
        self.warn_of_samples(&mut comparisons, &summaries)?;
        // Pair by pair; metrics as they were named, others as they come.
        let place = |metric: &str| metrics.iter().position(|named| named == metric);
        let pair = |condition: &str| conditions.iter().position(|name| name == condition);
        comparisons.sort_by_key(|c| {
            (
                pair(&c.condition_b),
                place(&c.metric).unwrap_or(metrics.len()),
            )
        });
        Ok(comparisons.into_iter().collect())
    }

    /// Metrics that are asked for now, and were not named while others were.
    fn named_late<'a>(&self, summaries: &'a [Summary], also: &[String]) -> BTreeSet<&'a str> {
        let manifest = self.manifest();
        if manifest.secondary.is_empty() {
            return BTreeSet::new();
        }
        let named = manifest.secondary.iter().chain(&manifest.primary);
        let named: BTreeSet<&str> = named.map(String::as_str).collect();
        let asked = |metric: &str| also.iter().any(|name| is_of(metric, name));
        let metrics = summaries.iter().map(|summary| summary.metric.as_str());
        metrics
            .filter(|metric| asked(metric) && !named.contains(metric))
            .collect()
    }

    /// Where one trial stands against one, what is said of two files of samples goes for its samples too.
    fn warn_of_samples(&self, comparisons: &mut [Comparison], summaries: &[Summary]) -> Result<()> {
        let mut parsed: BTreeMap<&str, Parsed> = BTreeMap::new();
        for comparison in comparisons {
            let single = comparison.a.n == 1 && comparison.b.n == 1;
            let Some((series, "peak" | "median" | "p95" | "mean")) =
                comparison.metric.rsplit_once('.').filter(|_| single)
            else {
                continue;
            };
            let conditions = [&comparison.condition_a, &comparison.condition_b];
            let trials = conditions.map(|c| self.trial_of(comparison, c, summaries));
            let [Some(a), Some(b)] = trials else {
                continue;
            };
            for trial in [a, b] {
                if !parsed.contains_key(trial.id.as_str()) {
                    parsed.insert(&trial.id, self.parse(trial)?);
                }
            }
            let samples = |trial: &Trial| {
                let parsed = parsed.get(trial.id.as_str())?;
                samples_of(trial, parsed, series, comparison)
            };
            let idle = [a, b]
                .iter()
                .all(|trial| trial.phases.iter().any(|p| p.phase == Phase::Idle));
            if let (Some(a), Some(b)) = (samples(a), samples(b)) {
                let said = of_samples(&comparison.metric, &comparison.unit, &a, &b, idle);
                comparison.warnings.extend(said);
            }
        }
        Ok(())
    }

    /// The one trial of a condition that counts in the comparison.
    fn trial_of(
        &self,
        comparison: &Comparison,
        condition: &str,
        summaries: &[Summary],
    ) -> Option<&Trial> {
        let of_it = |s: &&Summary| {
            s.condition == condition && s.metric == comparison.metric && s.cell == comparison.cell
        };
        let counted = summaries
            .iter()
            .filter(of_it)
            .min_by_key(|s| s.duplicate_of.is_some())?;
        let mut trials = self.manifest().trials.iter();
        trials.find(|trial| trial.id == counted.trial)
    }
}

/// Whether a metric is the one of this name, or a summary of the series of this name.
pub(crate) fn is_of(metric: &str, name: &str) -> bool {
    metric == name
        || metric
            .rsplit_once('.')
            .is_some_and(|(series, _)| series == name)
}

/// A trial's samples of one series, in the comparison's unit.
fn samples_of(
    trial: &Trial,
    parsed: &Parsed,
    series: &str,
    comparison: &Comparison,
) -> Option<SeriesTrial> {
    let series = parsed.series.iter().find(|s| s.metric == series)?;
    let factor = series.unit.factor_to(&comparison.unit)?;
    let mut stream = Stream::default();
    for value in over_workload(series, trial) {
        stream.push(value);
    }
    let mut summary = stream.finish()?.scaled(factor);
    // A record's median and 95th percentile are of all samples.
    summary.quantile_error = 0.0;
    Some(SeriesTrial {
        condition: trial.condition.clone(),
        summary,
        quantum: series.quantum.map(|quantum| quantum * factor),
    })
}
