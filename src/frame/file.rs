//! Tables as files that other programs read.

use std::path::Path;

use polars::prelude::{Column, DataFrame, PolarsResult};
use polars_io::SerWriter;
use polars_io::csv::write::CsvWriter;
use polars_io::parquet::write::ParquetWriter;

use super::Table;
use crate::ascii::escaped;
use crate::error::{Error, ErrorKind, Result};
use crate::output;

impl Table {
    /// Writes the table to a new file: `.parquet` or `.csv` by its name.
    ///
    /// Texts and column names stand in CSV escaped as in [`crate::ascii`], and behind an apostrophe when they begin
    /// with `=`, `+`, `-` or `@`, which a spreadsheet would compute. Parquet keeps them as they are.
    ///
    /// # Errors
    /// `Usage` for another ending or when the file is there already, `Io` when it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_file(path.as_ref(), false)
    }

    /// As [`Table::write`], in the place of a file that is there already.
    ///
    /// # Errors
    /// `Usage` for another ending, `Io` when it cannot be written.
    pub fn replace(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_file(path.as_ref(), true)
    }

    fn write_file(&self, path: &Path, replace: bool) -> Result<()> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if !matches!(ending, "parquet" | "csv") {
            return Err(Error::usage("tables are written as .parquet or .csv")
                .at(path)
                .next("give the file one of these endings"));
        }
        let file = output::create(path, replace)?;
        let mut frame = self.frame();
        let written = match ending {
            "csv" => harmless(&frame).and_then(|mut frame| CsvWriter::new(file).finish(&mut frame)),
            _ => ParquetWriter::new(file).finish(&mut frame).map(drop),
        };
        written.map_err(|e| {
            Error::new(ErrorKind::Io, "cannot write the table")
                .at(path)
                .because(e)
        })
    }
}

/// The frame with texts that neither a terminal obeys nor a spreadsheet computes.
fn harmless(frame: &DataFrame) -> PolarsResult<DataFrame> {
    let columns = frame.columns().iter().map(|column| {
        let name = cell(column.name());
        match column.str() {
            Ok(texts) => Column::new(
                name.into(),
                texts.iter().map(|text| text.map(cell)).collect::<Vec<_>>(),
            ),
            Err(_) => column.clone().with_name(name.into()),
        }
    });
    DataFrame::new_infer_height(columns.collect())
}

fn cell(text: &str) -> String {
    let text = escaped(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use polars::df;

    use super::*;

    #[test]
    fn texts_in_csv_are_harmless_and_numbers_as_they_are() {
        let frame = df!(
            "a\x1b[2J" => [Some("=1+1"), Some("x\n\u{9b}31m"), None],
            "n" => [-1.5, 2.0, 3.0],
        )
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        Table::from(frame.clone()).write(&path).unwrap();
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "a\\u{1b}[2J,n\n'=1+1,-1.5\nx\\n\\u{9b}31m,2.0\n,3.0\n"
        );
        assert!(!Table::from(frame).to_string().contains(['\x1b', '\u{9b}']));
    }
}
