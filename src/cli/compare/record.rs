//! `ktrial compare RECORD`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cli::compare::{Args, Format, setup};
use crate::compare::{Choice, Comparison, Comparisons, Verdict, is_of};
use crate::error::{Error, Result};
use crate::parse::no_such;
use crate::plot::Figure;
use crate::record::{Claim, Record, State};
use crate::report::Report;

/// Compares the conditions of a record. Holm's family is every metric that was named before the run (every one, when
/// none was) and those asked for now, whatever is shown.
pub fn compare_record(path: &Path, args: &Args) -> Result<Report> {
    refuse_options_of_files(args)?;
    let record = Record::open(path)?;
    let choice = Choice {
        keep_duplicates: args.keep_duplicates,
        also: &args.metric,
        against: args.against.as_deref(),
    };
    let all = record.compare_with(&args.options(), &choice)?;
    let shown = match args.format {
        Format::Json if args.metric.is_empty() => all.to_vec(),
        _ => chosen(&record, &all, args)?,
    };
    let mut notes = record.manifest().notes.clone();
    notes.extend(record.manifest().claims.iter().map(claimed));
    notes.extend(kernels(&record));
    notes.extend(without_values(&record, &all));
    notes.extend(record.damage()?);
    notes.extend(left_out(&all, &shown));
    Ok(Report {
        title: title(&record),
        setup: unfinished(&record)
            .into_iter()
            .chain(setup::setup(&record))
            .collect(),
        figures: figures(&record, &shown, args)?,
        comparisons: shown,
        notes,
    })
}

/// A record says itself what its numbers are.
fn refuse_options_of_files(args: &Args) -> Result<()> {
    let given = [
        ("--series", args.series),
        ("--runs", args.runs),
        ("--unit", args.unit.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::usage(format!(
            "{option} is for two files of numbers: a record says what its numbers are"
        ))
        .next("leave it out")),
    }
}

fn title(record: &Record) -> String {
    let manifest = record.manifest();
    match &manifest.question {
        Some(question) => format!("{} ({})", question, manifest.name),
        None => manifest.name.clone(),
    }
}

/// The metrics that `--metric` names (`memory.used` stands for all of its summaries), else those named before the run,
/// else the primary metric and the other summaries of its series, else all.
fn chosen(record: &Record, all: &Comparisons, args: &Args) -> Result<Vec<Comparison>> {
    let mut named: Vec<&str> = args.metric.iter().map(String::as_str).collect();
    let primary = record.manifest().primary.clone();
    let few = named.is_empty() && record.manifest().secondary.is_empty();
    if let (true, Some(primary)) = (few, &primary) {
        named.push(primary);
        named.extend(primary.rsplit_once('.').map(|(series, _)| series));
    }
    if named.is_empty() {
        return Ok(all.to_vec());
    }
    for name in &args.metric {
        if !all.iter().any(|c| is_of(&c.metric, name)) {
            let mut known: Vec<String> = all.iter().map(|c| c.metric.clone()).collect();
            known.dedup();
            return Err(no_such("metric", name, &known).at(record.dir()));
        }
    }
    let is_shown = |c: &&Comparison| named.iter().any(|name| is_of(&c.metric, name));
    Ok(all.iter().filter(is_shown).cloned().collect())
}

/// A published figure, which stands alone: nothing can be compared with it.
fn claimed(claim: &Claim) -> String {
    let n = claim
        .n
        .map_or("n not stated".into(), |n| format!("n = {n}"));
    format!(
        "claimed without its data: {} {} ({n}, no interval): {}",
        claim.metric,
        claim.figure(),
        claim.what
    )
}

