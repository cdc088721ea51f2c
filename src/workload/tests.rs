//! What a plan's workloads need.

use super::*;

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
        let restore = scripts(trial, &plan.experiment).restore;
        assert_eq!(restore.contains("unload"), is_root, "{workload}");
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
