//! Records: what they are, where they come from and what a reader has to know of them.

use std::collections::BTreeMap;

use crate::ascii::escaped;
use crate::display::{Rich, Show, escape_html};
use crate::record::{Record, RecordKind, Trial};

/// Remarks past this number are counted, not shown.
const MAX_REMARKS: usize = 20;

impl Show for Record {
    fn to_plain(&self) -> String {
        let facts = facts(self).into_iter();
        facts
            .map(|(name, value)| format!("{:<12}{}\n", escaped(&name), escaped(&value)))
            .collect()
    }

    fn to_rich(&self) -> Rich {
        let mut html = String::from("<table>\n");
        for (name, value) in facts(self) {
            let (name, value) = (escape_html(&name), escape_html(&value));
            html.push_str("<tr style=\"text-align:left;vertical-align:top\">");
            html.push_str(&format!(
                "<th>{name}</th><td style=\"text-align:left\">{value}</td></tr>\n"
            ));
        }
        html.push_str("</table>\n");
        Rich::Html(html)
    }
}

fn facts(record: &Record) -> Vec<(String, String)> {
    let manifest = record.manifest();
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    add("record", manifest.name.clone());
    if let Some(question) = &manifest.question {
        add("question", question.clone());
    }
    let kind = match manifest.kind {
        RecordKind::Run => "run by ktrial",
        RecordKind::Import => "figures that others measured",
    };
    add("kind", format!("{kind}, {}", manifest.state.word()));
    if let Some(source) = &manifest.source {
        add("source", source.citation());
    }
    add("conditions", manifest.conditions.join(", "));
    if let Some(primary) = &manifest.primary {
        add("primary", primary.clone());
    }
    for host in &manifest.hosts {
        let kernels = manifest.kernels(host).join(", ");
        add("host", format!("{} {kernels}", host.name));
    }
    add(
        "made",
        format!("{} by {}", manifest.created, manifest.made_by),
    );
    add("trials", states(&manifest.trials));
    for claim in &manifest.claims {
        let n = claim
            .n
            .map_or("n not stated".to_owned(), |n| format!("n {n}"));
        add("claim", format!("{}: {}, {n}", claim.what, claim.figure()));
    }
    for note in &manifest.notes {
        add("note", note.clone());
    }
    let remarks: Vec<_> = manifest.trials.iter().flat_map(remarks).collect();
    for (trial, remark) in remarks.iter().take(MAX_REMARKS) {
        add(trial, (*remark).clone());
    }
    if remarks.len() > MAX_REMARKS {
        add(
            "",
            format!(
                "{} more remarks on trials; the table `trials` has all reasons",
                remarks.len() - MAX_REMARKS
            ),
        );
    }
    facts
}

/// How many trials there are in each state: `6: 5 complete, 1 failed`.
fn states(trials: &[Trial]) -> String {
    if trials.is_empty() {
        return "none".to_owned();
    }
    let mut counts = BTreeMap::new();
    for trial in trials {
        *counts.entry(trial.state.word()).or_insert(0) += 1;
    }
    let counts: Vec<_> = counts
        .iter()
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    format!("{}: {}", trials.len(), counts.join(", "))
}

fn remarks(trial: &Trial) -> impl Iterator<Item = (&str, &String)> {
    let remarks = trial.reason.iter().chain(&trial.notes);
    remarks.map(|remark| (trial.id.as_str(), remark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Manifest, RecordWriter, Replication, State};

    #[test]
    fn a_record_tells_what_became_of_its_trials_and_escapes_what_hosts_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new("r", RecordKind::Run, Replication::Trial);
        for (id, state) in [
            ("t01", State::Complete),
            ("t02", State::Failed),
            ("t03", State::NotRun),
        ] {
            let mut trial = Trial::new(id, "before");
            trial.state = state;
            manifest.trials.push(trial);
        }
        manifest.trials[1].reason = Some("<b>\u{1b}[2J".into());
        let writer = RecordWriter::create(&dir.path().join("r")).unwrap();
        let record = writer.finish(manifest).unwrap();
        let plain = record.to_plain();
        assert!(
            plain.contains("3: 1 complete, 1 failed, 1 not-run"),
            "{plain}"
        );
        let writer = RecordWriter::create(&dir.path().join("claims")).unwrap();
        let empty = Manifest::new("claims", RecordKind::Import, Replication::Trial);
        let claims = writer.finish(empty).unwrap().to_plain();
        assert!(claims.contains("trials      none\n"), "{claims}");
        assert!(plain.contains("t02         <b>\\u{1b}[2J"), "{plain}");
        let html = record.to_html();
        assert!(
            html.contains("<th>t02</th>") && html.contains("&lt;b&gt;\u{fffd}[2J"),
            "{html}"
        );
    }
}