/// Conditions that never ran on the same kernel: what a reader must not take for the effect of one patch.
fn kernels(record: &Record) -> Option<String> {
    let mut kernels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for trial in &record.manifest().trials {
        if let (State::Complete, Some(kernel)) = (trial.state, &trial.kernel) {
            kernels.entry(&trial.condition).or_default().insert(kernel);
        }
    }
    let apart = |(index, a): (usize, &BTreeSet<&str>)| {
        kernels.values().skip(index + 1).all(|b| a.is_disjoint(b))
    };
    let differ = kernels.len() > 1 && kernels.values().enumerate().all(apart);
    let words = record.manifest().conditions.iter().filter_map(|condition| {
        let releases: Vec<&str> = kernels.get(condition.as_str())?.iter().copied().collect();
        Some(format!("{condition} {}", releases.join(", ")))
    });
    let words: Vec<String> = words.collect();
    differ.then(|| {
        format!(
            "each condition ran on a kernel of its own ({}): a difference is that of the kernels, in all that they \
             differ in",
            words.join("; ")
        )
    })
}

/// Metrics that were named before the run and that no complete trial has.
fn without_values(record: &Record, all: &Comparisons) -> Vec<String> {
    let manifest = record.manifest();
    let compared = |metric: &String| all.iter().any(|c| c.metric == *metric);
    let ran = manifest.trials.iter().any(|t| t.state == State::Complete);
    let primary = manifest
        .primary
        .iter()
        .map(|metric| ("the primary metric", metric));
    let others = manifest
        .secondary
        .iter()
        .map(|metric| ("the metric", metric));
    let missing = primary
        .chain(others)
        .filter(|(_, metric)| ran && !compared(metric));
    let sentence = |(what, metric)| {
        format!(
            "{what} {metric} is missing: no complete trial has a value of it, and nothing is said of it here; \
             `ktrial show` has the trials' notes"
        )
    };
    missing.map(sentence).collect()
}

/// Trials that gave no summaries, in one sentence.
fn unfinished(record: &Record) -> Option<String> {
    let manifest = record.manifest();
    let states: Vec<String> = manifest
        .trials
        .iter()
        .filter(|trial| trial.state != State::Complete)
        .map(|trial| format!("{} {}", trial.id, trial.state.word()))
        .collect();
    (!states.is_empty()).then(|| {
        format!(
            "{} of {} trials are not complete and not compared: {}",
            states.len(),
            manifest.trials.len(),
            states.join(", ")
        )
    })
}

fn left_out(all: &Comparisons, shown: &[Comparison]) -> Option<String> {
    let others = all.len() - shown.len();
    let supported = |comparisons: &[Comparison]| {
        let supported = comparisons
            .iter()
            .filter(|c| c.verdict == Verdict::Supported);
        supported.count()
    };
    (others > 0).then(|| {
        let further = match others {
            1 => "1 further comparison is".to_owned(),
            _ => format!("{others} further comparisons are"),
        };
        format!(
            "{further} not shown, {} supported: `ktrial show RECORD --table comparisons` lists all, `--metric NAME` \
             shows those of one metric; Holm's family is all of them",
            supported(all) - supported(shown)
        )
    })
}

/// What the verdict's sentences speak of, drawn: the primary metric, else what is supported, else the first.
fn figures(record: &Record, shown: &[Comparison], args: &Args) -> Result<Vec<Figure>> {
    let mut told: Vec<&Comparison> = shown.iter().filter(|c| c.primary).collect();
    if told.is_empty() {
        told = shown
            .iter()
            .filter(|c| c.verdict == Verdict::Supported)
            .collect();
    }
    if told.is_empty() {
        told.extend(shown.first());
    }
    let tested = told.iter().filter(|c| c.a.n > 1 || c.b.n > 1);
    let mut figures: Vec<Figure> = tested.map(|c| c.figure()).collect();
    let over_time = told
        .first()
        .and_then(|c| Some((c.metric.rsplit_once('.')?.0, &c.cell)));
    if let (Some((series, cell)), true) = (over_time, args.metric.len() < 2)
        && record.series(series).is_ok()
    {
        figures.push(record.figure(Some(series), cell)?);
    }
    Ok(figures)
}
