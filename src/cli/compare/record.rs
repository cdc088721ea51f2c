//! `ktrial compare RECORD`.

use std::path::Path;

use crate::cli::compare::Args;
use crate::error::{Error, Result};
use crate::report::Report;

/// Compares the conditions of a record.
pub fn compare_record(record: &Path, _args: &Args) -> Result<Report> {
    Err(Error::usage("records cannot be compared yet").at(record))
}
