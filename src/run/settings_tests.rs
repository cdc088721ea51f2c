//! Stories of settings: what the controller does about them before and after a trial, however it ends.

use super::tests::{BOOT_ID, Story, bad, broken_by, good, plan, reason, states};
use super::*;
use crate::experiment::{Setting, WorkloadKind};
use crate::host::Exit;
use crate::host::scripted::{Play, ScriptedHost, Step};
use crate::record::Record;

const READ: &str = "# settings before the trial";
const CHECK: &str = "# settings after the trial";
const ROOT: &str = "# root, or the way to it";

/// A plan whose trials set vm.swappiness.
fn swappy(trials: usize) -> Plan {
    let mut plan = plan(&["alpha"], trials, WorkloadKind::Command);
    let setting = Setting {
        file: "/proc/sys/vm/swappiness".into(),
        value: "10".into(),
    };
    plan.experiment.settings = vec![setting.clone()];
    for trial in &mut plan.trials {
        trial.settings = vec![setting.clone()];
    }
    plan
}

/// A host of root's whose swappiness is 60, and after each trial as `found` says.
fn story(found: &str, plays: impl IntoIterator<Item = Play>) -> Story {
    let story = Story::on(&["alpha"]).workloads(plays);
    let host = &story.hosts[0];
    host.answer(ROOT, "root\n", 0);
    host.answer(READ, "1 60\nmodule xfs\ndone\n", 0);
    host.answer(CHECK, &format!("{found}done\n"), 0);
    story
}

fn notes(record: &Record, trial: usize) -> String {
    record.manifest().trials[trial].notes.join("\n")
}

/// The places in the log of what begins so.
fn places(host: &ScriptedHost, begin: &str) -> Vec<usize> {
    let log = host.log().into_iter().enumerate();
    log.filter_map(|(place, line)| line.starts_with(begin).then_some(place))
        .collect()
}

#[test]
fn settings_are_read_before_each_trial_and_looked_at_after_it() {
    let story = story("", [good(), bad()]);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["complete", "failed"]);
    assert!(!(notes(&record, 0) + &notes(&record, 1)).contains("swappiness"));
    let host = &story.hosts[0];
    let workloads = places(host, "# the workload");
    let survivors = places(host, "# what outlived");
    let (reads, checks) = (places(host, READ), places(host, CHECK));
    assert_eq!((reads.len(), checks.len()), (2, 2));
    for trial in 0..2 {
        assert!(reads[trial] < workloads[trial] && survivors[trial] < checks[trial]);
    }
    assert_eq!(places(host, ROOT), [0]);
}

#[test]
fn what_a_trial_left_changed_is_told() {
    for (found, told) in [
        (
            "1 back 10\n",
            "/proc/sys/vm/swappiness was left at 10 and was put back to 60",
        ),
        (
            "1 left \u{1b}[31m\n",
            "was left at \\u{1b}[31m and could not be put back to 60",
        ),
    ] {
        let story = story(found, [good()]);
        let record = story.run(&swappy(1));
        assert_eq!(states(&record), ["complete"]);
        assert!(notes(&record, 0).contains(told), "{}", notes(&record, 0));
    }
}

#[test]
fn an_interrupted_trial_s_settings_are_looked_at_too() {
    let mut play = broken_by([Step::Do(ScriptedHost::raise_flag)]);
    play.deaf_to = vec!["INT", "TERM"];
    let story = story("1 back 10\n", [play]);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["interrupted", "not-run"]);
    assert!(notes(&record, 0).contains("put back to 60"));
    let killed = places(&story.hosts[0], "kill -KILL");
    assert!(killed < places(&story.hosts[0], CHECK));
}

#[test]
fn after_a_broken_connection_settings_are_looked_at_over_the_next_one() {
    let story = story("1 back 10\n", [broken_by([Step::Break]), good()]).refusing(1);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "complete"]);
    assert!(
        notes(&record, 0).contains("put back to 60"),
        "{}",
        notes(&record, 0)
    );
    let host = &story.hosts[0];
    assert_eq!(places(host, ROOT).len(), 2);
    assert!(places(host, "kill -KILL")[0] < places(host, CHECK)[0]);
}

#[test]
fn a_host_that_is_lost_leaves_its_settings_in_doubt() {
    let story = story("", [broken_by([Step::Break])]).refusing(usize::MAX);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "not-run"]);
    let told = "lost before its settings could be looked at again: /proc/sys/vm/swappiness was 60, module xfs was not loaded";
    assert!(notes(&record, 0).contains(told), "{}", notes(&record, 0));
}

#[test]
fn a_host_that_refuses_the_look_after_a_trial_is_reached_anew() {
    let story = story("1 back 10\n", [good()]);
    story.hosts[0].refuse(CHECK, ErrorKind::HostStable, 1);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "complete"]);
    assert!(notes(&record, 0).contains("put back to 60"));
    assert_eq!(places(&story.hosts[0], ROOT).len(), 2);
}

#[test]
fn a_host_that_goes_on_refusing_is_lost() {
    let story = story("", [good()]);
    story.hosts[0].refuse(CHECK, ErrorKind::HostStable, usize::MAX);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "not-run"]);
    let told = "before its settings could be looked at again";
    assert!(notes(&record, 0).contains(told), "{}", notes(&record, 0));
}

