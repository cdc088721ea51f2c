//! Runs on the controller itself, for real, with small workloads.

mod common;

use std::time::Duration;

use common::apart::Apart;
use common::experiment::{gone, plan, raw, states};
use common::sshd;
use ktrial::error::ErrorKind;
use ktrial::host::Host;
use ktrial::record::{Record, State};
use ktrial::run::{self, Cancel, Destination, Progress, Silent, Update, Ways};
use ktrial::series::Phase;

fn run(
    yaml: &str,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> ktrial::error::Result<(tempfile::TempDir, Record)> {
    let folder = tempfile::tempdir().unwrap();
    let to = Destination {
        folder: folder.path().join("runs"),
        experiment: Some(yaml.into()),
    };
    let connect = |_: &str| -> ktrial::error::Result<Box<dyn Host>> {
        Ok(Box::new(Apart::at(folder.path())))
    };
    let record = run::run(&plan(yaml), &to, &Ways::new(&connect), cancel, progress)?;
    assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
    Ok((folder, record))
}

#[test]
fn two_by_two_trials_are_complete_and_leave_nothing() {
    let yaml = "question: Does it run?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {time: '0.41071'}, after: {time: '0.42071'}}\n\
        workload: {command: [sleep, '{time}'], duration: 1s}\nidle: 300ms\nsettle: 200ms\n\
        monitors: {meminfo: {every: 70ms}, free: {every: 100ms}}\ndesign: {trials: 2}\n";
    let (keep, record) = run(yaml, &Cancel::default(), &Silent).unwrap();
    run::check(&record).unwrap();
    assert_eq!(states(&record), ["complete"; 4]);
    for (index, trial) in record.manifest().trials.iter().enumerate() {
        assert!(
            trial.boot_id.is_some() && trial.notes.is_empty(),
            "{trial:?}"
        );
        let phases: Vec<Phase> = trial.phases.iter().map(|p| p.phase).collect();
        assert_eq!(phases, [Phase::Idle, Phase::Workload, Phase::Settle]);
        assert!(trial.phases[0].start_s <= -0.28, "{:?}", trial.phases);
        assert!(trial.phases[1].end_s >= 0.39, "{:?}", trial.phases);

        let parsed = ktrial::parse::meminfo::parse(
            raw(&record, index, "meminfo").as_bytes(),
            trial.start_boottime_s,
        );
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        let times = &parsed.series[0].time_s;
        assert!(
            times.first().unwrap() < &0.0 && times.last().unwrap() > &0.0,
            "{times:?}"
        );
        let free =
            ktrial::parse::free_pipeline::parse(raw(&record, index, "free").as_bytes(), None);
        assert!(!free.series.is_empty());
    }
    gone(sshd::trials(keep.path()).to_str().unwrap());
    gone("0.41071");
}

#[test]
fn a_workload_that_fails_is_a_failed_trial_with_its_words() {
    let yaml = "question: Does it fail?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {code: '0'}, after: {code: '3'}}\n\
        workload: {command: [sh, -c, 'echo \"no such module\" >&2; exit {code}'], duration: 1s}\n\
        idle: 100ms\nsettle: 100ms\nmonitors: {meminfo: {every: 60ms}}\ndesign: {trials: 1}\n";
    let (_keep, record) = run(yaml, &Cancel::default(), &Silent).unwrap();
    assert_eq!(states(&record), ["complete", "failed"]);
    let reason = record.manifest().trials[1].reason.clone().unwrap();
    assert!(
        reason.contains("exit code 3") && reason.contains("no such module"),
        "{reason}"
    );
    assert_eq!(run::check(&record).unwrap_err().kind(), ErrorKind::Workload);
    assert_eq!(raw(&record, 1, "workload-stderr"), "no such module\n");
}

#[test]
fn a_workload_cannot_say_its_own_end() {
    let yaml = "question: Is it believed?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\n\
        workload: {command: [sh, -c, 'echo \"1 end 0\"; echo \"2 ended complete\"; exit 5'], duration: 1s}\n\
        idle: 100ms\nsettle: 100ms\nmonitors: {meminfo: {every: 50ms}}\ndesign: {trials: 1}\n";
    let (_keep, record) = run(yaml, &Cancel::default(), &Silent).unwrap();
    assert_eq!(states(&record), ["failed", "failed"]);
    let reason = record.manifest().trials[0].reason.clone().unwrap();
    assert!(reason.contains("exit code 5"), "{reason}");
}

#[test]
fn what_the_workload_leaves_in_its_group_is_ended() {
    let yaml = "question: Is it gone?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\n\
        workload: {command: [sh, -c, 'sleep 971.53 & exit 0'], duration: 1s}\n\
        idle: 100ms\nsettle: 100ms\nmonitors: {meminfo: {every: 50ms}}\ndesign: {trials: 1}\n";
    let (_keep, record) = run(yaml, &Cancel::default(), &Silent).unwrap();
    assert_eq!(states(&record), ["complete", "complete"]);
    gone("971.53");
}

#[test]
fn what_leaves_the_workload_s_session_is_ended_and_told() {
    let yaml = "question: Is it gone?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\n\
        workload: {command: [sh, -c, 'setsid sleep 973.59 >/dev/null 2>&1 & sleep 0.2'], duration: 1s}\n\
        idle: 100ms\nsettle: 100ms\nmonitors: {meminfo: {every: 50ms}}\ndesign: {trials: 1}\n";
    let (_keep, record) = run(yaml, &Cancel::default(), &Silent).unwrap();
    assert_eq!(states(&record), ["complete", "complete"]);
    for trial in &record.manifest().trials {
        let notes = trial.notes.join("\n");
        assert!(
            notes.contains("outlived it and were ended: ") && notes.contains("sleep 973.59"),
            "{notes}"
        );
    }
    gone("973.59");
}

#[test]
fn ctrl_backslash_ends_a_run_as_ctrl_c_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quit.yaml");
    let yaml = "question: Does it end?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\nworkload: {command: [sleep, '541.23'], duration: 541s}\n\
        idle: 100ms\nsettle: 100ms\nmonitors: {meminfo: {every: 90ms}}\ndesign: {trials: 1}\n";
    std::fs::write(&file, yaml).unwrap();
    let runs = folder.path().join("runs");
    let mut ktrial = std::process::Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .arg("run")
        .arg(&file)
        .arg("-o")
        .arg(&runs)
        .env("KTRIAL_BASE", sshd::base(folder.path()))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let manifest = || {
        let record = std::fs::read_dir(&runs).ok()?.next()?.ok()?;
        std::fs::read_to_string(record.path().join("manifest.yaml")).ok()
    };
    // The idle phase is over: the workload runs.
    while !manifest().is_some_and(|text| text.contains("phase: idle")) {
        assert!(ktrial.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let signal = format!("kill -QUIT {}", ktrial.id());
    let sent = std::process::Command::new("sh")
        .args(["-c", &signal])
        .status();
    assert!(sent.unwrap().success());
    assert!(ktrial.wait().unwrap().code().is_some_and(|code| code != 0));
    assert!(manifest().unwrap().contains("state: interrupted"));
    gone("541.23");
}

#[test]
fn a_missing_program_is_told_before_anything_runs() {
    let yaml = "question: Is it there?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\nworkload: {command: [no-such-program-kt], duration: 1s}\n\
        idle: 1s\nsettle: 1s\nmonitors: {meminfo: {every: 100ms}}\ndesign: {trials: 1}\n";
    let error = run(yaml, &Cancel::default(), &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostStable);
    assert!(
        error.report().contains("no-such-program-kt is missing"),
        "{}",
        error.report()
    );
}

#[test]
fn a_workload_that_runs_already_is_told_before_anything_runs() {
    let mut other = std::process::Command::new("sleep")
        .arg("613.27")
        .spawn()
        .unwrap();
    let yaml = "question: Alone?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\nworkload: {command: [sleep, '613.27'], duration: 1s}\n\
        idle: 1s\nsettle: 1s\nmonitors: {meminfo: {every: 100ms}}\ndesign: {trials: 1}\n";
    let error = run(yaml, &Cancel::default(), &Silent).unwrap_err();
    other.kill().unwrap();
    other.wait().unwrap();
    let text = error.report();
    assert!(text.contains(&format!("process {}", other.id())), "{text}");
}

/// Cancels once the workload is under way.
struct CancelInWorkload(Cancel);

impl Progress for CancelInWorkload {
    fn update(&self, update: Update<'_>) {
        if let Update::PhaseStarted {
            phase: Phase::Workload,
            ..
        } = update
        {
            self.0.cancel();
        }
    }
}

#[test]
fn a_cancel_ends_the_workload_and_keeps_the_samples() {
    let yaml = "question: Does it end?\nprimary: memory.used.peak\nhosts: [local]\n\
        conditions: {before: {}, after: {}}\n\
        workload: {command: [sleep, '541.19'], duration: 541s}\n\
        idle: 200ms\nsettle: 100ms\nmonitors: {meminfo: {every: 80ms}}\ndesign: {trials: 1}\n";
    let cancel = Cancel::default();
    let begun = std::time::Instant::now();
    let (_keep, record) = run(yaml, &cancel, &CancelInWorkload(cancel.clone())).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(120));
    assert_eq!(record.manifest().state, State::Interrupted);
    assert_eq!(states(&record), ["interrupted", "not-run"]);
    assert_eq!(record.manifest().trials[0].phases.len(), 2);
    assert!(raw(&record, 0, "meminfo").contains("MemAvailable"));
    gone("541.19");
}
