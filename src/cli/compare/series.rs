//! `ktrial compare --series A B`: each file is one trial's samples over time.

use std::path::Path;

use crate::cli::compare::Args;
use crate::cli::compare::files::{self, About, Meaning};
use crate::compare::{SeriesTrial, compare_series};
use crate::error::{Error, Result};
use crate::plot::{Figure, Line};
use crate::report::Report;
use crate::summary::stream::{Stream, StreamSummary};
use crate::unit::Unit;

pub(super) fn compare(a: &Path, b: &Path, args: &Args) -> Result<Report> {
    let ((about_a, a), (about_b, b)) = (read(a)?, read(b)?);
    let mut meaning = files::settle(&about_a, &about_b, args)?;
    let b = b.scaled(meaning.b_factor);
    meaning
        .warnings
        .extend(files::negative(&meaning, [a.min, b.min]));
    meaning.warnings.extend(unit_hint(&meaning, &a, &b));
    meaning.warnings.extend(short(&meaning, [&a, &b]));
    if about_a.header.interval_s.is_none() || about_b.header.interval_s.is_none() {
        meaning.warnings.push(
            "no `# interval: 1 s` in a file: one sample a second is assumed for the time axis"
                .into(),
        );
    }
    let trial = |condition: &String, summary, quantum| SeriesTrial {
        condition: condition.clone(),
        summary,
        quantum,
    };
    let b_quantum = about_b.header.quantum.map(|q| q * meaning.b_factor);
    let [name_a, name_b] = &meaning.conditions;
    let (a, b) = (
        trial(name_a, a, about_a.header.quantum),
        trial(name_b, b, b_quantum),
    );
    let mut comparisons = compare_series(&meaning.metric, &meaning.unit, &a, &b, &args.options());
    for comparison in &mut comparisons {
        comparison.warnings.extend(meaning.warnings.iter().cloned());
    }
    let figure = Figure::time_series(
        "",
        &meaning.metric,
        &meaning.unit,
        vec![line(&a, &about_a), line(&b, &about_b)],
    );
    Ok(Report {
        title: format!(
            "Each file is one trial: {} and {} samples over time.",
            a.summary.count, b.summary.count
        ),
        setup: Vec::new(),
        comparisons,
        figures: vec![figure],
        notes: Vec::new(),
    })
}

fn read(path: &Path) -> Result<(About, StreamSummary)> {
    let mut stream = Stream::default();
    let about = files::read(path, |value| {
        stream.push(value);
        Ok(())
    })?;
    let summary = stream
        .finish()
        .ok_or_else(|| Error::input("no number").at(path).next("check the file"))?;
    Ok((about, summary))
}

fn line(trial: &SeriesTrial, about: &About) -> Line {
    let interval_s = about.header.interval_s.unwrap_or(1.0);
    let points = &trial.summary.curve;
    Line {
        label: trial.condition.clone(),
        condition: trial.condition.clone(),
        time_s: points
            .iter()
            .map(|&(index, _)| index as f64 * interval_s)
            .collect(),
        values: points.iter().map(|&(_, value)| value).collect(),
        phases: Vec::new(),
    }
}

fn unit_hint(meaning: &Meaning, a: &StreamSummary, b: &StreamSummary) -> Option<String> {
    (meaning.unit == Unit::None).then(|| {
        let difference = b.peak - a.peak;
        let direction = if difference < 0.0 { "lower" } else { "higher" };
        format!(
            "the numbers have no unit; when they come from `free -k`, give --unit KiB: the peak is {} {direction} then",
            Unit::KiB.show(difference.abs())
        )
    })
}

fn short(meaning: &Meaning, summaries: [&StreamSummary; 2]) -> Option<String> {
    let single: Vec<&str> = meaning
        .conditions
        .iter()
        .zip(summaries)
        .filter(|(_, summary)| summary.count == 1)
        .map(|(condition, _)| condition.as_str())
        .collect();
    (!single.is_empty()).then(|| {
        format!(
            "only one sample in {}: peak, median, p95 and mean are that sample",
            single.join(" and ")
        )
    })
}
