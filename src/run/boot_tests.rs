//! Stories of hosts that are booted: into the right kernel and the wrong one, late, half, or not at all.

mod story;

use std::time::Duration;

use super::story::{FOLLOW, Told};
use super::*;
use crate::experiment::Experiment;
use crate::host::scripted::{Play, ScriptedHost, Step};
use crate::record::Trial;
use story::{FACTS, Story, boot, says};

/// A plan of the workload `boot` over two kernels, with one block of trials or more.
fn kernels(before: &str, after: &str, trials: usize) -> Plan {
    let text = format!(
        "question: q\nprimary: systemd-udev-settle.service\n\
         secondary: [systemd-udevd.service, boot.total]\nhosts: [alpha]\n\
         conditions: {{before: {{kernel: \"{before}\"}}, after: {{kernel: \"{after}\"}}}}\n\
         boot: {{every: trial, kernel: \"{{kernel}}\"}}\n\
         workload: {{boot: [systemd-udev-settle.service, systemd-udevd.service]}}\n\
         design: {{trials: {trials}}}\n"
    );
    Experiment::parse(&text, "story.yaml")
        .unwrap()
        .plan()
        .unwrap()
}

/// A plan of commands, with a boot at each block, into whatever the host chooses.
fn commands(trials: usize) -> Plan {
    let text = format!(
        "question: q\nprimary: memory.used.peak\nhosts: [alpha]\n\
         conditions: {{before: {{n: 1}}, after: {{n: 2}}}}\nboot: {{every: block}}\n\
         workload: {{command: [work, \"{{n}}\"], duration: 5s}}\nidle: 0s\nsettle: 0s\n\
         monitors: {{meminfo: {{}}}}\ndesign: {{trials: {trials}}}\n"
    );
    Experiment::parse(&text, "story.yaml")
        .unwrap()
        .plan()
        .unwrap()
}

fn worked() -> Play {
    Told::begun().ends(0)
}

fn states(record: &Record) -> Vec<&'static str> {
    let trials = record.manifest().trials.iter();
    trials.map(|t| t.state.word()).collect()
}

fn trial(record: &Record, index: usize) -> &Trial {
    &record.manifest().trials[index]
}

fn reason(record: &Record, index: usize) -> &str {
    trial(record, index).reason.as_deref().unwrap_or_default()
}

#[test]
fn abba_over_two_kernels_has_a_boot_a_trial() {
    let boots = [
        (0, "6.1.0"),
        (1, "6.1.0"),
        (2, "6.12.9"),
        (3, "6.12.9"),
        (4, "6.1.0"),
    ];
    let story = Story::of(boots.map(|(n, kernel)| Some(boot(n, kernel))));
    let record = story.run(&kernels("6.1", "6.12", 2));

    check(&record).unwrap();
    assert_eq!(states(&record), ["complete"; 4]);
    let ran: Vec<&str> = record
        .manifest()
        .trials
        .iter()
        .flat_map(|t| t.kernel.as_deref())
        .collect();
    assert_eq!(ran, ["6.1.0", "6.12.9", "6.12.9", "6.1.0"]);
    let ids: std::collections::BTreeSet<_> = record
        .manifest()
        .trials
        .iter()
        .map(|t| t.boot_id.clone())
        .collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(
        trial(&record, 0).cmdline.as_deref(),
        Some("root=/dev/vda quiet")
    );
    assert!(trial(&record, 0).notes.is_empty() && trial(&record, 0).phases.is_empty());

    let boots = record.boots().unwrap();
    assert_eq!(boots.height(), 8);
    assert_eq!(
        boots.numbers("time_s").unwrap()[..2],
        [Some(1.25), Some(0.25)]
    );
    let summaries = record.summaries();
    let total = summaries.iter().find(|s| s.metric == "boot.total").unwrap();
    assert_eq!(total.value, 6.0);
    let asked = story.asked.lock().unwrap();
    assert_eq!(asked.len(), 4);
    assert_eq!(asked[1].kernel.as_deref(), Some("6.12"));
}

