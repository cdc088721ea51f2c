//! A data frame with its columns' units.

use std::collections::BTreeMap;
use std::fmt;

use polars::prelude::{Column, DataFrame, IntoLazy, LazyFrame};

use crate::display::Show;
use crate::error::{Error, ErrorKind, Result};
use crate::series::Cell;
use crate::unit::Unit;

/// A polars data frame and the units of its columns. Cheap to clone.
#[derive(Clone)]
pub struct Table {
    frame: DataFrame,
    units: BTreeMap<String, Unit>,
}

impl Table {
    /// The data frame.
    pub fn frame(&self) -> DataFrame {
        self.frame.clone()
    }

    /// The data frame, lazily: `table.lazy().filter(..).collect()?`.
    pub fn lazy(&self) -> LazyFrame {
        self.frame.clone().lazy()
    }

    /// A column's unit; [`Unit::None`] when it has none.
    pub fn unit(&self, column: &str) -> Unit {
        self.units.get(column).cloned().unwrap_or_default()
    }

    /// How many rows.
    pub fn height(&self) -> usize {
        self.frame.height()
    }

    /// A number column's values.
    ///
    /// # Errors
    /// `Usage` when there is no such column or it holds no numbers.
    pub fn numbers(&self, column: &str) -> Result<Vec<Option<f64>>> {
        let cast = self
            .frame
            .column(column)
            .and_then(|c| c.f64().cloned())
            .map_err(|e| {
                Error::new(
                    ErrorKind::Usage,
                    format!("`{}` is no column of numbers", column.escape_debug()),
                )
                .because(e)
            })?;
        Ok(cast.iter().collect())
    }
}

impl From<DataFrame> for Table {
    fn from(frame: DataFrame) -> Table {
        Table {
            frame,
            units: BTreeMap::new(),
        }
    }
}

/// As [`Show::to_plain`]: polars' own text would pass terminal escapes on.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_plain())
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_plain())
    }
}

/// Collects columns of equal length.
pub(super) struct Columns {
    columns: Vec<Column>,
    units: BTreeMap<String, Unit>,
}

impl Columns {
    pub(super) fn new() -> Columns {
        Columns {
            columns: Vec::new(),
            units: BTreeMap::new(),
        }
    }

    pub(super) fn text<S: AsRef<str>>(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = Option<S>>,
    ) -> Columns {
        let values: Vec<Option<String>> = values
            .into_iter()
            .map(|v| v.map(|s| s.as_ref().to_owned()))
            .collect();
        self.columns.push(Column::new(name.into(), values));
        self
    }

    pub(super) fn numbers(
        mut self,
        name: &str,
        unit: &Unit,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Columns {
        let values: Vec<Option<f64>> = values.into_iter().collect();
        self.columns.push(Column::new(name.into(), values));
        self.units.insert(name.to_owned(), unit.clone());
        self
    }

    pub(super) fn counts(mut self, name: &str, values: impl IntoIterator<Item = usize>) -> Columns {
        let values: Vec<u64> = values.into_iter().map(|n| n as u64).collect();
        self.columns.push(Column::new(name.into(), values));
        self
    }

    /// One column a parameter that any of the cells has.
    pub(super) fn cells(mut self, cells: &[&Cell]) -> Columns {
        let mut names: Vec<&String> = cells.iter().flat_map(|cell| cell.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            self = self.text(name, cells.iter().map(|cell| cell.get(name)));
        }
        self
    }

    pub(super) fn append(mut self, other: Columns) -> Columns {
        self.columns.extend(other.columns);
        self.units.extend(other.units);
        self
    }

    /// # Errors
    /// `Record` when two columns have one name: a parameter called like a column.
    pub(super) fn table(self) -> Result<Table> {
        let frame = DataFrame::new_infer_height(self.columns)
            .map_err(|e| Error::new(ErrorKind::Record, "cannot make the table").because(e))?;
        Ok(Table {
            frame,
            units: self.units,
        })
    }
}
