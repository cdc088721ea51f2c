//! The plan as text: ASCII, at most 100 columns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use super::boots;
use crate::ascii::escaped;
use crate::experiment::{BOOT_TAKES, OVERHEAD_A_TRIAL, Order, Plan, PlannedTrial, WorkloadKind};
use crate::supervisor::{self, Kind};
use crate::{monitor, run, workload};

const COLUMNS: usize = 100;

pub fn render(plan: &Plan) -> String {
    let mut out = String::new();
    head(plan, &mut out);
    trials(plan, &mut out);
    commands(plan, &mut out);
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
    let root = "on every host, by the login or by `sudo -n`".to_owned();
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

fn commands(plan: &Plan, out: &mut String) {
    let experiment = &plan.experiment;
    out.push_str(
        "\nWhat runs on each host. Scripts stand after `|`; a line too long for the page goes on after `:`.\n",
    );
    if plan.needs_root() {
        out.push_str(
            "\nbefore the preflight and after each new connection; the rest runs as root:\n",
        );
        script(run::ROOT_CHECK, out);
    }
    out.push_str("\npreflight, once:\n");
    script(&run::preflight_script(plan), out);
    if let Some((text, scripts)) = boots::texts(plan) {
        out.push('\n');
        wrapped("", "  ", &text, out);
        for (what, text) in scripts {
            out.push('\n');
            wrapped("", "  ", &format!("boot, {what}:"), out);
            script(text, out);
        }
    }
    out.push_str("\nto see which boot it is, in each trial, and before and after each boot:\n");
    script(workload::boot::IDENTITY, out);
    if experiment.workload.kind == WorkloadKind::Boot {
        out.push_str("\nafter each boot, each line by itself:\n");
        script(&workload::boot::questions(), out);
        return;
    }
    supervised(plan, out);
}

/// What supervises trials, and what it does in them.
fn supervised(plan: &Plan, out: &mut String) {
    let experiment = &plan.experiment;
    out.push_str("\nbefore each trial, where trials are:\n");
    script(&run::place_script(), out);
    out.push('\n');
    wrapped("", "  ", &supervisor::told(), out);
    script(&run::agent_script(), out);
    for chosen in &experiment.monitors {
        let _ = writeln!(
            out,
            "\nmonitor {}, every {}, in each trial:",
            chosen.kind.name(),
            clock(chosen.period)
        );
        match monitor::file(chosen.kind) {
            Some(file) => {
                let _ = writeln!(
                    out,
                    "  the agent reads {file}; the shell, at most once a second:"
                );
            }
            None => out.push_str(
                "  by the agent and by the shell, which has at most one sample a second:\n",
            ),
        }
        script(&monitor::script(chosen, workload::planned(experiment)), out);
    }
    let mut seen = BTreeSet::new();
    for trial in &plan.trials {
        if !seen.insert((&trial.condition, &trial.cell)) {
            continue;
        }
        let spec = supervisor::spec(trial, experiment, Kind::Agent, None);
        out.push('\n');
        wrapped("", "  ", &format!("workload, {}:", label(trial)), out);
        for setting in &spec.settings {
            let pair = format!("with {} = {}", setting.file, setting.value);
            wrapped("  ", "    ", &escaped(&pair), out);
        }
        for file in &spec.guarded {
            wrapped(
                "  ",
                "    ",
                &format!("{} is put back after it", escaped(file)),
                out,
            );
        }
        for (what, text) in [
            ("before the idle phase", &spec.prepare),
            ("the workload", &spec.command),
            ("after the settle phase", &spec.restore),
        ] {
            if !text.is_empty() {
                let _ = writeln!(out, "  {what}:");
                script(text, out);
            }
        }
    }
    out.push_str("\nthe shell's supervisor, where the agent does not run or is not asked for:\n");
    if let Some(trial) = plan.trials.first() {
        let spec = supervisor::spec(trial, experiment, Kind::Shell, None);
        script(&supervisor::shell_script(&spec), out);
    }
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

/// A script, line by line: nothing of it is left out, and what is too long is cut where a reader can put it
/// together again.
fn script(text: &str, out: &mut String) {
    for line in text.lines() {
        let line: Vec<char> = escaped(line).chars().collect();
        let mut mark = '|';
        let mut parts = line.chunks(COLUMNS - 4).peekable();
        if parts.peek().is_none() {
            out.push_str("  |\n");
        }
        for part in parts {
            let _ = writeln!(out, "  {mark} {}", part.iter().collect::<String>());
            mark = ':';
        }
    }
}

/// A text in lines broken at spaces, and within a word only when it is longer than a line.
fn wrapped(first: &str, indent: &str, text: &str, out: &mut String) {
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
fn clock(duration: Duration) -> String {
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
        let page = render(&plan);
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
