//! `ktrial compare A B`: what two files of numbers have in common.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ascii::excerpt;
use crate::cli::compare::{Args, looks, names, runs, series};
use crate::error::{Error, Result};
use crate::parse::free::Layout;
use crate::parse::header::Header;
use crate::parse::number_file::NumberFile;
use crate::report::Report;
use crate::unit::Unit;

/// What a file says of its numbers beside the numbers.
#[derive(Debug)]
pub(super) struct About {
    pub path: PathBuf,
    pub header: Header,
    pub free_layout: Option<Layout>,
    pub warnings: Vec<String>,
}

/// What the numbers of both files are.
#[derive(Debug)]
pub(super) struct Meaning {
    pub metric: String,
    /// A's unit, in which everything is shown.
    pub unit: Unit,
    /// From B's unit to A's.
    pub b_factor: f64,
    pub conditions: [String; 2],
    pub warnings: Vec<String>,
}

pub(super) fn compare_files(a: &Path, b: &Path, args: &Args) -> Result<Report> {
    if names::is_standard_input(a) && names::is_standard_input(b) {
        return Err(Error::usage("the standard input can be read only once")
            .next("give the other one as a file"));
    }
    if args.keep_duplicates {
        return Err(Error::usage(
            "--keep-duplicates is for records: numbers in files are never dropped",
        )
        .next("leave it out"));
    }
    if args.metric.len() > 1 {
        return Err(Error::usage("two files hold one metric").next("give --metric once"));
    }
    if args.series {
        series::compare(a, b, args)
    } else if args.runs {
        runs::compare(a, b, args)
    } else {
        Err(looks::which(a, b)?)
    }
}

/// Reads a whole file; `take` gets every number.
///
/// # Errors
/// As [`NumberFile`], for a file without any number, and what `take` returns.
pub(super) fn read(path: &Path, mut take: impl FnMut(f64) -> Result<()>) -> Result<About> {
    let mut file = NumberFile::open(path)?;
    let mut any = false;
    for value in file.by_ref() {
        take(value?)?;
        any = true;
    }
    if !any {
        return Err(file.empty());
    }
    Ok(About {
        path: path.to_owned(),
        header: file.header().clone(),
        free_layout: file.free_layout(),
        warnings: file.warnings(),
    })
}

/// Settles metric and unit of two files.
///
/// # Errors
/// When they cannot be compared: units of different families, different metrics.
pub(super) fn settle(a: &About, b: &About, args: &Args) -> Result<Meaning> {
    let conditions = names::conditions(&a.path, &b.path);
    let mut warnings = Vec::new();
    if same_file(&a.path, &b.path) {
        warnings.push(format!(
            "A and B are one file, {}: nothing can differ; give the file of the other condition",
            excerpt(&b.path.to_string_lossy(), 100)
        ));
    }
    for (about, condition) in [a, b].into_iter().zip(&conditions) {
        warnings.extend(about.warnings.iter().map(|w| format!("{condition}: {w}")));
    }
    let metric = metric(a, b, args)?;
    let (unit, b_factor) = unit(a, b, args, &conditions, &mut warnings)?;
    if let (Some(x), Some(y)) = (a.free_layout, b.free_layout)
        && x != y
        && [x, y].contains(&Layout::Old)
    {
        warnings.push("the logs are of different versions of `free`: in the old one used holds the page cache, in the new one not; record both with the same version".into());
    }
    Ok(Meaning {
        metric,
        unit,
        b_factor,
        conditions,
        warnings,
    })
}

/// Whether two paths lead to one file, whatever they are called.
fn same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|data| (data.dev(), data.ino()));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

fn metric(a: &About, b: &About, args: &Args) -> Result<String> {
    if let Some(metric) = args.metric.first() {
        return Ok(excerpt(metric, 100));
    }
    let said = |about: &About| {
        about
            .header
            .metric
            .clone()
            .or(about.free_layout.map(|_| "memory.used".to_owned()))
    };
    match (said(a), said(b)) {
        (Some(x), Some(y)) if x != y => Err(Error::input(format!(
            "the files hold different metrics: `{x}` and `{y}`"
        ))
        .at(&b.path)
        .next("compare files of one metric, or say with --metric what both are")),
        (Some(x), _) | (None, Some(x)) => Ok(x),
        (None, None) => Ok("value".into()),
    }
}

fn unit(
    a: &About,
    b: &About,
    args: &Args,
    conditions: &[String; 2],
    warnings: &mut Vec<String>,
) -> Result<(Unit, f64)> {
    let given: Option<Unit> = args.unit.as_deref().map(str::parse).transpose()?;
    let said = |about: &About| match (&about.header.unit, &given) {
        (Some(said), Some(given)) if said != given => Err(Error::usage(format!(
            "--unit {given}, but the file says `# unit: {said}`"
        ))
        .at(&about.path)
        .next("leave --unit out, or correct the file")),
        (said, given) => Ok(said.clone().or(given.clone())),
    };
    let or_free = |said: Option<Unit>, about: &About| said.or(about.free_layout.map(|_| Unit::KiB));
    let (said_a, said_b) = (said(a)?, said(b)?);
    if [(&said_a, a), (&said_b, b)]
        .iter()
        .any(|(said, about)| said.is_none() && about.free_layout.is_some())
    {
        warnings.push("a log of `free` does not say its unit: KiB is assumed, as of `free` or `free -k`; give --unit MiB for `free -m`".into());
    }
    match (or_free(said_a, a), or_free(said_b, b)) {
        (None, None) => Ok((Unit::None, 1.0)),
        (Some(unit), None) => Ok((assumed(unit, &conditions[1], &conditions[0], warnings), 1.0)),
        (None, Some(unit)) => Ok((assumed(unit, &conditions[0], &conditions[1], warnings), 1.0)),
        (Some(x), Some(y)) => {
            let factor = y.factor_to(&x).ok_or_else(|| {
                Error::input(format!("the files have different units: {x} and {y}"))
                    .at(&b.path)
                    .next("compare files of one unit")
            })?;
            if x != y {
                warnings.push(format!(
                    "{} is in {y} and was converted to {x}, the unit of {}",
                    conditions[1], conditions[0]
                ));
            }
            Ok((x, factor))
        }
    }
}

fn assumed(unit: Unit, silent: &str, other: &str, warnings: &mut Vec<String>) -> Unit {
    warnings.push(format!(
        "{silent} does not say its unit: {unit} is assumed, as in {other}; give --unit to be sure"
    ));
    unit
}

/// Memory cannot be negative.
pub(super) fn negative(meaning: &Meaning, min: [f64; 2]) -> Option<String> {
    let memory =
        meaning.unit.factor_to(&Unit::Byte).is_some() || meaning.metric.starts_with("memory.");
    let below: Vec<&str> = meaning
        .conditions
        .iter()
        .zip(min)
        .filter(|(_, min)| *min < 0.0)
        .map(|(condition, _)| condition.as_str())
        .collect();
    (memory && !below.is_empty()).then(|| {
        format!(
            "negative values of memory in {}: fine for differences, else check the file",
            below.join(" and ")
        )
    })
}
