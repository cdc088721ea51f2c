//! Stories of runs on scripted hosts: order, failures, and what the record says of them.

use std::sync::Mutex;

use super::story::*;
use super::*;
use crate::experiment::WorkloadKind;
use crate::host::Exit;
use crate::host::scripted::{Play, ScriptedHost, Step};
use crate::series::Phase;

#[test]
fn a_run_that_goes_well_is_complete() {
    let story = Story::on(&["alpha"]).trials([good()]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));

    check(&record).unwrap();
    assert_eq!(states(&record), ["complete", "complete"]);
    let manifest = record.manifest();
    assert_eq!(manifest.hosts[0].facts["kernel"], "6.12.0");
    assert_eq!(manifest.conditions, ["before", "after"]);
    let trial = &manifest.trials[0];
    assert_eq!(trial.boot_id.as_deref(), Some(BOOT_ID.trim()));
    assert_eq!(trial.start_boottime_s, Some(102.10));
    let phases: Vec<_> = trial
        .phases
        .iter()
        .map(|p| (p.phase, p.start_s, p.end_s))
        .collect();
    assert_eq!(
        phases,
        [
            (Phase::Idle, -2.0, 0.0),
            (Phase::Workload, 0.0, 5.0),
            (Phase::Settle, 5.0, 6.0)
        ]
    );
    assert_eq!(raw(&record, 0, "meminfo"), SAMPLE);
    assert!(raw(&record, 1, "workload-stdout").contains("hello"));
    let listed: Vec<&str> = manifest.files.iter().map(|f| f.path.as_str()).collect();
    assert!(
        listed.contains(&"experiment.yaml") && listed.contains(&"plan.yaml"),
        "{listed:?}"
    );
}

#[test]
fn a_trial_is_started_followed_and_forgotten() {
    let story = Story::on(&["alpha"]).trials([good()]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let log = story.hosts[0].log();
    let order: Vec<&str> = log.iter().map(|l| l.split(':').next().unwrap()).collect();
    assert_eq!(
        order,
        [
            "echo '==ktrial== facts'",
            "cat /proc/sys/kernel/random/boot_id",
            "# where trials are",
            "# the shell's programs",
            "# start the trial",
            FOLLOW,
            "# where trials are",
            "# forget the trial"
        ]
    );
    assert_eq!(record.manifest().trials[0].on_host, None);
}

#[test]
fn a_workload_that_fails_fails_its_trial_only() {
    let story = Story::on(&["alpha"]).trials([good(), bad(), good()]);
    let record = story.run(&plan(&["alpha"], 3, WorkloadKind::Command));
    assert_eq!(states(&record), ["complete", "failed", "complete"]);
    assert_eq!(record.manifest().state, State::Failed);
    let why = reason(&record.manifest().trials[1]);
    assert!(
        why.contains("exit code 7") && why.contains("dispatching hogs"),
        "{why}"
    );

    let error = check(&record).unwrap_err();
    assert_eq!(
        (error.kind(), error.kind().exit_code()),
        (ErrorKind::Workload, 1)
    );
    let text = error.report();
    assert!(
        text.contains("2 complete, 1 failed") && text.contains("t02 failed"),
        "{text}"
    );
    assert!(text.contains("story"), "{text}");
}

#[test]
fn a_workload_that_writes_without_end_does_not_fill_the_disk() {
    let mebibyte = "x".repeat(1 << 20);
    let mut told = Told::begun();
    for _ in 0..18 {
        told = told.say("workload.stderr", &mebibyte);
    }
    let story = Story::on(&["alpha"]).trials([told.ends(0)]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    assert_eq!(states(&record), ["complete"]);
    assert_eq!(raw(&record, 0, "workload-stderr").len(), 16 << 20);
    // What is kept is compressed, and the plain file is gone.
    let folder = record.dir().join("raw/t01");
    let stderr = folder.join("workload.stderr.zst");
    assert!(std::fs::metadata(stderr).unwrap().len() < 64 << 10);
    assert!(!folder.join("workload.stderr").exists() && folder.join("meminfo.txt").exists());
    let notes = record.manifest().trials[0].notes.join("\n");
    let want = format!("workload.stderr: the first 16777216 of {} bytes", 18 << 20);
    assert!(notes.contains(&want), "{notes}");
}

#[test]
fn a_workload_phase_without_a_sample_is_told() {
    for (more, told) in [("", true), ("@ 105.00\nMemTotal: 9 kB\n", false)] {
        let play = Told::begun().say("meminfo.txt", more).ends(0);
        let story = Story::on(&["alpha"]).trials([play]);
        let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
        let notes = record.manifest().trials[0].notes.join("\n");
        assert_eq!(
            notes.contains("no sample lies in the workload phase of 5.00 s"),
            told,
            "{notes}"
        );
    }
}

#[test]
fn what_the_host_notes_is_kept_and_no_trial_begins_beside_what_is_left() {
    let play = Told::begun()
        .say("events", "103 note the workload left 1 process\n")
        .say("events", "104 left process 4711 stuck \u{1b}[31m runs on\n")
        .say("meminfo.err", "sleep: a word\n")
        .ends(0);
    let story = Story::on(&["alpha"]).trials([play]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["complete", "not-run"]);
    let trials = &record.manifest().trials;
    assert_eq!(trials[0].notes[0], "the workload left 1 process");
    assert!(
        trials[0].notes[1].contains("monitor meminfo said: sleep: a word"),
        "{trials:?}"
    );
    assert_eq!(
        reason(&trials[1]),
        "process 4711 stuck \\u{1b}[31m runs on after trial t01"
    );
}

#[test]
fn stress_ng_that_skipped_its_stressor_is_a_failure() {
    let said = "stress-ng: info:  [7] rdrand stressor will be skipped, not this CPU\n";
    let play = Told::begun()
        .say("workload.stderr", said)
        .say("stress-ng.yaml", "metrics:\n")
        .ends(0);
    let story = Story::on(&["alpha"]).trials([play]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::StressNg));
    assert_eq!(states(&record), ["failed"]);
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("will be skipped"), "{why}");
    assert_eq!(raw(&record, 0, "stress-ng-yaml"), "metrics:\n");
}

