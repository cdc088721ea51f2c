//! `ktrial import`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::record::Record;
use crate::record::import::{About, Kind, Mail, Origin, import};

/// Make a record from a mail with figures.
///
/// Reads boots (`systemd-analyze blame` lists under headings), plots (gnuplot's `set term dumb`) and figures
/// in prose that a file given with --about explains. The record holds the figures and their source.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The mail, as a text file.
    mail: PathBuf,
    /// The record's new folder; `data/` and the name of the file of --about or of the mail when not given.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// A YAML file that says what the mail does not: source, conditions, claims (docs/record.md).
    #[arg(long, value_name = "FILE")]
    about: Option<PathBuf>,
    /// What to take from the mail, when it holds more than one thing.
    #[arg(long)]
    kind: Option<Kind>,
    /// What the outer headings over boots are values of, such as `config`.
    #[arg(long, value_name = "NAME")]
    parameter: Option<String>,
    /// The author's name.
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// When the mail was sent: YYYY-MM-DD, or YYYY-MM or YYYY where no more is known.
    #[arg(long)]
    date: Option<String>,
    /// The mailing list's name.
    #[arg(long, value_name = "NAME")]
    list: Option<String>,
    /// The mail's subject.
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// Message-ID or link.
    #[arg(long, value_name = "ID")]
    message: Option<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut about = match &args.about {
        Some(file) => About::read(file)?,
        None => About::default(),
    };
    let given = Origin {
        author: args.author.clone(),
        date: args.date.clone(),
        list: args.list.clone(),
        subject: args.subject.clone(),
        message: args.message.clone(),
    };
    about.source = given.or(about.source);
    about.parameter = args.parameter.clone().or(about.parameter);
    let mail = Mail::read(&args.mail)?;
    let record = import(&mail, &about, args.kind, &folder(args)?)?;
    print!("{}", summary(&record));
    Ok(ExitCode::SUCCESS)
}

fn folder(args: &Args) -> Result<PathBuf> {
    if let Some(folder) = &args.output {
        return Ok(folder.clone());
    }
    let named_after = args.about.as_ref().unwrap_or(&args.mail);
    named_after
        .file_stem()
        .map(|stem| PathBuf::from("data").join(stem))
        .ok_or_else(|| Error::usage("the record has no name").next("give -o DIR"))
}

fn summary(record: &Record) -> String {
    let manifest = record.manifest();
    let mut text = format!(
        "{}: {} trials, {} claims; conditions: {}\n",
        record.dir().display(),
        manifest.trials.len(),
        manifest.claims.len(),
        manifest.conditions.join(", ")
    );
    for trial in &manifest.trials {
        for note in &trial.notes {
            text.push_str(&format!("  {}: {note}\n", trial.id));
        }
    }
    for note in &manifest.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}
