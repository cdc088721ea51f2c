//! `ktrial compare --runs A B`: each number is the result of one run.

use std::path::Path;

use crate::cli::compare::Args;
use crate::cli::compare::files::{self, About};
use crate::cli::compare::looks::Look;
use crate::compare::{Sample, adjust};
use crate::error::{Error, Result};
use crate::plot::{Figure, Group};
use crate::report::Report;
use crate::series::Cell;
use crate::summary::stream::Stream;

/// Most runs of one file.
const MOST_RUNS: usize = 1_000_000;

struct Runs {
    about: About,
    values: Vec<f64>,
    min: f64,
    look: Option<Look>,
}

pub(super) fn compare(a: &Path, b: &Path, args: &Args) -> Result<Report> {
    let (a, mut b) = (read(a)?, read(b)?);
    let mut meaning = files::settle(&a.about, &b.about, args)?;
    b.values
        .iter_mut()
        .for_each(|value| *value *= meaning.b_factor);
    let doubt = doubt(&meaning.conditions, [&a, &b]);
    if let Some(doubt) = &doubt {
        meaning.warnings.insert(0, doubt.clone());
    }
    meaning
        .warnings
        .extend(files::negative(&meaning, [a.min, b.min]));
    let [condition_a, condition_b] = meaning.conditions;
    let sample = |condition: &str, runs: Runs| Sample {
        condition: condition.to_owned(),
        values: runs.values,
    };
    let (a, b) = (sample(&condition_a, a), sample(&condition_b, b));
    let mut comparisons = vec![crate::compare::compare(
        &meaning.metric,
        &meaning.unit,
        &Cell::new(),
        &a,
        &b,
        &args.options(),
    )];
    adjust(&mut comparisons);
    for comparison in &mut comparisons {
        meaning.warnings.append(&mut comparison.warnings);
        comparison.warnings = std::mem::take(&mut meaning.warnings);
    }
    let group = |sample: Sample| Group {
        condition: sample.condition,
        values: sample.values,
    };
    let mut figure = Figure::runs("", &meaning.metric, &meaning.unit, vec![group(a), group(b)]);
    if let Some((difference, interval)) = comparisons
        .first()
        .and_then(|c| c.difference.zip(c.difference_ci))
    {
        figure = figure.with_interval(difference, interval);
    }
    Ok(Report {
        title: match doubt {
            None => "Each number is one run.".into(),
            Some(_) => {
                "Do not trust this verdict: each number is taken as one run, but not all look \
                like runs; the first note says why."
                    .into()
            }
        },
        setup: Vec::new(),
        comparisons,
        figures: vec![figure],
        notes: Vec::new(),
    })
}

/// What speaks against the numbers being runs: a verdict on samples of one trial means nothing.
fn doubt(conditions: &[String; 2], runs: [&Runs; 2]) -> Option<String> {
    let series: Vec<String> = conditions
        .iter()
        .zip(runs)
        .filter_map(|(condition, runs)| {
            let look = runs.look.as_ref().filter(|look| look.is_series())?;
            Some(format!("{condition} {look}"))
        })
        .collect();
    (!series.is_empty()).then(|| {
        format!(
            "{}; samples of one trial are not runs, and p values and verdict mean nothing then: use --series",
            series.join("; ")
        )
    })
}

fn read(path: &Path) -> Result<Runs> {
    let mut values = Vec::new();
    let mut stream = Stream::default();
    let about = files::read(path, |value| {
        if values.len() == MOST_RUNS {
            return Err(Error::input(format!(
                "more than {MOST_RUNS} numbers: that looks like a time series, not like runs"
            ))
            .at(path)
            .next("use --series if each file holds one trial's samples"));
        }
        values.push(value);
        stream.push(value);
        Ok(())
    })?;
    if about.free_layout.is_some() {
        return Err(Error::input(
            "this is a log of `free`: samples over time, of which --runs would make as many runs",
        )
        .at(path)
        .next("--series compares two logs; --runs is for files with one result of each run"));
    }
    let summary = stream.finish();
    Ok(Runs {
        about,
        values,
        min: summary.as_ref().map_or(0.0, |summary| summary.min),
        look: summary.map(|summary| Look::of(&summary, false)),
    })
}
