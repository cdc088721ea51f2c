//! The plan as text: ASCII, at most 100 columns.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::{boots, scripts};
use crate::ascii::escaped;
use crate::experiment::{BOOT_TAKES, OVERHEAD_A_TRIAL, Order, Plan, PlannedTrial, WorkloadKind};
use crate::monitor;
use crate::supervisor::{self, Kind};

pub(super) const COLUMNS: usize = 100;

pub fn render(plan: &Plan, scripts: bool) -> String {
    let mut out = String::new();
    head(plan, &mut out);
    trials(plan, &mut out);
    match scripts {
        true => scripts::commands(plan, &mut out),
        false => outline(plan, &mut out),
    }
    out
}

fn head(plan: &Plan, out: &mut String) {
    let experiment = &plan.experiment;
    let design = &experiment.design;
    let order = match design.order {
        Order::Abba => "abba".to_owned(),
        Order::Random => format!("random, seed {}", design.seed),
    };
    let n = plan.trials_a_condition();
    let (estimate, duration) = (
        clock(plan.estimated_time()),
        clock(experiment.workload.duration),
    );
    let each = match (&experiment.boot, experiment.workload.kind) {
        (_, WorkloadKind::Boot) => format!("a boot of about {duration}"),
        (boot, _) => {
            let boot = boot.as_ref().map(|boot| {
                let takes = clock(BOOT_TAKES);
                format!(", and a boot of about {takes} each {}", boot.every.words())
            });
            format!(
                "idle {} + workload {duration} + settle {} + about {}{}",
                clock(experiment.idle),
                clock(experiment.settle),
                clock(OVERHEAD_A_TRIAL),
                boot.unwrap_or_default()
            )
        }
    };
    let trials = plan.trials.len() / plan.hosts().len().max(1);
    let phases = format!("{estimate} a host: {trials} trials, each {each}");
    let rows = [
        ("question", experiment.question.clone()),
        ("primary", experiment.primary.clone()),
        ("secondary", experiment.secondary.join(", ")),
        ("hosts", plan.hosts().join(", ")),
        (
            "design",
            match design.trials {
                1 => format!("1 trial a condition, order {order}"),
                trials => format!("{trials} trials a condition, order {order}"),
            },
        ),
        ("time", phases),
        (
            "smallest p",
            format!(
                "{} for {n} + {n} trials in an exact test",
                crate::experiment::show_p(plan.smallest_p())
            ),
        ),
    ];
    let conditions = experiment.conditions.iter().map(|condition| {
        let pairs = pairs(&condition.variables);
        (
            "condition",
            format!("{}  {pairs}", condition.name).trim_end().to_owned(),
        )
    });
    let params = experiment
        .params
        .iter()
        .map(|(name, values)| ("parameter", format!("{name}: {}", values.join(", "))));
    let root = "on every host, by the login, sudo or su (docs/hosts.md)".to_owned();
    let root = plan.needs_root().then_some(("as root", root));
    let warnings = plan.warnings();
    let warnings = warnings.into_iter().map(|text| ("warning", text));
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows = rows.chain(root).chain(conditions).chain(params);
    let notes = experiment.notes.iter();
    let notes = notes.map(|note| ("note", note.clone()));
    for (name, value) in rows.chain(notes).chain(warnings) {
        wrapped(
            &format!("{name:<11} "),
            &" ".repeat(12),
            &escaped(&value),
            out,
        );
    }
}

fn trials(plan: &Plan, out: &mut String) {
    let experiment = &plan.experiment;
    let width = |words: &mut dyn Iterator<Item = &String>| {
        words.map(String::len).max().unwrap_or(0).min(40)
    };
    let hosts = width(&mut plan.trials.iter().map(|trial| &trial.host)).max(4);
    let conditions = width(&mut experiment.conditions.iter().map(|c| &c.name)).max(9);
    let ids = plan.trials.last().map_or(0, |trial| trial.id.len()).max(5);
    let parameters = if experiment.params.is_empty() {
        ""
    } else {
        "parameters"
    };
    let head = format!(
        "{:<ids$}  {:<hosts$}  {:<conditions$}  {parameters}",
        "trial", "host", "condition"
    );
    let _ = writeln!(out, "\n{}", head.trim_end());
    for trial in &plan.trials {
        let row = format!(
            "{:<ids$}  {:<hosts$}  {:<conditions$}  {}",
            trial.id,
            trial.host,
            trial.condition,
            [pairs(&trial.cell), escaped(&boots::row(trial))]
                .join("  ")
                .trim_start()
        );
        wrapped("", "       ", row.trim_end(), out);
    }
}

