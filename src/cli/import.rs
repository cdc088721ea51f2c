//! `ktrial import`.

use std::process::ExitCode;

use crate::error::{Error, Result};

/// Make a record from a mail with figures.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> Result<ExitCode> {
    Err(Error::usage("not built yet"))
}
