//! A record's tables.

use std::collections::{BTreeMap, BTreeSet};

use super::Table;
use super::table::Columns;
use crate::error::Result;
use crate::parse::no_such;
use crate::record::{RawFile, Record, Trial};
use crate::series::Series;
use crate::unit::Unit;

impl Record {
    /// One row a trial.
    ///
    /// # Errors
    /// When a parameter has the name of a column.
    pub fn trials(&self) -> Result<Table> {
        let trials: Vec<&Trial> = self.manifest().trials.iter().collect();
        labels(&trials)
            .text("host", trials.iter().map(|t| t.host.as_ref()))
            .text("boot_id", trials.iter().map(|t| t.boot_id.as_ref()))
            .text("state", trials.iter().map(|t| Some(t.state.word())))
            .text(
                "duplicate_of",
                trials.iter().map(|t| t.duplicate_of.as_ref()),
            )
            .text("reason", trials.iter().map(|t| t.reason.as_ref()))
            .table()
    }

    /// The samples of one monitor (`meminfo`, `vmstat`, `free`, `agent`, `series`): one row a sample, one column a metric.
    ///
    /// # Errors
    /// When no trial has that monitor (the message names those that exist), or a raw file cannot be read.
    pub fn samples(&self, monitor: &str) -> Result<Table> {
        let mut rows: Vec<(&Trial, f64)> = Vec::new();
        let mut columns: BTreeMap<String, (Unit, Vec<Option<f64>>)> = BTreeMap::new();
        for trial in &self.manifest().trials {
            // Series of one monitor share their times; one that does not makes rows of its own.
            for group in by_times(self.parse(&only(trial, monitor))?.series) {
                let start = rows.len();
                rows.extend(group[0].time_s.iter().map(|time_s| (trial, *time_s)));
                for series in group {
                    let (_, column) = columns
                        .entry(series.metric)
                        .or_insert_with(|| (series.unit, Vec::new()));
                    column.resize(start, None);
                    column.extend(series.values.into_iter().map(Some));
                }
            }
        }
        if columns.is_empty() {
            let known = self.monitors_with_samples();
            return Err(no_such("monitor with samples", monitor, &known).at(self.dir()));
        }
        let trials: Vec<&Trial> = rows.iter().map(|(trial, _)| *trial).collect();
        let time = Columns::new().numbers(
            "time_s",
            &Unit::Second,
            rows.iter().map(|(_, time_s)| Some(*time_s)),
        );
        let mut table = time.append(labels(&trials));
        for (metric, (unit, mut values)) in columns {
            values.resize(rows.len(), None);
            table = table.numbers(&metric, &unit, values);
        }
        table.table()
    }

    /// The monitors whose files hold samples; what cannot be read holds none.
    fn monitors_with_samples(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        for trial in &self.manifest().trials {
            for RawFile { monitor, .. } in &trial.raw {
                let samples = || {
                    let parsed = self.parse(&only(trial, monitor));
                    parsed.is_ok_and(|parsed| !parsed.series.is_empty())
                };
                if !found.contains(monitor) && samples() {
                    found.insert(monitor.clone());
                }
            }
        }
        found.into_iter().collect()
    }

    /// One row a complete trial and metric.
    ///
    /// # Errors
    /// When a parameter has the name of a column.
    pub fn summary_table(&self) -> Result<Table> {
        let rows = self.summaries();
        Columns::new()
            .text("trial", rows.iter().map(|r| Some(&r.trial)))
            .text("condition", rows.iter().map(|r| Some(&r.condition)))
            .cells(&rows.iter().map(|r| &r.cell).collect::<Vec<_>>())
            .text("boot_id", rows.iter().map(|r| r.boot_id.as_ref()))
            .text("metric", rows.iter().map(|r| Some(&r.metric)))
            .text("unit", rows.iter().map(|r| Some(r.unit.symbol())))
            .numbers("value", &Unit::None, rows.iter().map(|r| Some(r.value)))
            .text("duplicate_of", rows.iter().map(|r| r.duplicate_of.as_ref()))
            .table()
    }
}

/// The trial with the files of one monitor.
fn only(trial: &Trial, monitor: &str) -> Trial {
    let mut only = trial.clone();
    only.raw.retain(|raw| raw.monitor == monitor);
    only
}

pub(super) fn labels(trials: &[&Trial]) -> Columns {
    Columns::new()
        .text("trial", trials.iter().map(|t| Some(&t.id)))
        .text("condition", trials.iter().map(|t| Some(&t.condition)))
        .cells(&trials.iter().map(|t| &t.cell).collect::<Vec<_>>())
}

/// Neighbouring series with equal times together; none of the groups is empty.
fn by_times(series: Vec<Series>) -> Vec<Vec<Series>> {
    let mut groups: Vec<Vec<Series>> = Vec::new();
    for one in series {
        match groups.last_mut() {
            Some(group) if group[0].time_s == one.time_s => group.push(one),
            _ => groups.push(vec![one]),
        }
    }
    groups
}