/// What runs on hosts, in short: what a reader judges the experiment by.
fn outline(plan: &Plan, out: &mut String) {
    let experiment = &plan.experiment;
    out.push_str("\nWhat runs on each host; --scripts shows every script of it:\n\n");
    if let Some((text, _)) = boots::texts(plan) {
        wrapped("", "  ", &text, out);
    }
    if experiment.workload.kind == WorkloadKind::Boot {
        out.push_str("after each boot, what systemd-analyze says of it\n");
        return;
    }
    wrapped("", "  ", &supervisor::told(), out);
    for chosen in &experiment.monitors {
        let pipeline = "free -k | grep Mem | awk '{print $3}'";
        let what = monitor::file(chosen.kind).unwrap_or(pipeline);
        let (name, every) = (chosen.kind.name(), clock(chosen.period));
        let _ = writeln!(out, "monitor {name}: {what}, every {every}");
    }
    for (labels, spec) in workloads(plan) {
        let text = format!("workload, {}:", labels.join(" and "));
        wrapped("", "  ", &text, out);
        for setting in &spec.settings {
            let pair = format!("with {} = {}", setting.file, setting.value);
            wrapped("  ", "    ", &escaped(&pair), out);
        }
        let command = spec.command.lines().last().unwrap_or_default();
        scripts::script(command, out);
    }
}

/// Each workload once, with what tells the trials that run it.
pub(super) fn workloads(plan: &Plan) -> Vec<(Vec<String>, ktrial_agent::Spec)> {
    let mut found: Vec<(Vec<String>, ktrial_agent::Spec)> = Vec::new();
    for trial in &plan.trials {
        let mut spec = supervisor::spec(trial, &plan.experiment, Kind::Agent, None);
        spec.trial.clear();
        let label = label(trial);
        match found.iter_mut().find(|(_, other)| *other == spec) {
            Some((labels, _)) if labels.contains(&label) => {}
            Some((labels, _)) => labels.push(label),
            None => found.push((vec![label], spec)),
        }
    }
    found
}

/// What tells a workload from the others.
fn label(trial: &PlannedTrial) -> String {
    match trial.cell.is_empty() {
        true => format!("condition {}", trial.condition),
        false => format!("condition {}, {}", trial.condition, pairs(&trial.cell)),
    }
}

fn pairs(values: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)))
        .collect();
    pairs.join(" ")
}

/// A text in lines broken at spaces, and within a word only when it is longer than a line.
pub(super) fn wrapped(first: &str, indent: &str, text: &str, out: &mut String) {
    let room = COLUMNS - indent.len().max(first.len());
    let mut rest = text;
    let mut start = first;
    while rest.len() > room {
        let cut = rest
            .get(..=room)
            .and_then(|line| line.rfind(' '))
            .filter(|cut| *cut > 0)
            .unwrap_or(room);
        let (line, after) = rest.split_at(cut);
        let _ = writeln!(out, "{start}{}", line.trim_end());
        start = indent;
        rest = after.trim_start();
    }
    let _ = writeln!(out, "{start}{rest}");
}

/// A duration as people read it: `1 min 20 s`.
pub(super) fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = duration.as_secs_f64() - (seconds / 60 * 60) as f64;
    let mut parts = Vec::new();
    if hours > 0 {
        parts.push(format!("{hours} h"));
    }
    if minutes > 0 {
        parts.push(format!("{minutes} min"));
    }
    if hours == 0 && rest > 0.0 || parts.is_empty() {
        parts.push(format!("{} s", (rest * 1000.0).round() / 1000.0));
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn pages_are_ascii_and_a_hundred_columns_and_lose_nothing() {
        let long = "x".repeat(300);
        let text = format!(
            "question: {long} \u{e9}\u{202e} {}\nprimary: free.used.peak\nhosts: [a, b]\n\
             conditions: {{before: {{v: {long}}}, after: {{v: \u{e9} b}}}}\n\
             workload: {{command: [echo, '{{v}}', '{{p}}'], duration: 3s}}\n\
             monitors: {{free: {{}}}}\ndesign: {{trials: 2}}\nparams: {{p: [{long}, it's]}}\n",
            "word ".repeat(60)
        );
        let plan = Experiment::parse(&text, "e.yaml").unwrap().plan().unwrap();
        let page = render(&plan, true);
        for line in page.lines() {
            assert!(line.is_ascii() && line.len() <= COLUMNS, "{line}");
        }
        let whole = page.replace("\n  : ", "");
        let command = format!("echo {long} {long}");
        assert!(whole.contains(&command), "{page}");
        assert!(page.contains("\"it's\""), "{page}");
    }

    #[test]
    fn times_are_read_at_a_glance() {
        let shown = |ms| clock(Duration::from_millis(ms));
        assert_eq!(shown(0), "0 s");
        assert_eq!(shown(100), "0.1 s");
        assert_eq!(shown(168_000), "2 min 48 s");
        assert_eq!(shown(3_600_000), "1 h");
        assert_eq!(shown(3_725_000), "1 h 2 min");
    }
}
