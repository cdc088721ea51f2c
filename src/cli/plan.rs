//! `ktrial plan`: what an experiment would run, as text or JSON.

mod boots;
mod json;
mod scripts;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::error::Result;
use crate::experiment::{Experiment, key_table};

/// Print what an experiment would run; runs nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The experiment's YAML file.
    #[arg(required_unless_present = "keys")]
    file: Option<PathBuf>,

    /// Plan for this host instead of the experiment's, as `ktrial run --host`; may be given again.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// Plan this many trials of each condition, as `ktrial run --trials`.
    #[arg(long, value_name = "N")]
    trials: Option<u32>,

    /// Print every script that runs on a host, too; as JSON they are always there.
    #[arg(long)]
    scripts: bool,

    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Print every key that an experiment's file can have, instead.
    #[arg(long)]
    keys: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let output = match &args.file {
        Some(file) if !args.keys => {
            let mut experiment = Experiment::read(file)?;
            if !args.hosts.is_empty() {
                experiment = experiment.on_hosts(&args.hosts)?;
            }
            if let Some(trials) = args.trials {
                experiment = experiment.with_trials(trials)?;
            }
            let plan = experiment.plan()?;
            match args.format {
                Format::Text => text::render(&plan, args.scripts),
                Format::Json => json::render(&plan),
            }
        }
        _ => key_table(),
    };
    super::print(&output)?;
    Ok(ExitCode::SUCCESS)
}
