//! Records from what others measured: mails with blame lists, gnuplot text plots or figures in prose.

mod about;
mod boots;
mod claims;
mod duplicates;
mod mail;
mod plots;

pub use about::{About, Plotted};
pub use mail::{Mail, Origin};

use std::path::Path;

use crate::error::{Error, Result};
use crate::record::{
    Manifest, RawFile, Record, RecordKind, RecordWriter, Replication, Source, Trial,
};

/// What to take from a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Kind {
    /// `systemd-analyze blame` lists of boots under headings.
    Blame,
    /// Plots that gnuplot drew with `set term dumb`.
    Plot,
    /// Only the figures that `--about` claims.
    Claims,
}

/// The trials of a record to be, before anything is written.
struct Draft {
    conditions: Vec<String>,
    replication: Replication,
    trials: Vec<DraftTrial>,
    how: String,
    notes: Vec<String>,
}

struct DraftTrial {
    trial: Trial,
    raw: Vec<RawPart>,
}

/// A raw file of a trial, named within the trial's folder.
struct RawPart {
    monitor: &'static str,
    name: String,
    bytes: Vec<u8>,
}

/// Makes a record of a mail in the new folder `dir`. `kind` chooses when the mail holds more than one thing.
///
/// # Errors
/// `Input` with the place when the mail holds nothing that is known, when what it holds cannot be read without guessing,
/// when a claim does not stand in it, or when `dir` exists.
pub fn import(mail: &Mail, about: &About, kind: Option<Kind>, dir: &Path) -> Result<Record> {
    let origin = about.source.clone().or(mail.origin.clone());
    let author = origin.author.ok_or_else(|| {
        Error::input("the mail's header names no author")
            .at(&mail.file)
            .next("give --author NAME")
    })?;
    if let Some(date) = origin.date.as_deref().filter(|d| !is_date(d)) {
        return Err(
            Error::usage(format!("`{}` is no date", date.escape_default()))
                .next("write YYYY-MM-DD, or YYYY-MM or YYYY where no more is known"),
        );
    }
    claims::check(mail, &about.claims)?;
    let draft = draft(mail, about, kind)?;

    let name = dir
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .ok_or_else(|| Error::usage("the record needs a folder's name").at(dir))?;
    let mut manifest = Manifest::new(&name, RecordKind::Import, draft.replication);
    manifest.source = Some(Source {
        author,
        date: origin.date,
        list: origin.list,
        subject: origin.subject,
        message: origin.message,
        sha256: Some(mail.sha256.clone()),
        how: Some(draft.how),
    });
    manifest.question = about.question.clone();
    manifest.conditions = ordered(draft.conditions, &about.conditions, mail)?;
    manifest.claims = about.claims.clone();
    manifest.notes = [draft.notes, about.notes.clone()].concat();

    let mut writer = RecordWriter::create(dir)?;
    for DraftTrial { mut trial, raw } in draft.trials {
        for part in raw {
            let path = format!("raw/{}/{}", trial.id, part.name);
            writer.write_raw(&path, &part.bytes)?;
            trial.raw.push(RawFile {
                monitor: part.monitor.into(),
                path,
            });
        }
        manifest.trials.push(trial);
    }
    writer.finish(manifest)
}

fn draft(mail: &Mail, about: &About, kind: Option<Kind>) -> Result<Draft> {
    let claims = || {
        (!about.claims.is_empty()).then(|| Draft {
            conditions: about.conditions.clone(),
            replication: Replication::Trial,
            trials: Vec::new(),
            how: "figures in prose: a person says what each means, \
                  the importer checked that number, unit and stated runs stand in the mail"
                .into(),
            notes: Vec::new(),
        })
    };
    let blame = || boots::draft(mail, about.parameter.as_deref());
    let plot = || plots::draft(mail, about);
    let found = match kind {
        Some(Kind::Blame) => blame()?,
        Some(Kind::Plot) => plot()?,
        Some(Kind::Claims) => claims(),
        None => match (blame()?, plot()?) {
            (Some(_), Some(_)) => {
                return Err(Error::input("holds both blame lists and plots")
                    .at(&mail.file)
                    .next("choose with --kind blame or --kind plot"));
            }
            (Some(draft), None) | (None, Some(draft)) => Some(draft),
            (None, None) => claims(),
        },
    };
    found.ok_or_else(|| nothing(mail, kind))
}

fn nothing(mail: &Mail, kind: Option<Kind>) -> Error {
    let looked_for = match kind {
        Some(Kind::Blame) => "lines of `systemd-analyze blame`",
        Some(Kind::Plot) => "plots that gnuplot drew with `set term dumb`",
        Some(Kind::Claims) => "claims in the file of --about",
        None => {
            "lines of `systemd-analyze blame`, plots that gnuplot drew with `set term dumb`, claims in the file of --about"
        }
    };
    let next = match mail.encoding {
        Some(encoding) => {
            format!("the mail's text is {encoding}: decode it first, or save it as plain text")
        }
        None => format!(
            "in prose the mail says {}; write what such figures mean into a file (docs/record.md) and give it with --about FILE",
            claims::list(&claims::measured(&claims::figures(&mail.text)))
        ),
    };
    Error::input(format!("nothing found; looked for {looked_for}"))
        .at(&mail.file)
        .next(next)
}

/// The conditions found, in the order that the person gives.
fn ordered(found: Vec<String>, given: &[String], mail: &Mail) -> Result<Vec<String>> {
    if given.is_empty() {
        return Ok(found);
    }
    let mut sorted = (found.clone(), given.to_vec());
    sorted.0.sort();
    sorted.1.sort();
    if sorted.0 != sorted.1 {
        return Err(Error::input(format!(
            "the mail's conditions are {}, not {}",
            found.join(", ").escape_default(),
            given.join(", ").escape_default()
        ))
        .at(&mail.file)
        .next("correct `conditions` in the file of --about"));
    }
    Ok(given.to_vec())
}

/// A day, a month or a year.
fn is_date(text: &str) -> bool {
    let day = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    day.parse::<jiff::civil::Date>().is_ok() && text.len() <= 10
}

/// `t01`, `t02`, ...; wide enough for all to sort by name.
fn trial_id(index: usize, count: usize) -> String {
    let width = count.to_string().len().max(2);
    format!("t{:0width$}", index + 1)
}
