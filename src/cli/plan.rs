//! `ktrial plan`.

use std::process::ExitCode;

use crate::error::{Error, Result};

/// Print what an experiment would run; runs nothing.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    Err(Error::usage("not built yet"))
}
