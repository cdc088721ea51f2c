//! A record's figures.

use super::comparison::{cell_name, title, verdict};
use super::{Figure, Group, Line};
use crate::ascii::excerpt;
use crate::compare::{Comparison, Comparisons, is_of};
use crate::error::{Error, Result};
use crate::parse::no_such;
use crate::record::{Record, State, Trial};
use crate::series::{Cell, Series};
use crate::summary::Summary;
use crate::unit::Unit;

/// How many trials a note names.
const NAMED: usize = 8;

/// How many trials that cannot be read a figure names.
const UNREAD_NAMED: usize = 5;

impl Record {
    /// The figure of a metric: over time when it is a series (`memory.used`), else every run's value
    /// (`memory.used.peak`, a udev unit). Without a metric, the primary one's series.
    ///
    /// `cell` narrows it to the cells with these parameters' values; several cells are stacked.
    /// Duplicates and trials that are not complete are left out, which a note says.
    ///
    /// # Errors
    /// When there is no such metric or cell (the message names those that exist), no metric is named and the
    /// record has no primary one, its trials have no figures at all, or none of them can be read.
    pub fn figure(&self, metric: Option<&str>, cell: &Cell) -> Result<Figure> {
        let parts = self.parts();
        let names = parts.names();
        if names.is_empty() {
            let error = Error::usage("the record has no figures of trials to draw").at(self.dir());
            return Err(error.next("see what it holds with ktrial show"));
        }
        let metric = match (metric, &self.manifest().primary) {
            (Some(metric), _) => metric,
            (None, Some(primary)) => parts.series_of(primary).unwrap_or(primary),
            (None, None) => {
                let error = Error::usage("the record has no primary metric").at(self.dir());
                return Err(error.next(format!("name a metric; there are: {}", names.join(", "))));
            }
        };
        if !names.iter().any(|name| name == metric) {
            return Err(no_such("metric", metric, &names).at(self.dir()));
        }
        let cells = self.cells(metric, &parts, cell)?;
        let comparisons = self.compare()?;
        let figures = cells.iter().map(|cell| match parts.is_series(metric) {
            true => self.time_series(metric, cell, &parts, &comparisons),
            false => self.runs(metric, cell, &parts, &comparisons),
        });
        let mut figures: Vec<Figure> = figures.collect();
        if !parts.unread.is_empty()
            && let Some(last) = figures.pop()
        {
            let unread = excerpt(&parts.unread, 60);
            let note = format!("Left out, as their files cannot be read: {unread}.");
            figures.push(last.with_note(note));
        }
        Ok(match figures.len() {
            1 => figures.remove(0),
            _ => Figure::stacked(figures),
        })
    }

    fn parts(&self) -> Parts {
        let (mut series, mut unread) = (Vec::new(), Vec::new());
        for trial in &self.manifest().trials {
            match self.parse(trial) {
                Ok(parsed) => {
                    let found = parsed.series.into_iter();
                    series.extend(found.map(|one| (trial.clone(), one)));
                }
                Err(_) => unread.push(trial.id.as_str()),
            }
        }
        let unread = unread.iter().take(UNREAD_NAMED).copied();
        Parts {
            unread: unread.collect::<Vec<_>>().join(", "),
            series,
            summaries: self.summaries(),
        }
    }

    /// The cells that have the metric and the parameters' values asked for.
    fn cells(&self, metric: &str, parts: &Parts, asked: &Cell) -> Result<Vec<Cell>> {
        let mut cells = parts.cells(metric);
        let known: Vec<String> = cells.iter().map(cell_name).collect();
        cells.retain(|cell| {
            asked
                .iter()
                .all(|(key, value)| cell.get(key) == Some(value))
        });
        match cells.is_empty() {
            true => Err(no_such("cell", &cell_name(asked), &known).at(self.dir())),
            false => Ok(cells),
        }
    }

