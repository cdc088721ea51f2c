//! `ktrial run`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::reach::Reach;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::run::{self, Destination};

/// Run an experiment and write its record.
///
/// Ctrl-C (or Ctrl-\, HUP, TERM) ends the running trials gently and keeps what was sampled; a second one changes nothing,
/// a third one leaves at once and may leave a workload running on a host. `ktrial resume` goes on from there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The experiment's file; `ktrial plan` shows what it runs.
    experiment: PathBuf,

    #[command(flatten)]
    reach: Reach,

    /// The folder that the record's folder is made in.
    #[arg(short, long, value_name = "DIR", default_value = "data/runs")]
    output: PathBuf,

    /// Run on this host instead of the experiment's; may be given again.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// Run this many trials of each condition instead of the experiment's number.
    #[arg(long, value_name = "N")]
    trials: Option<u32>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut experiment = Experiment::read(&args.experiment)?;
    if !args.hosts.is_empty() {
        experiment = experiment.on_hosts(&args.hosts)?;
    }
    if let Some(trials) = args.trials {
        experiment = experiment.with_trials(trials)?;
    }
    let plan = experiment.plan()?;
    args.reach.check()?;
    let source = std::fs::read(&args.experiment)
        .map_err(|e| Error::io("read the experiment", &args.experiment, e))?;
    let destination = Destination {
        folder: args.output.clone(),
        experiment: Some(source),
    };
    args.reach
        .run(|ways, cancel, progress| run::run(&plan, &destination, ways, cancel, progress))
}