#[test]
fn a_boot_into_the_wrong_kernel_is_booted_once_more() {
    let story = Story::of([
        Some(boot(0, "6.1.0")),
        Some(boot(1, "6.12.9")),
        Some(boot(2, "6.1.0")),
        Some(boot(3, "6.12.9")),
    ]);
    let record = story.run(&kernels("6.1", "6.12", 1));
    assert_eq!(states(&record), ["complete", "complete"]);
    assert_eq!(
        trial(&record, 0).notes,
        ["the host runs kernel 6.12.9, not 6.1 after a boot, and was booted once more"]
    );
    assert!(trial(&record, 0).boot_id.as_ref().unwrap().ends_with("2"));
}

#[test]
fn a_second_boot_into_the_wrong_kernel_fails_its_trial_only() {
    let story = Story::of((0..5).map(|n| Some(boot(n, if n < 3 { "6.12.9" } else { "6.1.0" }))));
    let mut plan = kernels("6.1", "6.1*", 1);
    plan.trials[0].boot.as_mut().unwrap().command_line = vec!["udev.log_level=debug".into()];
    let record = story.run(&plan);
    assert_eq!(states(&record), ["failed", "complete"]);
    let why = reason(&record, 0);
    for part in [
        "booted 2 times",
        "runs kernel 6.12.9, not 6.1",
        "lacks udev.log_level=debug",
        "root=/dev/vda quiet",
    ] {
        assert!(why.contains(part), "{part} in {why}");
    }
    assert_eq!(trial(&record, 0).kernel.as_deref(), Some("6.12.9"));
    assert!(trial(&record, 0).raw.is_empty());
}

#[test]
fn a_host_that_did_not_boot_fails_its_trial() {
    let story = Story::of([Some(boot(0, "6.1.0"))]);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    assert_eq!(states(&record), ["failed", "failed"]);
    let why = reason(&record, 0);
    assert!(why.contains("still runs the boot from before"), "{why}");
    assert!(story.clock.now() >= Duration::from_secs(600));
}

#[test]
fn a_boot_id_of_another_trial_is_an_error() {
    let story = Story::of([
        Some(boot(0, "6.1.0")),
        Some(boot(1, "6.1.0")),
        Some(boot(2, "6.1.0")),
        Some(boot(1, "6.1.0")),
    ]);
    let record = story.run(&kernels("6.1", "6.1*", 2));
    assert_eq!(states(&record)[..3], ["complete", "complete", "failed"]);
    let why = reason(&record, 2);
    assert!(why.contains("has the boot_id of trial t01"), "{why}");
}

#[test]
fn a_host_that_does_not_come_up_has_another_chance_at_the_next_boot() {
    let story = Story::of([Some(boot(0, "6.1.0")), None, Some(boot(2, "6.1.0"))]);
    story.host(2).play(FOLLOW, [worked()]);
    let record = story.run(&commands(2));
    assert_eq!(
        states(&record),
        ["failed", "not-run", "complete", "complete"]
    );
    let why = reason(&record, 0);
    assert!(
        why.contains("did not come up within 300 s: no route"),
        "{why}"
    );
    let why = reason(&record, 1);
    assert!(
        why.contains("did not boot as it should for trial t01"),
        "{why}"
    );
    // Both trials of the second block are of one boot.
    assert_eq!(trial(&record, 2).boot_id, trial(&record, 3).boot_id);
    assert_eq!(trial(&record, 3).kernel.as_deref(), Some("6.1.0"));
}

#[test]
fn a_degraded_boot_counts_and_is_told() {
    let mut degraded = boot(1, "6.1.0");
    degraded.systemd = says("degraded\nnfs.service loaded failed failed NFS\n");
    let mut bare = boot(2, "6.1.0");
    bare.systemd = says("none\n");
    let story = Story::of([Some(boot(0, "6.1.0")), Some(degraded), Some(bare)]);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    assert_eq!(states(&record), ["complete", "complete"]);
    assert_eq!(
        trial(&record, 0).notes,
        ["systemd calls the boot degraded; failed units: nfs.service"]
    );
    assert!(trial(&record, 1).notes[0].starts_with("no systemd there"));
}