    fn time_series(
        &self,
        metric: &str,
        cell: &Cell,
        parts: &Parts,
        comparisons: &Comparisons,
    ) -> Figure {
        let found = || {
            parts
                .series
                .iter()
                .filter(|(trial, series)| trial.cell == *cell && series.metric == metric)
        };
        let complete = |trial: &Trial| trial.state == State::Complete;
        // When nothing is complete, what there is says more than an empty figure.
        let any_complete = found().any(|(trial, _)| complete(trial));
        let mut notes = Notes::default();
        let mut kept: Vec<&(Trial, Series)> = Vec::new();
        for one in found() {
            let (trial, _) = one;
            if let Some(original) = &trial.duplicate_of {
                notes.duplicates.push(format!("{} ({original})", trial.id));
                continue;
            }
            if !complete(trial) {
                notes
                    .incomplete
                    .push(format!("{} ({})", trial.id, trial.state.word()));
            }
            if complete(trial) || !any_complete {
                kept.push(one);
            }
        }
        kept.sort_by_key(|(trial, _)| self.position(&trial.condition));
        let unit = kept
            .first()
            .map_or(Unit::None, |(_, series)| series.unit.clone());
        let quantum = kept
            .iter()
            .filter_map(|(_, series)| series.quantum)
            .reduce(f64::max);
        let lines = kept
            .into_iter()
            .filter_map(|(trial, series)| line(trial, series, &unit))
            .collect();
        // The number that was named before the run, where it is one of this series.
        let primary = self.manifest().primary.clone();
        let told = primary
            .filter(|primary| is_of(primary, metric))
            .unwrap_or_else(|| format!("{metric}.peak"));
        let title = title(
            metric,
            cell,
            comparison(comparisons, &told, cell).map(finding),
        );
        let mut figure = notes.onto(
            Figure::time_series(title, metric, &unit, lines),
            any_complete,
        );
        if let Some(quantum) = quantum {
            let step = unit.show(quantum);
            figure = figure.with_note(format!(
                "Read off a published plot, whose rows are {step} high."
            ));
        }
        figure
    }

    fn runs(&self, metric: &str, cell: &Cell, parts: &Parts, comparisons: &Comparisons) -> Figure {
        let mut notes = Notes::default();
        let mut unit = None;
        let mut groups: Vec<Group> = Vec::new();
        for row in parts
            .summaries
            .iter()
            .filter(|row| row.metric == metric && row.cell == *cell)
        {
            if let Some(original) = &row.duplicate_of {
                notes.duplicates.push(format!("{} ({original})", row.trial));
                continue;
            }
            let unit = unit.get_or_insert_with(|| row.unit.clone());
            let Some(factor) = row.unit.factor_to(unit) else {
                continue;
            };
            let value = row.value * factor;
            match groups
                .iter_mut()
                .find(|group| group.condition == row.condition)
            {
                Some(group) => group.values.push(value),
                None => groups.push(Group {
                    condition: row.condition.clone(),
                    values: vec![value],
                }),
            }
        }
        groups.sort_by_key(|group| self.position(&group.condition));
        let unit = unit.unwrap_or_default();
        let compared = comparison(comparisons, metric, cell);
        let verdict = compared.map(verdict);
        let figure = Figure::runs(title(metric, cell, verdict), metric, &unit, groups);
        let figure = match compared.and_then(|c| c.difference.zip(c.difference_ci)) {
            Some((difference, interval)) => figure.with_interval(difference, interval),
            None => figure,
        };
        notes.onto(figure, true)
    }

    /// The place of a condition; the reference is first.
    fn position(&self, condition: &str) -> usize {
        let conditions = &self.manifest().conditions;
        conditions
            .iter()
            .position(|name| name == condition)
            .unwrap_or(conditions.len())
    }
}

/// All that a record's figures can be made of.
struct Parts {
    /// Trials whose files cannot be read, the first few.
    unread: String,
    series: Vec<(Trial, Series)>,
    summaries: Vec<Summary>,
}