/// stress-ng whose report is this.
fn stress_ng_that_reports(report: &str) -> Record {
    let play = Told::begun().say("stress-ng.yaml", report).ends(0);
    let story = Story::on(&["alpha"]).trials([play]);
    story.run(&plan(&["alpha"], 1, WorkloadKind::StressNg))
}

#[test]
fn stress_ng_without_a_number_in_its_report_is_a_failure() {
    let record = stress_ng_that_reports("metrics:\n...\n");
    assert_eq!(states(&record), ["failed"]);
    let why = reason(&record.manifest().trials[0]);
    assert!(why.starts_with("stress-ng reported nothing"), "{why}");
}

#[test]
fn a_stressor_that_did_nothing_is_told() {
    let record = stress_ng_that_reports("metrics:\n- stressor: module\n  bogo-ops: 0\n");
    assert_eq!(states(&record), ["complete"]);
    let notes = &record.manifest().trials[0].notes;
    assert_eq!(
        notes[1],
        "stress-ng did not finish one operation of: module"
    );
}

#[test]
fn kmod_sh_tells_why_it_skipped() {
    let said =
        "modprobe: FATAL: Module test_kmod not found\n./kmod.sh: not present\nCONFIG_XFS_FS=m\n";
    let skipped = Told::begun().say("workload.stderr", said).ends(4);
    let story = Story::on(&["alpha"]).trials([skipped]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Kmod));
    assert_eq!(states(&record), ["failed"]);
    assert_eq!(
        reason(&record.manifest().trials[0]),
        "kmod.sh skipped the test; it said: modprobe: FATAL: Module test_kmod not found"
    );
}

/// A trial whose connection breaks, and what a new follower says of it: the rest.
fn broken() -> [Play; 2] {
    let told = Told::begun();
    let first = told.clone().and(Step::Break).play();
    let whole = told.say("workload.stdout", "hello\n").ends(0);
    let begun = Told::begun().play().steps.len();
    let rest = whole.steps.into_iter().skip(begun).collect::<Vec<_>>();
    [first, Play::new(rest)]
}

#[test]
fn a_broken_connection_loses_nothing() {
    let story = Story::on(&["alpha"]).trials(broken()).refusing(4);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    check(&record).unwrap();
    assert_eq!(raw(&record, 0, "workload-stdout"), "so far\nhello\n");
    assert_eq!(raw(&record, 0, "meminfo"), SAMPLE);
    assert_eq!(record.manifest().trials[0].phases.len(), 3);
    // The follower was asked to go on where the first one ended.
    let scripts = story.hosts[0].scripts(FOLLOW);
    assert!(!scripts[0].contains("meminfo.txt="), "{}", scripts[0]);
    let offset = format!("meminfo.txt={}", SAMPLE.len());
    assert!(scripts[1].contains(&offset), "{}", scripts[1]);
}