#[test]
fn a_boot_that_does_not_end_is_told() {
    let mut endless = boot(1, "6.1.0");
    endless.systemd = Play::new([]);
    let story = Story::of([
        Some(boot(0, "6.1.0")),
        Some(endless),
        Some(boot(2, "6.1.0")),
    ]);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    let notes = trial(&record, 0).notes.join("\n");
    assert!(notes.contains("had not ended the boot 300 s"), "{notes}");
    let log = story.host(1).log();
    assert!(log.contains(&"kill -TERM -100".to_owned()), "{log:?}");
}

#[test]
fn a_cancel_ends_a_boot_and_the_wait_for_it() {
    let story = Story::of([Some(boot(0, "6.1.0"))]);
    let record = story.run(&kernels("cancel", "6.1", 1));
    assert_eq!(states(&record), ["interrupted", "not-run"]);
    assert_eq!(record.manifest().state, State::Interrupted);

    let mut slow = boot(1, "6.1.0");
    slow.systemd = Play::new([
        Step::Wait(Duration::from_secs(3)),
        Step::Do(ScriptedHost::raise_flag),
        Step::Wait(Duration::from_secs(3)),
    ]);
    let story = Story::of([Some(boot(0, "6.1.0")), Some(slow)]);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    assert_eq!(states(&record), ["interrupted", "not-run"]);
    assert_eq!(check(&record).unwrap_err().kind(), ErrorKind::Interrupted);
}

#[test]
fn a_unit_that_did_not_run_is_told() {
    let mut without = boot(1, "6.1.0");
    without.blame = "250ms systemd-udevd.service\n";
    let story = Story::of([
        Some(boot(0, "6.1.0")),
        Some(without),
        Some(boot(2, "6.1.0")),
    ]);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    assert_eq!(states(&record), ["complete", "complete"]);
    let notes = &trial(&record, 0).notes;
    assert!(
        notes.len() == 1 && notes[0].contains("does not list systemd-udev-settle.service"),
        "{notes:?}"
    );
    let times = record.boots().unwrap().numbers("time_s").unwrap();
    assert_eq!(times, [None, Some(0.25), Some(1.25), Some(0.25)]);
}

#[test]
fn systemd_is_asked_again_while_the_boot_is_not_finished() {
    let mut story = Story::of([Some(boot(0, "6.1.0")), Some(boot(1, "6.1.0"))]);
    let unfinished = ScriptedHost::new("alpha", &story.clock, &story.cancel);
    unfinished.answer("==ktrial== facts", FACTS, 0);
    unfinished.answer(
        "boot_id",
        "00000000-0000-4000-8000-000000000009\n6.1.0\n-\n",
        0,
    );
    unfinished.say(
        "--no-pager time",
        "Bootup is not yet finished. Please try again later.\n",
        1,
    );
    unfinished.play("is-system-running", [says("running\n")]);
    story.boots[1] = Some(unfinished);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    let why = reason(&record, 0);
    assert!(
        why.contains("systemd-analyze-time failed: Bootup is not yet finished"),
        "{why}"
    );
    assert!(story.clock.now() >= Duration::from_secs(60));
}

#[test]
fn without_a_hook_a_host_reboots_itself_into_its_own_choice_only() {
    let connections = [
        Some(boot(0, "6.1.0")),
        Some(boot(0, "6.1.0")),
        None,
        Some(boot(1, "6.1.0")),
    ];
    let story = Story::of(connections).told_by_connections();
    story.host(3).play(FOLLOW, [worked()]);
    let record = story.ended(&commands(1), false).unwrap();
    assert_eq!(states(&record), ["complete", "complete"]);
    assert!(trial(&record, 0).boot_id.as_ref().unwrap().ends_with("1"));
    let log = story.host(0).log();
    assert!(
        log.contains(&"# the host starts itself anew".to_owned()),
        "{log:?}"
    );

    let error = story.ended(&kernels("6.1", "6.12", 1), false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.report().contains("--boot-hook"), "{}", error.report());
}

#[test]
fn this_machine_is_not_booted() {
    let mut plan = commands(1);
    plan.trials[0].host = "local".into();
    let story = Story::of([Some(boot(0, "6.1.0"))]);
    let error = story.ended(&plan, true).unwrap_err();
    assert!(error.to_string().contains("this machine"), "{error}");
    assert!(!story.folder.path().join("runs").exists());
}

