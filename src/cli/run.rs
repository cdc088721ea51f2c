//! `ktrial run`.

use std::process::ExitCode;

use crate::error::{Error, Result};

/// Run an experiment and write its record.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    Err(Error::usage("not built yet"))
}