#[test]
fn what_is_given_twice_is_taken_once_and_a_gap_is_asked_for_again() {
    let [first, _] = broken();
    let again = Told::begun().say("workload.stdout", "hello\n").ends(0);
    let gap = Play::new([
        Step::Out("workload.stdout 99 1\nx\n"),
        Step::End(Exit::Code(0)),
    ]);
    let story = Story::on(&["alpha"]).trials([first, gap, again]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    check(&record).unwrap();
    assert_eq!(raw(&record, 0, "workload-stdout"), "so far\nhello\n");
}

#[test]
fn a_host_that_stays_away_keeps_its_trial_and_the_others_are_not_run() {
    let [first, _] = broken();
    let story = Story::on(&["alpha", "beta"])
        .trials([first])
        .refusing(usize::MAX);
    story.hosts[1].play(FOLLOW, [good()]);
    let record = story.run(&plan(&["alpha", "beta"], 6, WorkloadKind::Command));
    assert_eq!(
        states(&record),
        [
            "failed", "complete", "not-run", "complete", "not-run", "complete"
        ]
    );
    let trials = &record.manifest().trials;
    let why = reason(&trials[0]);
    for part in [
        "no route",
        "out of reach for 6",
        "`ktrial resume` fetches it",
    ] {
        assert!(why.contains(part), "{part} in {why}");
    }
    let on_host = trials[0].on_host.as_ref().unwrap();
    assert_eq!(
        (on_host.id.len(), on_host.supervisor.as_str()),
        (16, "shell")
    );
    assert!(reason(&trials[2]).contains("was lost before"), "{trials:?}");
    assert_eq!(record.manifest().state, State::Failed);
    assert!(story.clock.now() >= PATIENCE);
}

#[test]
fn a_cancel_asks_the_host_to_end_the_trial_and_keeps_what_came() {
    let story = Story::on(&["alpha"]).trials([interrupted()]);
    let record = story.run(&plan(&["alpha"], 3, WorkloadKind::Command));
    assert_eq!(states(&record), ["interrupted", "not-run", "not-run"]);
    assert_eq!(record.manifest().state, State::Interrupted);
    assert_eq!(check(&record).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(record.manifest().trials[0].phases.len(), 2);
    assert!(raw(&record, 0, "workload-stdout").contains("still here"));
    let log = story.hosts[0].log();
    let stops = log.iter().filter(|line| *line == "# stop the trial");
    assert_eq!(stops.count(), 1, "{log:?}");
}

#[test]
fn a_trial_that_comes_to_no_end_is_ended_and_then_given_up() {
    let mut endless = Told::begun();
    for _ in 0..40 {
        endless = endless.wait(30).and(Step::Out("- 0 0\n\n"));
    }
    let story = Story::on(&["alpha"]).trials([endless.play()]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed"]);
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("did not end the trial"), "{why}");
    let log = story.hosts[0].log();
    assert!(log.contains(&"# stop the trial".to_owned()), "{log:?}");
}

#[test]
fn how_a_host_ended_a_trial_is_told() {
    for (how, want) in [
        ("stopped", "ended early, by a signal or a ktrial"),
        ("limit", "ended at its deadline of 65 s"),
        ("lease", "nobody watched it"),
        (
            "failed the monitor meminfo gave no sample: no",
            "gave no sample: no",
        ),
        ("died", "was killed"),
        ("rebooted", "rebooted during the trial"),
        ("somehow", "does not say how"),
    ] {
        let story = Story::on(&["alpha"]).trials([Told::begun().over(how), good()]);
        let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
        assert_eq!(states(&record), ["failed", "complete"], "{how}");
        let why = reason(&record.manifest().trials[0]);
        assert!(why.contains(want), "{why}");
    }
}

#[test]
fn a_trial_whose_supervisor_is_gone_is_recovered() {
    let gone = Told::begun().and(Step::Out("! 0 0\n\n")).play();
    let died = Told::begun().over("died");
    let story = Story::on(&["alpha"]).trials([gone.clone(), died, gone.clone(), gone, good()]);
    let record = story.run(&plan(&["alpha"], 3, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "failed", "not-run"]);
    let trials = &record.manifest().trials;
    assert!(
        reason(&trials[2]).contains("trial t02 on the host is not known"),
        "{trials:?}"
    );
    assert!(reason(&trials[0]).contains("was killed"), "{trials:?}");
    assert!(
        reason(&trials[1]).contains("could not be put right"),
        "{trials:?}"
    );
    let log = story.hosts[0].log();
    let recovered = log.iter().filter(|line| *line == "# recover the trial");
    assert_eq!(recovered.count(), 2, "{log:?}");
}

#[test]
fn files_that_do_not_come_whole_fail_the_trial() {
    let mut play = good();
    for step in &mut play.steps {
        if let Step::Out(text) = step
            && text.contains("hello")
        {
            *step = Step::Out(text.replace("hello", "h\u{1}llo").leak());
        }
    }
    let story = Story::on(&["alpha"]).trials([play]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("workload.stdout has another hash"), "{why}");
}

#[test]
fn what_did_not_come_whole_is_fetched_once_more() {
    let mut torn = good();
    for step in &mut torn.steps {
        if let Step::Out(text) = step
            && text.contains("hello")
        {
            *step = Step::Out(text.replace("hello", "h\u{1}llo").leak());
        }
    }
    let story = Story::on(&["alpha"]).trials([torn, good()]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    check(&record).unwrap();
    let trial = &record.manifest().trials[0];
    assert_eq!((trial.attempt, trial.on_host.is_none()), (2, true));
    assert_eq!(raw(&record, 0, "workload-stdout"), "so far\nhello\n");
    assert!(trial.boot_id.is_some() && trial.start_boottime_s.is_some());
}

#[test]
fn a_host_that_lets_one_in_and_does_nothing_is_given_up() {
    let story = Story::on(&["alpha"]).trials([Play::new([Step::Break])]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "not-run"]);
    let trial = &record.manifest().trials[0];
    assert!(reason(trial).contains("out of reach"), "{trial:?}");
    assert!(trial.on_host.is_some());
    assert!(reason(&record.manifest().trials[1]).contains("lost before"));
}

#[test]
fn a_host_that_talks_without_a_pause_is_ended_and_given_up() {
    let mut endless = Told::begun();
    for _ in 0..2000 {
        endless = endless
            .and(Step::Out("- 0 0\n\n"))
            .and(Step::Do(|host| host.pass(1)));
    }
    let story = Story::on(&["alpha"]).trials([endless.play()]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("did not end the trial"), "{why}");
}

#[test]
fn a_trial_that_the_host_refuses_is_told_with_its_words() {
    let story = Story::on(&["alpha"]).trials([good()]);
    story.hosts[0].answer(
        "# start the trial",
        "refused trial 0123 runs, process 9\n",
        1,
    );
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let trial = &record.manifest().trials[0];
    assert_eq!(
        reason(trial),
        "the host did not start the trial: trial 0123 runs, process 9"
    );
    assert_eq!(trial.on_host, None);
}

#[test]
fn a_follower_that_fails_is_started_again_and_then_given_up() {
    let noise = Play::new([Step::Out("sh: cannot fork\n"), Step::End(Exit::Code(2))]);
    let none = Play::new([
        Step::Err("there is no such trial\n"),
        Step::End(Exit::Code(1)),
    ]);
    let story = Story::on(&["alpha"]).trials([noise, good(), none]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["complete", "failed"]);
    let why = reason(&record.manifest().trials[1]);
    assert!(
        why.contains("no longer tells of it: there is no such trial"),
        "{why}"
    );
}

#[test]
fn every_host_s_problems_are_told_at_once_and_nothing_is_run() {
    let story = Story::on(&["beta"]);
    let host = ScriptedHost::new("alpha", &story.clock, &story.cancel);
    let found = "==ktrial== facts\nos_id=debian\nmissing=stress-ng\nmissing=my-tool\nbusy=42\nbusy=43\n==ktrial== done\n";
    host.answer("==ktrial== facts", found, 0);
    let story = Story {
        hosts: vec![host, story.hosts[0].clone()],
        ..story
    };
    let error = story
        .try_run(
            &plan(&["alpha", "beta", "gamma"], 3, WorkloadKind::StressNg),
            &Silent,
        )
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostStable);
    let text = error.report();
    for part in [
        "alpha: stress-ng is missing: apt-get install stress-ng",
        "alpha: my-tool is missing",
        "process 42, 43",
        "gamma: no such host",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!story.folder.path().join("runs").exists());
}

#[test]
fn two_runs_within_a_second_have_two_records() {
    let story = Story::on(&["alpha"]).trials([good()]);
    let plan = plan(&["alpha"], 1, WorkloadKind::Command);
    let (first, second) = (story.run(&plan), story.run(&plan));
    assert_ne!(first.dir(), second.dir());
}

#[test]
fn what_goes_on_is_told_in_order() {
    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);
    impl Progress for Heard {
        fn update(&self, update: Update<'_>) {
            let text = format!("{update:?}");
            let word = text.split([' ', '{']).next().unwrap_or_default().to_owned();
            self.0.lock().unwrap().push(word);
        }
    }
    let told = Heard::default();
    let story = Story::on(&["alpha"]).trials([good()]);
    story
        .try_run(&plan(&["alpha"], 1, WorkloadKind::Command), &told)
        .unwrap();
    assert_eq!(
        *told.0.lock().unwrap(),
        [
            "RunStarted",
            "TrialStarted",
            "Sampled",
            "PhaseStarted",
            "PhaseStarted",
            "PhaseStarted",
            "TrialEnded",
            "HostDone"
        ]
    );
}
