//! `ktrial show`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::columns::Columns;
use crate::ascii::escaped;
use crate::display::Show;
use crate::error::{Error, Result};
use crate::frame::Table;
use crate::record::{Record, State, Trial};
use crate::series::{Cell, Parsed};

/// Show a record: where it comes from, its trials and warnings; or write one of its tables to a file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's folder.
    record: PathBuf,

    /// A table instead, its first 50 rows: trials, boots, summaries, comparisons, or samples:MONITOR such as samples:meminfo.
    #[arg(long)]
    table: Option<String>,

    /// With --table: write all of it to a new file, .csv or .parquet. In CSV texts are escaped to printable ASCII, and
    /// those that a spreadsheet would compute (`=`, `+`, `-`, `@`) begin with an apostrophe.
    #[arg(short, long, requires = "table")]
    output: Option<PathBuf>,

    /// With --output: replace the file when it is there already.
    #[arg(long, requires = "output")]
    force: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let record = Record::open(&args.record)?;
    match (&args.table, &args.output) {
        (None, _) => super::print(&overview(&record)?)?,
        (Some(name), None) => super::print(&table(&record, name)?.to_plain())?,
        (Some(name), Some(path)) if args.force => table(&record, name)?.replace(path)?,
        (Some(name), Some(path)) => table(&record, name)?.write(path)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn table(record: &Record, name: &str) -> Result<Table> {
    match name.split_once(':') {
        None if name == "trials" => record.trials(),
        None if name == "boots" => record.boots(),
        None if name == "summaries" => record.summary_table(),
        None if name == "comparisons" => record.compare()?.table(),
        Some(("samples", monitor)) => record.samples(monitor),
        _ => Err(
            Error::usage(format!("there is no table `{}`", escaped(name))).next(
                "use trials, boots, summaries, comparisons, or samples:MONITOR such as samples:meminfo",
            ),
        ),
    }
}

fn overview(record: &Record) -> Result<String> {
    let trials = &record.manifest().trials;
    let mut text = record.to_plain();
    if !trials.is_empty() {
        text.push('\n');
        text.push_str(&listing(trials));
    }
    for problem in problems(record)? {
        text.push_str(&format!("\nwarning: {}\n", escaped(&problem)));
    }
    Ok(text)
}

fn listing(trials: &[Trial]) -> String {
    let mut columns = Columns::new(&[
        "trial",
        "condition",
        "cell",
        "host",
        "boot",
        "kernel",
        "state",
        "",
    ]);
    for trial in trials {
        // Reasons stand above, with what else is to be known of the trials.
        let remark = match &trial.duplicate_of {
            Some(other) => format!("repeats {other}"),
            None => String::new(),
        };
        let boot: String = trial
            .boot_id
            .iter()
            .flat_map(|id| id.chars())
            .take(8)
            .collect();
        columns.row(&[
            &trial.id,
            &trial.condition,
            &cell(&trial.cell),
            trial.host.as_deref().unwrap_or(""),
            &boot,
            trial.kernel.as_deref().unwrap_or(""),
            trial.state.word(),
            &remark,
        ]);
    }
    columns.text()
}

fn cell(cell: &Cell) -> String {
    let parts: Vec<String> = cell.iter().map(|(k, v)| format!("{k}={v}")).collect();
    parts.join(" ")
}

/// What is not there of a trial: lines that are not read, samples that were not taken.
fn of_parsed(parsed: &Parsed) -> Vec<String> {
    let missed = parsed.missed.iter().map(|missed| {
        let (monitor, count, due) = (&missed.monitor, missed.count, missed.due());
        format!("monitor {monitor} missed {count} of {due} samples")
    });
    let unread = (parsed.unread_count > 0).then(|| {
        let count = parsed.unread_count;
        let lines = if count == 1 { "line" } else { "lines" };
        let first = parsed.unread.first().map_or("", String::as_str);
        format!("{count} {lines} could not be read, first {first}")
    });
    unread.into_iter().chain(missed).collect()
}

/// What is wrong with the record's files.
fn problems(record: &Record) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for trial in &record.manifest().trials {
        match record.parse(trial) {
            Ok(parsed) => {
                let of_trial = of_parsed(&parsed).into_iter();
                problems.extend(of_trial.map(|problem| format!("{}: {problem}", trial.id)));
            }
            Err(error) => problems.push(format!("{}: {error}", trial.id)),
        }
    }
    match record.manifest().state {
        State::Running => problems.push(
            "the run is under way, or was killed: its files have no hashes to be checked by".into(),
        ),
        _ => problems.extend(record.check_files()?),
    }
    Ok(problems)
}
