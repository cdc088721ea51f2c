//! Tables as files that other programs read.

use std::path::Path;

use polars_io::SerWriter;
use polars_io::csv::write::CsvWriter;
use polars_io::parquet::write::ParquetWriter;

use super::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::output;

impl Table {
    /// Writes the table to a new file: `.parquet` or `.csv` by its name.
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
            "csv" => CsvWriter::new(file).finish(&mut frame),
            _ => ParquetWriter::new(file).finish(&mut frame).map(drop),
        };
        written.map_err(|e| {
            Error::new(ErrorKind::Io, "cannot write the table")
                .at(path)
                .because(e)
        })
    }
}
