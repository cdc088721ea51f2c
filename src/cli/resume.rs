//! `ktrial resume`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::reach::Reach;
use crate::error::Result;
use crate::record::{Record, RecordKind};
use crate::run;

/// Finish a run that was interrupted, failed, or whose ktrial died.
///
/// Runs every trial of its record that is not complete, as `ktrial run` would, and closes the record again. What was
/// received before is kept. Signals are taken as by `ktrial run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's record; `ktrial show` says what became of its trials.
    record: PathBuf,

    #[command(flatten)]
    reach: Reach,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    args.reach.check()?;
    let manifest = Record::open(&args.record)?.manifest().clone();
    if manifest.kind == RecordKind::Run && run::is_done(&manifest) {
        super::print("the run is complete: there is nothing to resume\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    args.reach
        .run(|ways, cancel, progress| run::resume(&args.record, ways, cancel, progress))
}
