//! The phases' script in a real shell.

use super::*;
use crate::host::{Exit, Host, Local, Output};

const SECOND: Duration = Duration::from_secs(1);

/// Runs a command in its phases, none of which takes time.
fn run(around: Around, command: &str, limit: Duration, grace: Duration) -> Output {
    let times = Times {
        idle: Duration::ZERO,
        settle: Duration::ZERO,
        limit,
        grace,
    };
    let script = phases(&[around], command, times, &Token::placeholder());
    Local.exec(&script, 60 * SECOND).unwrap()
}

/// The names of the marks.
fn marks(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let marks = text.lines().filter_map(|l| l.strip_prefix(mark::WORD));
    let name = |mark: &str| mark.split_ascii_whitespace().nth(1).map(str::to_owned);
    marks.filter_map(name).collect()
}

fn around(prepare: &str, restore: &str) -> Around {
    Around {
        prepare: prepare.to_owned(),
        restore: restore.to_owned(),
    }
}

#[test]
fn who_is_told_to_end_before_the_idle_phase_does_not_begin_it() {
    let around = around("kill -s INT $$\n", "echo restored\n");
    let output = run(around, "true", 60 * SECOND, SECOND);
    assert_eq!(output.exit, Exit::Code(130));
    assert_eq!(marks(&output), [""; 0]);
    assert_eq!(output.stdout, b"restored\n");
}

#[test]
fn a_workload_that_only_kill_ends_leaves_its_shell_to_restore() {
    let deaf = "sh -c 'trap \"\" INT TERM; echo deaf; while :; do sleep 1; done'";
    let output = run(around("", "echo restored\n"), deaf, SECOND / 2, 2 * SECOND);
    assert_eq!(output.exit, Exit::Code(137), "{output:?}");
    assert_eq!(marks(&output), ["idle", "start", "end"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("deaf") && text.ends_with("restored\n"),
        "{text}"
    );
}

#[test]
fn modules_count_as_they_are_planned() {
    let plan = |workload: &str| {
        let text = format!(
            "question: q\nprimary: free.used.peak\nhosts: [h]\nconditions: {{a: {{v: module}}, b: {{v: module}}}}\n\
             workload: {{{workload}, duration: 3s}}\nmonitors: {{free: {{}}}}\ndesign: {{trials: 1}}\n"
        );
        Experiment::parse(&text, "e.yaml").unwrap().plan().unwrap()
    };
    for (workload, is_root) in [
        ("stress-ng: ['--{v}', 1]", true),
        ("stress-ng: [--vm, 1, '--vm-method', '{v}']", false),
        ("command: [echo, '--{v}']", false),
        ("kmod: [-t, '{v}']", true),
    ] {
        let plan = plan(workload);
        let trial = &plan.trials[0];
        assert_eq!(plan.needs_root(), is_root, "{workload}");
        let modules = modules(trial, &plan.experiment);
        assert_eq!(modules.is_some(), is_root, "{workload}");
        assert_eq!(programs(&plan).contains(&"modprobe"), is_root, "{workload}");
        let want = if is_root { 3 * GRACE } else { GRACE };
        assert_eq!(grace(trial, &plan.experiment), want, "{workload}");
    }
    // Settings need root too, and no program for modules.
    let mut plan = plan("stress-ng: [--vm, '{v}']");
    plan.trials[1].settings.push(crate::experiment::Setting {
        file: "/proc/sys/vm/swappiness".into(),
        value: "1".into(),
    });
    assert!(plan.needs_root() && !programs(&plan).contains(&"modprobe"));
}