#[test]
fn a_reboot_that_is_refused_fails_its_trial() {
    let story = Story::of([Some(boot(0, "6.1.0"))]);
    story.host(0).say(
        "systemctl reboot",
        "Interactive authentication required.\n",
        1,
    );
    let record = story.ended(&commands(1), false).unwrap();
    let why = reason(&record, 0);
    assert!(
        why.contains("`systemctl reboot` failed: Interactive"),
        "{why}"
    );
}

#[test]
fn a_host_that_rebooted_by_itself_is_not_measured_until_the_next_boot() {
    let connections = [
        Some(boot(0, "6.1.0")),
        Some(boot(1, "6.1.0")),
        Some(boot(2, "6.1.0")),
    ];
    let story = Story::of(connections).told_by_connections();
    let broken = Told::begun().and(Step::Break).play();
    story.host(1).play(FOLLOW, [broken]);
    let rebooted = Told::begun().over("rebooted");
    story.host(2).play(FOLLOW, [rebooted]);
    let mut plan = commands(2);
    plan.trials[2].boot = None;
    let record = story.ended(&plan, false).unwrap();
    assert_eq!(states(&record), ["failed", "failed", "not-run", "not-run"]);
    assert!(reason(&record, 0).contains("rebooted during the trial"));
    let why = reason(&record, 1);
    assert!(why.contains("rebooted by itself"), "{why}");
    let why = reason(&record, 2);
    assert!(why.contains("rebooted by itself before trial t02"), "{why}");
}

#[test]
fn words_of_a_former_boot_must_be_gone() {
    let text = "question: q\nprimary: boot.total\nhosts: [alpha]\n\
         conditions: {before: {level: info}, after: {level: debug}}\n\
         boot: {every: trial, command_line: ['log={level}']}\n\
         workload: {boot: [a.service]}\ndesign: {trials: 1}\n";
    let mut plan = Experiment::parse(text, "story.yaml")
        .unwrap()
        .plan()
        .unwrap();
    // A run that is resumed has only the rest of its trials.
    plan.trials.remove(0);
    let with = |number, cmdline| {
        let mut boot = boot(number, "6.1.0");
        boot.cmdline = cmdline;
        Some(boot)
    };
    let story = Story::of([
        with(0, "quiet"),
        with(1, "quiet log=info log=debug"),
        with(2, "quiet log=debug"),
    ]);
    let record = story.run(&plan);
    assert_eq!(states(&record), ["complete"]);
    let notes = &trial(&record, 0).notes;
    assert!(
        notes[0].contains("still has log=info on its kernel command line"),
        "{notes:?}"
    );
    assert!(trial(&record, 0).boot_id.as_ref().unwrap().ends_with("2"));
}

#[test]
fn the_boot_from_before_is_known_of_a_host_that_cannot_be_asked() {
    let story = Story::of([
        Some(boot(0, "6.1.0")),
        // Whoever asks before the restart; then the restart; then it is not down yet.
        None,
        None,
        Some(boot(0, "6.1.0")),
        Some(boot(1, "6.1.0")),
        None,
        Some(boot(2, "6.1.0")),
    ]);
    let story = story.told_by_connections();
    story.host(0).lose_after("==ktrial== facts");
    let record = story.run(&kernels("6.1", "6.1*", 1));
    assert_eq!(states(&record), ["complete", "complete"]);
    assert!(trial(&record, 0).boot_id.as_ref().unwrap().ends_with("1"));
}

#[test]
fn a_boot_is_not_over_before_systemd_says_so() {
    let mut early = boot(1, "6.1.0");
    early.systemd = says("starting\n");
    let mut silent = boot(2, "6.1.0");
    silent.systemd = says("");
    let story = Story::of([Some(boot(0, "6.1.0")), Some(early), Some(silent)]);
    let record = story.run(&kernels("6.1", "6.1*", 1));
    assert_eq!(states(&record), ["complete", "complete"]);
    for index in 0..2 {
        assert!(trial(&record, index).notes.is_empty());
        let asked = story.host(index + 1).log().into_iter();
        assert_eq!(asked.filter(|l| l.contains("boot is over")).count(), 2);
    }
}
