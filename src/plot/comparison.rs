//! The figure of a comparison.

use super::{Figure, Group};
use crate::compare::Comparison;

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
        let cell: Vec<_> = self
            .cell
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let title = match cell.is_empty() {
            true => self.verdict.words().to_owned(),
            false => format!("{}: {}", cell.join(", "), self.verdict.words()),
        };
        let figure = Figure::runs(title, &self.metric, &self.unit, groups);
        match (self.difference, self.difference_ci) {
            (Some(difference), Some(interval)) => figure.with_interval(difference, interval),
            _ => figure,
        }
    }
}
