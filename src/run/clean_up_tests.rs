//! Stories of trials that are hard to end: the host refuses, or the record's disk fails meanwhile.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use super::tests::{BOOT_ID, FACTS, SAMPLE, Story, broken_by, good, plan, states};
use super::*;
use crate::experiment::WorkloadKind;
use crate::host::Exit;
use crate::host::scripted::{Play, ScriptedHost, Step};
use crate::series::Phase;

#[test]
fn no_trial_begins_beside_one_that_could_not_be_ended() {
    let story = Story::on(&["alpha"]).workloads([broken_by([]), good()]);
    // Every signal of the first try to end it.
    story.hosts[0].refuse("kill -", ErrorKind::HostStable, 5);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "complete"]);
    let log = story.hosts[0].log();
    let kills: Vec<_> = log.iter().filter(|l| l.starts_with("kill")).collect();
    assert!(kills.contains(&&"kill -INT -101".to_owned()), "{log:?}");
    assert!(kills.contains(&&"kill -INT -100".to_owned()), "{log:?}");
}

/// Takes the record's folder away, as a disk that fails, once the update is there.
struct Failing<'a> {
    record: Mutex<PathBuf>,
    at: &'a (dyn Fn(Update<'_>) -> bool + Sync),
}

impl<'a> Failing<'a> {
    fn at(at: &'a (dyn Fn(Update<'_>) -> bool + Sync)) -> Failing<'a> {
        let record = Mutex::default();
        Failing { record, at }
    }
}

impl Progress for Failing<'_> {
    fn update(&self, update: Update<'_>) {
        if let Update::RunStarted { record, .. } = update {
            *self.record.lock().unwrap() = record.to_owned();
        }
        if (self.at)(update) {
            std::fs::remove_dir_all(&*self.record.lock().unwrap()).unwrap();
        }
    }
}

#[test]
fn a_disk_that_fails_leaves_nothing_on_the_host() {
    let mut play = broken_by([]);
    play.steps.insert(
        0,
        Step::Out("\n==ktrial== TOKEN report 99.00 /tmp/ktrial.Ab1\n"),
    );
    play.on_signal = vec![
        Step::Out("\n==ktrial== TOKEN end 103.60 130\n"),
        Step::Wait(Duration::from_secs(1)),
        Step::End(Exit::Code(130)),
    ];
    play.deaf_to = vec!["INT"];
    let story = Story::on(&["alpha"]).workloads([play]);
    let idle = |update: Update<'_>| matches!(update, Update::PhaseStarted { phase, .. } if phase == Phase::Idle);
    let error = story
        .try_run(
            &plan(&["alpha"], 2, WorkloadKind::StressNg),
            &Failing::at(&idle),
        )
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let log = story.hosts[0].log();
    let at = log.iter().position(|l| l == "kill -INT -101").unwrap();
    assert_eq!(
        log[at..],
        [
            "kill -INT -101",
            "kill -TERM -101",
            "kill -TERM -100",
            "rm -f /tmp/ktrial.Ab1",
            "# what outlived the trial"
        ]
    );
}

#[test]
fn a_disk_that_fails_with_the_connection_leaves_nothing_on_the_host() {
    let story = Story::on(&[]);
    let host = ScriptedHost::new("alpha", &story.clock, &story.cancel);
    host.answer("==ktrial== facts", FACTS, 0);
    host.answer("boot_id", BOOT_ID, 0);
    let samples = [
        Step::Out(SAMPLE),
        Step::Wait(Duration::from_secs(2)),
        Step::Out(SAMPLE),
    ];
    host.play("monitor meminfo", [Play::new(samples)]);
    let story = Story {
        hosts: vec![host],
        ..story
    };
    let breaks = [Step::Wait(Duration::from_secs(4)), Step::Break];
    let story = story.workloads([broken_by(breaks)]);
    let second =
        |update: Update<'_>| matches!(update, Update::Sampled { samples, .. } if samples == 2);
    let error = story
        .try_run(
            &plan(&["alpha"], 2, WorkloadKind::Command),
            &Failing::at(&second),
        )
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let log = story.hosts[0].log();
    assert!(log.contains(&"kill -KILL -101".to_owned()), "{log:?}");
}