impl Parts {
    fn is_series(&self, metric: &str) -> bool {
        self.series
            .iter()
            .any(|(_, series)| series.metric == metric)
    }

    /// The series that a summary such as `memory.used.peak` is of.
    fn series_of<'a>(&self, summary: &'a str) -> Option<&'a str> {
        let (base, _) = summary.rsplit_once('.')?;
        self.is_series(base).then_some(base)
    }

    /// Every metric that can be drawn, series first.
    fn names(&self) -> Vec<String> {
        let series = self.series.iter().map(|(_, series)| &series.metric);
        let mut names = Vec::new();
        for name in series.chain(self.summaries.iter().map(|row| &row.metric)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    fn cells(&self, metric: &str) -> Vec<Cell> {
        let series = self
            .series
            .iter()
            .filter(|(_, series)| series.metric == metric);
        let rows = self.summaries.iter().filter(|row| row.metric == metric);
        let mut cells = Vec::new();
        for cell in series
            .map(|(trial, _)| &trial.cell)
            .chain(rows.map(|row| &row.cell))
        {
            if !cells.contains(cell) {
                cells.push(cell.clone());
            }
        }
        cells
    }
}

/// What was left out.
#[derive(Default)]
struct Notes {
    duplicates: Vec<String>,
    incomplete: Vec<String>,
}

impl Notes {
    fn onto(&self, mut figure: Figure, any_complete: bool) -> Figure {
        if !self.duplicates.is_empty() {
            let names = named(&self.duplicates);
            figure = figure.with_note(format!(
                "Left out, as they repeat another trial's figures: {names}."
            ));
        }
        if !self.incomplete.is_empty() {
            let names = named(&self.incomplete);
            figure = figure.with_note(match any_complete {
                true => format!("Left out, as they are not complete: {names}."),
                false => format!("No trial is complete: {names}."),
            });
        }
        figure
    }
}

fn named(trials: &[String]) -> String {
    let mut names = trials
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if trials.len() > NAMED {
        names.push_str(&format!(" and {} more", trials.len() - NAMED));
    }
    names
}

fn line(trial: &Trial, series: &Series, unit: &Unit) -> Option<Line> {
    let factor = series.unit.factor_to(unit)?;
    Some(Line {
        label: trial.id.clone(),
        condition: trial.condition.clone(),
        time_s: series.time_s.clone(),
        values: series.values.iter().map(|value| value * factor).collect(),
        phases: trial.phases.clone(),
    })
}

/// The one comparison of a metric in a cell; none when there are more than two conditions.
fn comparison<'a>(
    comparisons: &'a Comparisons,
    metric: &str,
    cell: &Cell,
) -> Option<&'a Comparison> {
    let mut found = comparisons
        .iter()
        .filter(|c| c.metric == metric && c.cell == *cell);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// What a summary of a series says: `peak of after - before is -84.2 MiB, 95 % interval -90.1 MiB to -78.3 MiB: supported`.
fn finding(comparison: &Comparison) -> String {
    let Comparison {
        metric,
        condition_a,
        condition_b,
        a,
        b,
        ..
    } = comparison;
    let words = comparison.verdict.words();
    let Some(difference) = comparison.difference else {
        return words.to_owned();
    };
    let summary = metric.rsplit_once('.').map_or("", |(_, summary)| summary);
    let what = format!("{summary} of {condition_b} - {condition_a} is");
    let scale = comparison.scale();
    let signed = |value| scale.with_unit(&scale.signed(value));
    match comparison.difference_ci {
        Some((low, high)) => {
            let [difference, low, high] = [difference, low, high].map(signed);
            format!("{what} {difference}, 95 % interval {low} to {high}: {words}")
        }
        None => {
            let difference = signed(difference);
            format!("{what} {difference}, n = {} and {}: {words}", a.n, b.n)
        }
    }
}
