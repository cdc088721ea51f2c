//! Every script that a plan runs on hosts, whole.

use std::fmt::Write;

use super::boots;
use super::text::{COLUMNS, clock, workloads, wrapped};
use crate::ascii::escaped;
use crate::experiment::{Plan, WorkloadKind};
use crate::supervisor::{self, Kind};
use crate::{monitor, run, workload};

/// Every script.
pub(super) fn commands(plan: &Plan, out: &mut String) {
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
    for (what, text) in [
        ("how the agent is looked for", run::agent_script()),
        (
            "how it is sent where it is absent, as input",
            run::send_script(),
        ),
    ] {
        let _ = writeln!(out, "\n{what}:");
        script(&text, out);
    }
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
    for (labels, spec) in workloads(plan) {
        out.push('\n');
        wrapped(
            "",
            "  ",
            &format!("workload, {}:", labels.join(" and ")),
            out,
        );
        for setting in &spec.settings {
            let pair = format!("with {} = {}", setting.file, setting.value);
            wrapped("  ", "    ", &escaped(&pair), out);
        }
        for file in &spec.guarded {
            let text = format!("{} is put back after it", escaped(file));
            wrapped("  ", "    ", &text, out);
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
    let Some(trial) = plan.trials.first() else {
        return;
    };
    for (kind, by) in [(Kind::Agent, "the agent"), (Kind::Shell, "the shell")] {
        let spec = supervisor::spec(trial, experiment, kind, None);
        for (what, text) in run::trial_scripts(&spec, kind) {
            let _ = writeln!(out, "\n{by}, {what}:");
            script(&text, out);
        }
    }
}

/// A script, line by line: nothing of it is left out, and what is too long is cut where a reader can put it
/// together again.
pub(super) fn script(text: &str, out: &mut String) {
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