#[test]
fn a_script_that_cannot_be_fails_its_trial_only() {
    let story = story("", [good()]);
    story.hosts[0].refuse(READ, ErrorKind::Usage, 1);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "complete"]);
}

#[test]
fn after_another_boot_nothing_is_put_back() {
    let reboots = [Step::Do(ScriptedHost::reboot), Step::Break];
    let story = story("1 back 10\n", [broken_by(reboots), good()]);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "complete"]);
    assert_eq!(notes(&record, 0), "");
    // Only the second trial's own.
    assert_eq!(places(&story.hosts[0], CHECK).len(), 1);
    let boots = record
        .manifest()
        .trials
        .iter()
        .map(|t| t.boot_id.as_deref());
    let boots: Vec<_> = boots.collect();
    assert!(boots[0] == Some(BOOT_ID.trim()) && boots[1] != boots[0]);
}

#[test]
fn nothing_is_measured_after_a_setting_that_could_not_be_put_back() {
    for play in [good(), broken_by([Step::Break])] {
        let story = story("1 left 10\n", [play]);
        let record = story.run(&swappy(2));
        assert_eq!(states(&record)[1], "not-run");
        let why = reason(&record.manifest().trials[1]).to_owned();
        let told = "/proc/sys/vm/swappiness could not be put back to 60 after trial t01";
        assert!(why.contains(told), "{why}");
    }
}

#[test]
fn a_host_that_says_nothing_of_its_settings_is_asked_again_and_left() {
    let story = Story::on(&["alpha"]).workloads([good()]);
    story.hosts[0].answer(READ, "1 60\ndone\n", 0);
    story.hosts[0].answer(CHECK, "", 137);
    let record = story.run(&swappy(2));
    assert_eq!(states(&record), ["failed", "not-run"]);
    let why = reason(&record.manifest().trials[0]).to_owned();
    assert!(why.contains("did not come to its end"), "{why}");
    assert!(notes(&record, 0).contains("swappiness was 60"));
    assert_eq!(places(&story.hosts[0], CHECK).len(), 4);
}

#[test]
fn modules_that_stay_loaded_are_told() {
    let mut play = good();
    let said = "ktrial: module xfs was not loaded before and still is: in use\n";
    play.steps.insert(play.steps.len() - 1, Step::Err(said));
    let story = story("unloaded xfs back\n", [play]);
    let record = story.run(&swappy(1));
    assert_eq!(states(&record), ["complete"]);
    let told = notes(&record, 0);
    assert!(told.contains(said.trim_end()), "{told}");
    assert!(
        told.contains("module xfs was left loaded and was unloaded"),
        "{told}"
    );
}

#[test]
fn what_runs_on_after_a_broken_connection_is_told_and_nothing_is_measured_beside_it() {
    for (asked, said, told) in [
        (
            "# what outlived",
            "77 daemon\n",
            "process 77 daemon of trial t01 still runs",
        ),
        (
            "# groups that run",
            "101\n",
            "a process of trial t01 still runs, in group 101",
        ),
    ] {
        let story = story("", [broken_by([Step::Break]), good()]);
        story.hosts[0].answer(asked, said, 0);
        let record = story.run(&swappy(2));
        assert_eq!(states(&record), ["failed", "not-run"]);
        let why = reason(&record.manifest().trials[1]).to_owned();
        assert!(why.contains(told), "{why}");
        assert!(
            notes(&record, 0).contains(said.trim_end()),
            "{}",
            notes(&record, 0)
        );
        // It looks at the settings nevertheless.
        assert_eq!(places(&story.hosts[0], CHECK).len(), 1);
    }
}

#[test]
fn a_setting_that_does_not_hold_fails_its_trial_with_the_reason() {
    let said =
        "ktrial: setting /proc/sys/vm/swappiness was to be 10, and after writing it reads 60\n";
    let refused = Play::new([Step::Err(said), Step::End(Exit::Code(1))]);
    let story = story("", [refused]);
    let record = story.run(&swappy(1));
    let why = reason(&record.manifest().trials[0]).to_owned();
    assert!(
        why.contains("was to be 10, and after writing it reads 60"),
        "{why}"
    );
}

#[test]
fn without_root_nothing_is_run() {
    let story = Story::on(&["alpha"]).workloads([good()]);
    story.hosts[0].answer(ROOT, "", 1);
    let error = story.try_run(&swappy(1), &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostStable);
    let text = error.report();
    assert!(text.contains("alpha: the experiment needs root"), "{text}");
    assert!(text.contains("User root"), "{text}");
    assert!(!story.folder.path().join("runs").exists());
}

#[test]
fn kmod_s_change_of_modprobe_is_watched() {
    let mut plan = plan(&["alpha"], 1, WorkloadKind::Command);
    plan.experiment.workload.kind = WorkloadKind::Kmod;
    let (before, after) = settings_scripts(&plan.trials[0], &plan.experiment).unwrap();
    assert!(
        before.contains("read_file 1 /proc/sys/kernel/modprobe\n"),
        "{before}"
    );
    assert!(
        after.contains("check_file 1 /proc/sys/kernel/modprobe OLD\n"),
        "{after}"
    );
}
