//! `ktrial show`.

use std::process::ExitCode;

use crate::error::{Error, Result};

/// Show a record: its trials and warnings.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    Err(Error::usage("not built yet"))
}
