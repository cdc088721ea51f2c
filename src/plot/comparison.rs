//! The figure of a comparison.

use super::{Figure, Group};
use crate::compare::{Comparison, Verdict};
use crate::series::Cell;

impl Comparison {
    /// Every run as a dot, one strip a condition, and the difference of means with its interval.
    pub fn figure(&self) -> Figure {
        let group = |condition: &str, values: &[f64]| Group {
            condition: condition.to_owned(),
            values: values.to_vec(),
        };
        let groups = vec![
            group(&self.condition_a, &self.a.values),
            group(&self.condition_b, &self.b.values),
        ];
        let title = title(&self.metric, &self.cell, Some(verdict(self)));
        let figure = Figure::runs(title, &self.metric, &self.unit, groups);
        match (self.difference, self.difference_ci) {
            (Some(difference), Some(interval)) => figure.with_interval(difference, interval),
            _ => figure,
        }
    }
}

/// `memory.used (config=debug): difference supported`.
pub(super) fn title(metric: &str, cell: &Cell, finding: Option<String>) -> String {
    let cell = match cell.is_empty() {
        true => String::new(),
        false => format!(" ({})", cell_name(cell)),
    };
    match finding {
        Some(finding) => format!("{metric}{cell}: {finding}"),
        None => format!("{metric}{cell}"),
    }
}

/// `difference supported`.
pub(super) fn verdict(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Equivalent => "equivalent".to_owned(),
        verdict => format!("difference {}", verdict.words()),
    }
}

/// `config=debug`.
pub(super) fn cell_name(cell: &Cell) -> String {
    let pairs: Vec<String> = cell
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join(" ")
}
