//! `ktrial-kernel` runs Rust notebooks without a browser, on the evcxr crate.
//!
//! Three processes: this one reads the notebook and drives evcxr; evcxr starts a [`relay`],
//! which starts the process that the cells run in and tells what they print, show and how they fail.

mod compile_error;
mod notebook;
mod relay;
mod runner;
mod session;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::notebook::Notebook;
use crate::runner::Runner;

/// Runs Rust notebooks without a browser.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every cell in order and write the notebook with its outputs; stop at the first cell that fails.
    Run {
        /// The notebook; its folder is the cells' working directory.
        notebook: PathBuf,
        /// Where to write; over the notebook itself when not given.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        limits: Limits,
    },
    /// Run every cell in a new session and compare the outputs with those in the file; the file stays as it is.
    Check {
        /// The notebook, with outputs.
        notebook: PathBuf,
        #[command(flatten)]
        limits: Limits,
    },
}

#[derive(clap::Args)]
struct Limits {
    /// End a cell that runs longer than this; compiling does not count.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: Option<u64>,
}

fn main() -> ExitCode {
    relay::hook();
    evcxr::runtime_hook();
    match act(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does what is asked; false when a cell failed or an output differs.
fn act(arguments: Arguments) -> Result<bool> {
    match arguments.command {
        Command::Run {
            notebook: path,
            output,
            limits,
        } => {
            let mut notebook = Notebook::read(&path)?;
            let output = std::path::absolute(output.as_ref().unwrap_or(&path))
                .context("cannot tell the working directory")?;
            let failure = Runner::start(&path, limits.timeout())?.run(&mut notebook)?;
            notebook.write(&output)?;
            if let Some(failure) = &failure {
                eprintln!("{}: {failure}", path.display());
            }
            Ok(failure.is_none())
        }
        Command::Check {
            notebook: path,
            limits,
        } => {
            let committed = Notebook::read(&path)?;
            let mut fresh = committed.clone();
            let failure = Runner::start(&path, limits.timeout())?.run(&mut fresh)?;
            let difference = committed.first_difference(&fresh);
            match (&difference, &failure) {
                (Some(difference), _) => eprintln!("{}: {difference}", path.display()),
                (None, Some(failure)) => eprintln!("{}: {failure}", path.display()),
                (None, None) => eprintln!("{}: every output is as in the file", path.display()),
            }
            Ok(difference.is_none() && failure.is_none())
        }
    }
}

impl Limits {
    fn timeout(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs)
    }
}
