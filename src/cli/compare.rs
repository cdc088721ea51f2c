//! `ktrial compare`.

use std::process::ExitCode;

use crate::error::{Error, Result};

/// Compare two files or the conditions of a record.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    Err(Error::usage("not built yet"))
}
