//! Records: what they are and their trials.

use crate::ascii::escaped;
use crate::display::{Column, Listing, Rich, Show, escape_html};
use crate::record::{Record, RecordKind, Trial};

impl Show for Record {
    fn to_plain(&self) -> String {
        let facts = facts(self).into_iter();
        let mut text: String = facts
            .map(|(name, value)| format!("{name:<11} {}\n", escaped(&value)))
            .collect();
        text.push('\n');
        text.push_str(&trials(self).to_plain());
        text
    }

    fn to_rich(&self) -> Rich {
        let facts = facts(self).into_iter();
        let facts = facts.map(|(name, value)| {
            format!("<tr><th style=\"text-align:left\">{name}</th><td style=\"text-align:left\">{}</td></tr>\n", escape_html(&value))
        });
        let facts: String = facts.collect();
        Rich::Html(format!(
            "<table>\n{facts}</table>\n{}",
            trials(self).to_html()
        ))
    }
}

fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let manifest = record.manifest();
    let mut facts = vec![("record", manifest.name.clone())];
    if let Some(question) = &manifest.question {
        facts.push(("question", question.clone()));
    }
    let kind = match manifest.kind {
        RecordKind::Run => "run by ktrial",
        RecordKind::Import => "figures that others measured",
    };
    facts.push(("kind", format!("{kind}, {}", manifest.state.word())));
    if let Some(source) = &manifest.source {
        let parts = [
            Some(&source.author),
            source.date.as_ref(),
            source.list.as_ref(),
            source.message.as_ref(),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().map(String::as_str).collect();
        facts.push(("source", parts.join(", ")));
    }
    facts.push(("conditions", manifest.conditions.join(", ")));
    if let Some(primary) = &manifest.primary {
        facts.push(("primary", primary.clone()));
    }
    facts.extend(manifest.notes.iter().map(|note| ("note", note.clone())));
    let claims = manifest.claims.iter().map(|claim| {
        let n = claim
            .n
            .map_or("n not stated".to_owned(), |n| format!("n {n}"));
        format!("{}: {}, {n}", claim.what, claim.unit.show(claim.value))
    });
    facts.extend(claims.map(|claim| ("claim", claim)));
    facts
}

fn trials(record: &Record) -> Listing {
    let trials = &record.manifest().trials;
    let columns = [
        "trial",
        "condition",
        "parameters",
        "host",
        "state",
        "what to know",
    ];
    Listing::of_rows(columns.map(Column::text).into(), trials.len(), |row| {
        trials.get(row).map(trial_row).unwrap_or_default()
    })
}

fn trial_row(trial: &Trial) -> Vec<String> {
    let cell: Vec<_> = trial
        .cell
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let mut remarks: Vec<String> = trial.reason.iter().cloned().collect();
    if let Some(original) = &trial.duplicate_of {
        remarks.push(format!("same figures as {original}"));
    }
    remarks.extend(trial.notes.iter().cloned());
    vec![
        trial.id.clone(),
        trial.condition.clone(),
        cell.join(", "),
        trial.host.clone().unwrap_or_default(),
        trial.state.word().to_owned(),
        remarks.join("; "),
    ]
}
