//! From summaries to comparisons: every metric and cell, the first condition against each other one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::warnings::quoted;
use super::{Comparison, Options, Sample, adjust, compare_trials};
use crate::record::Replication;
use crate::series::Cell;
use crate::summary::Summary;
use crate::unit::Unit;

/// The largest share of missed samples of a trial that is not worth a sentence.
const MISSED_SHARE: f64 = 0.01;

/// What a record says of its design, as far as a comparison needs it.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// Conditions in order; the first is the reference. A condition that is not here is not compared.
    pub conditions: &'a [String],
    /// The metric named before the run.
    pub primary: Option<&'a str>,
    /// The metrics that are compared; empty for all. The primary one always is.
    pub metrics: &'a [String],
    /// What is repeated independently.
    pub replication: Replication,
    /// Count a trial that repeats another one's figures as one of its own.
    pub keep_duplicates: bool,
}

/// Compares the first condition with each other one, for every metric and cell; adjusted by [`adjust`].
///
/// Metrics are in order of first appearance, cells in the order of their maps, conditions as in the layout.
/// A trial that repeats another one's figures counts once, unless the layout keeps duplicates; a warning names it.
/// Values in another unit of the same family are converted to the reference's; of another family they are left
/// out with a warning, and nothing is compared. A pair of arms without any value gives no comparison.
pub fn compare_summaries(
    summaries: &[Summary],
    layout: &Layout,
    options: &Options,
) -> Vec<Comparison> {
    let Some((reference, others)) = layout.conditions.split_first() else {
        return Vec::new();
    };
    let mut comparisons = Vec::new();
    for (metric, cells) in by_metric_and_cell(summaries) {
        let is_primary = layout.primary == Some(metric);
        if !is_primary && !layout.metrics.is_empty() && !layout.metrics.iter().any(|m| m == metric)
        {
            continue;
        }
        for (cell, rows) in cells {
            let a = Selected::new(&rows, reference, layout.keep_duplicates);
            for other in others {
                let b = Selected::new(&rows, other, layout.keep_duplicates);
                if !a.rows.is_empty() || !b.rows.is_empty() {
                    let mut comparison = compare_selected(metric, cell, &a, &b, layout, options);
                    comparison.primary = is_primary;
                    comparisons.push(comparison);
                }
            }
        }
    }
    adjust(&mut comparisons);
    comparisons
}

type Cells<'a> = BTreeMap<&'a Cell, Vec<&'a Summary>>;

fn by_metric_and_cell(summaries: &[Summary]) -> Vec<(&str, Cells<'_>)> {
    let mut metrics: Vec<(&str, Cells)> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    for summary in summaries {
        let at = *index.entry(&summary.metric).or_insert_with(|| {
            metrics.push((&summary.metric, Cells::new()));
            metrics.len() - 1
        });
        if let Some((_, cells)) = metrics.get_mut(at) {
            cells.entry(&summary.cell).or_default().push(summary);
        }
    }
    metrics
}

/// The summaries of one arm.
struct Selected<'a> {
    condition: &'a str,
    /// Those that count.
    rows: Vec<&'a Summary>,
    /// Trials that repeat another one's figures, whether they count or not.
    duplicates: Vec<&'a Summary>,
}

impl<'a> Selected<'a> {
    fn new(rows: &[&'a Summary], condition: &'a str, keep_duplicates: bool) -> Self {
        let rows: Vec<&Summary> = rows
            .iter()
            .copied()
            .filter(|s| s.condition == condition)
            .collect();
        let duplicates = rows
            .iter()
            .copied()
            .filter(|s| s.duplicate_of.is_some())
            .collect();
        let rows = if keep_duplicates { rows } else { once(rows) };
        Selected {
            condition,
            rows,
            duplicates,
        }
    }

    fn trials(&self) -> Vec<&'a str> {
        self.rows.iter().map(|s| s.trial.as_str()).collect()
    }

    /// The values in `unit`, and the first unit that cannot be turned into it.
    fn values_in(&self, unit: &Unit) -> Result<Vec<f64>, &Unit> {
        let converted = |s: &&'a Summary| match s.unit.factor_to(unit) {
            Some(factor) => Ok(s.value * factor),
            None => Err(&s.unit),
        };
        self.rows.iter().map(converted).collect()
    }

    /// Units other than `unit`, in order of their symbols.
    fn other_units(&self, unit: &Unit) -> BTreeSet<&str> {
        let units = self.rows.iter().map(|s| &s.unit);
        units.filter(|u| *u != unit).map(Unit::symbol).collect()
    }
}

/// Leaves out a duplicate whose original, or another duplicate of the same original, is there.
fn once(rows: Vec<&Summary>) -> Vec<&Summary> {
    let originals: HashMap<&str, Option<&str>> = rows
        .iter()
        .map(|s| (s.trial.as_str(), s.duplicate_of.as_deref()))
        .collect();
    // A duplicate's original may be a duplicate itself. A circle, which only a damaged record has, ends too.
    let root = |trial: &str| {
        let mut root = trial.to_owned();
        for _ in 0..originals.len() {
            match originals.get(root.as_str()) {
                Some(Some(original)) => root = (*original).to_owned(),
                _ => break,
            }
        }
        root
    };
    let mut seen: HashSet<String> = rows
        .iter()
        .filter(|s| s.duplicate_of.is_none())
        .map(|s| s.trial.clone())
        .collect();
    rows.into_iter()
        .filter(|s| s.duplicate_of.is_none() || seen.insert(root(&s.trial)))
        .collect()
}

