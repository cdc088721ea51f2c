//! `ktrial plot`.

use std::process::ExitCode;

use crate::error::{Error, Result};

/// Draw a figure of a record.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    Err(Error::usage("not built yet"))
}
