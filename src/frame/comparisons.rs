//! Comparisons as a table.

use super::Table;
use super::table::Columns;
use crate::compare::{Comparison, Comparisons};
use crate::error::Result;
use crate::unit::Unit;

impl Comparisons {
    /// One row a comparison. Values are in the unit of their row.
    ///
    /// # Errors
    /// When a parameter has the name of a column.
    pub fn table(&self) -> Result<Table> {
        let rows: Vec<&Comparison> = self.iter().collect();
        let number = |name: &'static str, get: fn(&Comparison) -> Option<f64>| {
            (name, rows.iter().map(|c| get(c)).collect::<Vec<_>>())
        };
        let columns = Columns::new()
            .text("metric", rows.iter().map(|c| Some(&c.metric)))
            .text("unit", rows.iter().map(|c| Some(c.unit.symbol())))
            .cells(&rows.iter().map(|c| &c.cell).collect::<Vec<_>>())
            .text("condition_a", rows.iter().map(|c| Some(&c.condition_a)))
            .text("condition_b", rows.iter().map(|c| Some(&c.condition_b)))
            .counts("n_a", rows.iter().map(|c| c.a.n))
            .counts("n_b", rows.iter().map(|c| c.b.n));
        [
            number("mean_a", |c| c.a.mean),
            number("mean_b", |c| c.b.mean),
            number("difference", |c| c.difference),
            number("difference_low", |c| c.difference_ci.map(|ci| ci.0)),
            number("difference_high", |c| c.difference_ci.map(|ci| ci.1)),
            number("ratio", |c| c.ratio),
            number("p_welch", |c| c.p_welch),
            number("p_permutation", |c| c.p_permutation),
            number("p_min", |c| c.p_min),
            number("p_adjusted", |c| c.p_adjusted),
        ]
        .into_iter()
        .fold(columns, |columns, (name, values)| {
            columns.numbers(name, &Unit::None, values)
        })
        .text("verdict", rows.iter().map(|c| Some(c.verdict.words())))
        .table()
    }
}
