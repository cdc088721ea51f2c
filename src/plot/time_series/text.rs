//! A time series in plain ASCII, for a mail or a terminal.

use super::TimeSeries;
use super::curve::{Condition, phase_name};
use crate::plot::ascii::{Page, place, shorten, shorten_apart};
use crate::plot::axis::Axis;
use crate::plot::{Head, Line};
use crate::unit::Unit;

/// Rows of the data.
const ROWS: usize = 16;

/// One mark a condition; its capital stands at the condition's peak.
const MARKS: [char; 8] = ['o', 'x', 'v', 'z', 's', 'w', 'u', 'c'];
const BOTH: char = '*';
const SAMPLE: char = '.';

pub(in crate::plot) fn text(head: &Head, unit: &Unit, lines: &[Line], width: usize) -> String {
    let mut page = Page::new(&head.title, width);
    let Some(series) = TimeSeries::new(unit, lines) else {
        page.wrapped(&format!("no samples of {}", head.metric), "");
        return page.end(head);
    };
    let (low, high) = series.shown_values();
    let values = Axis::new(low, high, 6);
    let (start, end) = series.shown_time();
    let widest = values.ticks.iter().map(|tick| tick.label.len()).max();
    let indent = widest.unwrap_or(0) + 2;
    let columns = page.width - indent;
    let time = Axis::new(start, end, columns / 8);
    let cells = Cells::new(&series, &time, &values, columns);

    page.wrapped(&head.quantity(&series.shown), "");
    for (row, cells) in cells.rows.iter().enumerate() {
        let tick = values
            .ticks
            .iter()
            .find(|tick| cell_row(&values, tick.at) == row);
        let (number, edge) = tick.map_or(("", '|'), |tick| (tick.label.as_str(), '+'));
        let cells: String = cells.iter().collect();
        page.lines.push(format!(
            "{number:>width$} {edge}{cells}",
            width = indent - 2
        ));
    }
    page.horizontal(&time, indent, columns);
    if !series.phases.is_empty() {
        let line = phase_line(&series, &time, columns);
        page.lines.push(format!("{}{line}", " ".repeat(indent)));
    }
    page.centered(&series.time_name(), indent, columns);
    let names = shorten_apart(series.conditions.iter().map(|c| &c.name), page.width / 2);
    for (i, (condition, name)) in series.conditions.iter().zip(names).enumerate() {
        let mark = mark(i);
        let said = series.said(condition);
        page.wrapped(
            &format!("{mark} {name}: {said} ({})", mark.to_ascii_uppercase()),
            "  ",
        );
    }
    page.wrapped(&cells.key(&series), "  ");
    page.end(head)
}

fn mark(condition: usize) -> char {
    MARKS[condition % MARKS.len()]
}

/// The row of a value, from the top.
fn cell_row(values: &Axis, value: f64) -> usize {
    ROWS - 1 - place(values, value, ROWS)
}

/// The frame's characters.
struct Cells {
    rows: Vec<Vec<char>>,
}

impl Cells {
    fn new(series: &TimeSeries, time: &Axis, values: &Axis, columns: usize) -> Cells {
        let mut cells = Cells {
            rows: vec![vec![' '; columns]; ROWS],
        };
        let at = |(time_s, value): (f64, f64)| {
            let row = cell_row(values, value * series.factor);
            (row, place(time, time_s * series.time_factor, columns))
        };
        let many = |condition: &&Condition| condition.trials.len() > 1;
        for condition in series.conditions.iter().filter(many) {
            for sample in condition.samples() {
                let (row, column) = at(sample);
                cells.rows[row][column] = SAMPLE;
            }
        }
        for (i, condition) in series.conditions.iter().enumerate() {
            let mut points = condition.median(&series.grid(columns));
            // One trial alone is its own median: every sample of it counts.
            if !many(&condition) {
                points.extend(condition.samples());
            }
            for point in points.into_iter().filter(|point| !point.1.is_nan()) {
                let (row, column) = at(point);
                let cell = &mut cells.rows[row][column];
                *cell = match *cell {
                    ' ' | SAMPLE => mark(i),
                    own if own == mark(i) => own,
                    _ => BOTH,
                };
            }
        }
        for (i, condition) in series.conditions.iter().enumerate() {
            if let Some(peak) = condition.peak() {
                let (row, column) = at((peak.time_s, peak.value));
                cells.rows[row][column] = mark(i).to_ascii_uppercase();
            }
        }
        cells
    }

    /// What the characters mean beside the conditions' own.
    fn key(&self, series: &TimeSeries) -> String {
        let seen = |mark: char| self.rows.iter().flatten().any(|&cell| cell == mark);
        let mut key = Vec::new();
        if series
            .conditions
            .iter()
            .any(|condition| condition.trials.len() > 1)
        {
            key.push("small letters: median of the trials");
        }
        if seen(SAMPLE) {
            key.push(". samples");
        }
        if seen(BOTH) {
            key.push("* more than one condition");
        }
        if series.ends_apart {
            key.push("letters under the axis: end of a condition's workload");
        }
        key.join("; ")
    }
}

/// The phases under the axis: `|-idle-|---workload---|-settle-|`. Where the conditions' workloads end at different
/// times, each one's mark stands at its end: `|---workload---x   o-settle-|`.
fn phase_line(series: &TimeSeries, time: &Axis, columns: usize) -> String {
    let mut line = vec![' '; columns];
    for span in series.visible_phases() {
        let start = place(time, span.start_s * series.time_factor, columns);
        let end = place(time, span.end_s * series.time_factor, columns);
        line[start..=end].fill('-');
        line[start] = '|';
        line[end] = '|';
        let name = shorten(phase_name(span.phase), (end - start).saturating_sub(1));
        let first = start + 1 + (end - start).saturating_sub(1 + name.len()) / 2;
        for (cell, letter) in line[first..].iter_mut().zip(name.chars()) {
            *cell = letter;
        }
    }
    let ends = series.conditions.iter().enumerate().filter_map(|(i, c)| {
        let end_s = series.own_end_s(c)?;
        Some((place(time, end_s * series.time_factor, columns), mark(i)))
    });
    let ends: Vec<(usize, char)> = ends.collect();
    for &(column, own) in &ends {
        let alone = ends.iter().all(|&(at, mark)| at != column || mark == own);
        line[column] = if alone { own } else { BOTH };
    }
    line.into_iter().collect()
}