fn compare_selected(
    metric: &str,
    cell: &Cell,
    a: &Selected,
    b: &Selected,
    layout: &Layout,
    options: &Options,
) -> Comparison {
    let unit = a.rows.first().or(b.rows.first()).map(|s| s.unit.clone());
    let unit = unit.unwrap_or_default();
    let mut warnings = Vec::new();
    let mut sample = |arm: &Selected| {
        let values = arm.values_in(&unit).unwrap_or_else(|other| {
            warnings.push(format!(
                "{} has values in {} where the reference has {}: they are left out and nothing is compared; name the metric's unit the same in both",
                quoted(arm.condition),
                named(other.symbol()),
                named(unit.symbol())
            ));
            Vec::new()
        });
        if !values.is_empty() {
            let others = arm.other_units(&unit);
            if !others.is_empty() {
                let others: Vec<String> = others.into_iter().map(named).collect();
                warnings.push(format!(
                    "values of {} in {} were converted to {}; check that the units are meant",
                    quoted(arm.condition),
                    others.join(", "),
                    named(unit.symbol())
                ));
            }
        }
        Sample {
            condition: arm.condition.to_owned(),
            values,
        }
    };
    let (sample_a, sample_b) = (sample(a), sample(b));
    for arm in [a, b] {
        warnings.extend(duplicates(arm, layout.keep_duplicates));
        warnings.extend(further_values(arm));
        if layout.primary == Some(metric) {
            warnings.extend(missed_samples(arm));
        }
        if layout.replication == Replication::Boot {
            warnings.extend(shared_boot(arm));
        }
    }
    warnings.extend(confounded(a, b));
    let (trials_a, trials_b) = (a.trials(), b.trials());
    let arms = [(&sample_a, &trials_a[..]), (&sample_b, &trials_b[..])];
    let mut comparison = compare_trials(metric, &unit, cell, arms, options);
    warnings.append(&mut comparison.warnings);
    comparison.warnings = warnings;
    comparison
}

fn named(unit: &str) -> String {
    if unit.is_empty() {
        "no unit".into()
    } else {
        quoted(unit)
    }
}

fn duplicates(arm: &Selected, kept: bool) -> Option<String> {
    let pairs = arm.duplicates.iter().filter_map(|s| {
        let original = s.duplicate_of.as_deref()?;
        Some(format!("{} repeats {}", quoted(&s.trial), quoted(original)))
    });
    let pairs = listed(pairs.collect());
    let said = if kept {
        "counted as if they were independent, which makes the result look surer than it is; leave out --keep-duplicates"
    } else {
        "counted once; use --keep-duplicates to count them as posted"
    };
    (!arm.duplicates.is_empty()).then(|| format!("in {}: {pairs}: {said}", quoted(arm.condition)))
}

/// Trials that have several values for the metric, of which the first counts.
fn further_values(arm: &Selected) -> Option<String> {
    let several = arm.rows.iter().filter(|s| s.further > 0);
    let trials: Vec<String> = several
        .map(|s| format!("{} has {} values", quoted(&s.trial), s.further + 1))
        .collect();
    (!trials.is_empty()).then(|| {
        format!(
            "in {}: {} for the metric: only the first of a trial counts",
            quoted(arm.condition),
            listed(trials)
        )
    })
}

/// Trials whose monitor missed more samples than can be left unsaid: a peak may lie in between.
fn missed_samples(arm: &Selected) -> Option<String> {
    let several = arm.rows.iter().filter(|s| s.missed_share > MISSED_SHARE);
    let trials: Vec<String> = several
        .map(|s| format!("{} by {:.1} %", quoted(&s.trial), s.missed_share * 100.0))
        .collect();
    (!trials.is_empty()).then(|| {
        format!(
            "in {}: samples were due and not taken, as the host was too busy: {}; a peak may lie between those that were; \
             sample less often",
            quoted(arm.condition),
            listed(trials)
        )
    })
}

/// Trials that should each be a boot of their own but share one.
fn shared_boot(arm: &Selected) -> Option<String> {
    let mut boots: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for summary in &arm.rows {
        if let Some(boot) = summary.boot_id.as_deref() {
            boots.entry(boot).or_default().push(quoted(&summary.trial));
        }
    }
    let shared = boots.into_values().filter(|trials| trials.len() > 1);
    let shared: Vec<String> = shared.map(listed_with_and).collect();
    (!shared.is_empty()).then(|| {
        format!(
            "in {}: {} ran in one boot though the boot is what is repeated: they are not independent; reboot before each trial",
            quoted(arm.condition),
            shared.join("; ")
        )
    })
}

fn listed_with_and(names: Vec<String>) -> String {
    match names.len() {
        2 => names.join(" and "),
        _ => listed(names),
    }
}

/// The first few of many.
fn listed(names: Vec<String>) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let mut text = names.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// Each condition on hosts of its own: what is seen may be the hosts' difference.
fn confounded(a: &Selected, b: &Selected) -> Option<String> {
    let hosts = |arm: &Selected| -> Option<BTreeSet<String>> {
        arm.rows.iter().map(|s| s.host.clone()).collect()
    };
    let (hosts_a, hosts_b) = (hosts(a)?, hosts(b)?);
    let apart = !hosts_a.is_empty() && !hosts_b.is_empty() && hosts_a.is_disjoint(&hosts_b);
    let names = |hosts: BTreeSet<String>| listed(hosts.iter().map(|h| quoted(h)).collect());
    apart.then(|| {
        format!(
            "{} ran on {} only and {} on {} only: the condition cannot be told from the host; run both conditions on each host",
            quoted(a.condition),
            names(hosts_a),
            quoted(b.condition),
            names(hosts_b)
        )
    })
}
