//! `ktrial show`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::columns::Columns;
use crate::ascii::escaped;
use crate::error::{Error, Result};
use crate::frame::Table;
use crate::record::{Claim, Manifest, Record, RecordKind, Trial};
use crate::series::Cell;
use crate::unit::significant;

/// Show a record: where it comes from, its trials and warnings; or write one of its tables to a file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's folder.
    record: PathBuf,

    /// A table instead: trials, summaries, comparisons, or samples:MONITOR such as samples:meminfo.
    #[arg(long)]
    table: Option<String>,

    /// With --table: write it to a new file, .csv or .parquet.
    #[arg(short, long, requires = "table")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let record = Record::open(&args.record)?;
    match (&args.table, &args.output) {
        (None, _) => super::print(&overview(&record)?)?,
        (Some(name), None) => super::print(&format!("{}\n", table(&record, name)?))?,
        (Some(name), Some(path)) => table(&record, name)?.write(path)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn table(record: &Record, name: &str) -> Result<Table> {
    match name.split_once(':') {
        None if name == "trials" => record.trials(),
        None if name == "summaries" => record.summary_table(),
        None if name == "comparisons" => record.compare()?.table(),
        Some(("samples", monitor)) => record.samples(monitor),
        _ => Err(
            Error::usage(format!("there is no table `{}`", escaped(name))).next(
                "use trials, summaries, comparisons, or samples:MONITOR such as samples:meminfo",
            ),
        ),
    }
}

fn overview(record: &Record) -> Result<String> {
    let manifest = record.manifest();
    let mut text = head(manifest);
    if !manifest.trials.is_empty() {
        text.push('\n');
        text.push_str(&trials(&manifest.trials));
    }
    for claim in &manifest.claims {
        text.push_str(&format!("\nclaim: {}\n", show_claim(claim)));
    }
    let warnings = warnings(record)?;
    if !warnings.is_empty() {
        text.push('\n');
    }
    for warning in warnings {
        text.push_str(&format!("note: {}\n", escaped(&warning)));
    }
    Ok(text)
}

fn head(manifest: &Manifest) -> String {
    let mut lines = vec![
        ("record", manifest.name.clone()),
        ("state", manifest.state.word().to_owned()),
        (
            "made",
            format!("{} by {}", manifest.created, manifest.made_by),
        ),
    ];
    if let Some(question) = &manifest.question {
        lines.push(("question", question.clone()));
    }
    if let Some(primary) = &manifest.primary {
        lines.push(("primary", primary.clone()));
    }
    if let Some(source) = &manifest.source {
        let parts = [
            Some(source.author.clone()),
            source.date.clone(),
            source.list.clone(),
            source.message.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        lines.push(("source", parts.join(", ")));
    }
    for host in &manifest.hosts {
        let kernel = host.facts.get("kernel").map_or("", String::as_str);
        lines.push(("host", format!("{} {kernel}", host.name)));
    }
    if manifest.kind == RecordKind::Import {
        lines.push(("kind", "figures that others measured".to_owned()));
    }
    lines
        .iter()
        .map(|(key, value)| format!("{key:<9} {}\n", escaped(value)))
        .collect()
}

fn trials(trials: &[Trial]) -> String {
    let mut columns = Columns::new(&["trial", "condition", "cell", "host", "boot", "state", ""]);
    for trial in trials {
        let remark = match (&trial.duplicate_of, &trial.reason) {
            (Some(other), _) => format!("repeats {other}"),
            (None, Some(reason)) => reason.clone(),
            (None, None) => String::new(),
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

fn show_claim(claim: &Claim) -> String {
    let n = match claim.n {
        Some(n) => format!("n = {n}"),
        None => "n not stated".to_owned(),
    };
    let value = format!("{} {}", significant(claim.value), claim.unit);
    let mut text = format!("{}: {} {value} ({n})", claim.what, claim.metric);
    if !claim.cell.is_empty() {
        text.push_str(&format!("; {}", cell(&claim.cell)));
    }
    escaped(&text)
}

/// What a reader has to know before believing the numbers.
fn warnings(record: &Record) -> Result<Vec<String>> {
    let manifest = record.manifest();
    let mut warnings = manifest.notes.clone();
    for trial in &manifest.trials {
        warnings.extend(
            trial
                .notes
                .iter()
                .map(|note| format!("{}: {note}", trial.id)),
        );
        match record.parse(trial) {
            Ok(parsed) if parsed.unread_count > 0 => warnings.push(format!(
                "{}: {} lines could not be read, first {}",
                trial.id,
                parsed.unread_count,
                parsed.unread.first().map_or("", String::as_str)
            )),
            Ok(_) => {}
            Err(error) => warnings.push(format!("{}: {error}", trial.id)),
        }
    }
    warnings.extend(record.check_files()?);
    Ok(warnings)
}
