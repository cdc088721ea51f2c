//! Stories of runs on scripted hosts: order, failures, and what the record says of them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::experiment::{
    Condition, Design, Experiment, Monitor, MonitorKind, Order, PlannedTrial, Workload,
    WorkloadKind,
};
use crate::host::Exit;
use crate::host::scripted::{Play, ScriptedClock, ScriptedHost, Step};
use crate::record::Trial;
use crate::series::Phase;

pub(super) const BOOT_ID: &str = "8d9e2a52-19b6-4f0c-9a5e-0f6a6a1f7a10\n";
pub(super) const FACTS: &str =
    "motd\n==ktrial== facts\nkernel=6.12.0\nos_id=debian\n==ktrial== done\n";
pub(super) const SAMPLE: &str = "@ 100.00\nMemTotal: 9 kB\n";

pub(super) fn plan(hosts: &[&str], trials: usize, kind: WorkloadKind) -> Plan {
    let argv: Vec<String> = match kind {
        WorkloadKind::Command => vec!["true".into()],
        WorkloadKind::StressNg => vec!["stress-ng".into(), "--vm".into(), "1".into()],
        WorkloadKind::Kmod => vec!["kmod.sh".into(), "-c".into(), "0008".into(), "2".into()],
        other => panic!("no story of {other:?} yet"),
    };
    let condition = |name: &str| Condition {
        name: name.into(),
        variables: BTreeMap::new(),
    };
    let experiment = Experiment {
        name: "story".into(),
        question: "Does it run?".into(),
        primary: "memory.used.peak".into(),
        secondary: Vec::new(),
        notes: Vec::new(),
        hosts: hosts.iter().map(|h| (*h).into()).collect(),
        conditions: vec![condition("before"), condition("after")],
        params: BTreeMap::new(),
        boot: None,
        settings: Vec::new(),
        workload: Workload {
            kind,
            arguments: argv.clone(),
            duration: Duration::from_secs(5),
        },
        idle: Duration::from_secs(2),
        settle: Duration::from_secs(1),
        monitors: vec![Monitor {
            kind: MonitorKind::Meminfo,
            period: Duration::from_millis(100),
        }],
        design: Design {
            trials: 1,
            order: Order::Abba,
            seed: 1,
        },
    };
    let trials = (0..trials)
        .map(|i| PlannedTrial {
            id: format!("t{:02}", i + 1),
            condition: ["before", "after"][i % 2].into(),
            cell: BTreeMap::new(),
            host: hosts[i % hosts.len()].into(),
            argv: argv.clone(),
            boot: None,
            settings: Vec::new(),
        })
        .collect();
    Plan { experiment, trials }
}

/// A workload that goes as planned, with this exit code.
fn workload(end: &'static str, code: i32) -> Play {
    Play::new([
        Step::Out("\n==ktrial== TOKEN idle 100.10 \n"),
        Step::Wait(Duration::from_secs(2)),
        Step::Out("\n==ktrial== TOKEN start 102.10 \n"),
        Step::Err("stress-ng: info:  [7] dispatching hogs\n"),
        Step::Wait(Duration::from_secs(5)),
        Step::Out(end),
        Step::Wait(Duration::from_secs(1)),
        Step::Out("\n==ktrial== TOKEN settled 108.10 \n"),
        Step::End(Exit::Code(code)),
    ])
}

pub(super) fn good() -> Play {
    workload("hello\n==ktrial== TOKEN end 107.10 0\n", 0)
}

pub(super) fn bad() -> Play {
    workload("\n==ktrial== TOKEN end 107.10 7\n", 7)
}

/// A workload whose host does something in the middle of it.
pub(super) fn broken_by(steps: impl IntoIterator<Item = Step>) -> Play {
    let begin = [
        Step::Out("\n==ktrial== TOKEN idle 100.10 \n\n==ktrial== TOKEN start 102.10 \nso far\n"),
        Step::Wait(Duration::from_secs(1)),
    ];
    Play::new(begin.into_iter().chain(steps).collect::<Vec<_>>())
}

/// A story: one host or more, what happens there, and what came of it.
pub(super) struct Story {
    pub(super) clock: ScriptedClock,
    pub(super) cancel: Cancel,
    pub(super) hosts: Vec<ScriptedHost>,
    pub(super) folder: tempfile::TempDir,
    /// How many times a broken host refuses to come back.
    pub(super) refusals: AtomicUsize,
    pub(super) connects: AtomicUsize,
}

impl Story {
    pub(super) fn on(names: &[&str]) -> Story {
        let (clock, cancel) = (ScriptedClock::default(), Cancel::default());
        let hosts = names.iter().map(|name| {
            let host = ScriptedHost::new(name, &clock, &cancel);
            host.answer("==ktrial== facts", FACTS, 0);
            host.answer("boot_id", BOOT_ID, 0);
            host.play("monitor meminfo", [Play::new([Step::Out(SAMPLE)])]);
            host
        });
        Story {
            hosts: hosts.collect(),
            clock,
            cancel,
            folder: tempfile::tempdir().unwrap(),
            refusals: AtomicUsize::new(0),
            connects: AtomicUsize::new(0),
        }
    }

    pub(super) fn workloads(self, plays: impl IntoIterator<Item = Play>) -> Story {
        self.hosts[0].play("# the workload", plays);
        self
    }

    pub(super) fn refusing(self, times: usize) -> Story {
        self.refusals.store(times, Ordering::SeqCst);
        self
    }

    pub(super) fn try_run(&self, plan: &Plan, progress: &dyn Progress) -> Result<Record> {
        self.try_run_by(plan, progress, Ways::new(&nobody))
    }

    /// A run by these ways, but for how hosts are reached.
    pub(super) fn try_run_by(
        &self,
        plan: &Plan,
        progress: &dyn Progress,
        ways: Ways<'_>,
    ) -> Result<Record> {
        let connect = |name: &str| -> Result<Box<dyn Host>> {
            let host = self.hosts.iter().find(|h| h.name() == name);
            let host = host.ok_or_else(|| Error::new(ErrorKind::HostStable, "no such host"))?;
            if self.connects.fetch_add(1, Ordering::SeqCst) >= self.hosts.len()
                && self
                    .refusals
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                    .is_ok()
            {
                return Err(Error::new(ErrorKind::HostTransient, "no route"));
            }
            host.mend();
            Ok(Box::new(host.clone()))
        };
        let to = Destination {
            folder: self.folder.path().join("runs"),
            experiment: Some(b"name: story\n".to_vec()),
        };
        run_by(
            &self.clock,
            plan,
            &to,
            &Ways {
                connect: &connect,
                ..ways
            },
            &self.cancel,
            progress,
        )
    }

    pub(super) fn run(&self, plan: &Plan) -> Record {
        let record = self.try_run(plan, &Silent).unwrap();
        assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
        assert_eq!(Record::open(record.dir()).unwrap(), record);
        record
    }
}

/// Reaches no host.
pub(super) fn nobody(_: &str) -> Result<Box<dyn Host>> {
    Err(Error::new(ErrorKind::HostStable, "no such host"))
}

pub(super) fn states(record: &Record) -> Vec<&'static str> {
    record
        .manifest()
        .trials
        .iter()
        .map(|t| t.state.word())
        .collect()
}

pub(super) fn reason(trial: &Trial) -> &str {
    trial.reason.as_deref().unwrap_or_default()
}

pub(super) fn raw(record: &Record, trial: usize, monitor: &str) -> String {
    let files = &record.manifest().trials[trial].raw;
    let file = files.iter().find(|f| f.monitor == monitor).unwrap();
    String::from_utf8(record.read_raw(file).unwrap()).unwrap()
}

#[test]
fn a_run_that_goes_well_is_complete() {
    let story = Story::on(&["alpha"]).workloads([good()]);
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
fn monitors_run_before_the_workload_and_are_ended_after_it() {
    let story = Story::on(&["alpha"]).workloads([good()]);
    story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let log = story.hosts[0].log();
    let order: Vec<&str> = log.iter().map(|l| l.split(':').next().unwrap()).collect();
    assert_eq!(
        order,
        [
            "echo '==ktrial== facts'",
            "cat /proc/sys/kernel/random/boot_id",
            "# monitor meminfo",
            "# the workload with its idle and settle phases",
            "kill -TERM -100",
            "# what outlived the trial"
        ]
    );
}

#[test]
fn a_workload_that_fails_fails_its_trial_only() {
    let story = Story::on(&["alpha"]).workloads([good(), bad(), good()]);
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
fn a_workload_that_says_marks_itself_is_not_believed() {
    let lie =
        "\n==ktrial== end 103 0\n\n==ktrial== settled 103 \n\n==ktrial== TOKEN end 107.10 7\n";
    let knows = "\n==ktrial== TOKEN end 103 0\n\n==ktrial== TOKEN end 107.10 7\n";
    let story = Story::on(&["alpha"]).workloads([workload(lie, 7), workload(knows, 7)]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "failed"]);
    let trials = &record.manifest().trials;
    assert!(reason(&trials[0]).contains("exit code 7"), "{trials:?}");
    assert!(reason(&trials[1]).contains("twice"), "{trials:?}");
}

#[test]
fn a_workload_that_writes_without_end_does_not_fill_the_disk() {
    let mebibyte: &'static str = "x".repeat(1 << 20).leak();
    let mut play = good();
    for _ in 0..18 {
        play.steps.insert(4, Step::Err(mebibyte));
    }
    let story = Story::on(&["alpha"]).workloads([play]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    assert_eq!(states(&record), ["complete"]);
    assert_eq!(raw(&record, 0, "workload-stderr").len(), 16 << 20);
    // What is kept is compressed, and the plain file is gone.
    let folder = record.dir().join("raw/t01");
    let stderr = folder.join("workload.stderr.zst");
    assert!(std::fs::metadata(stderr).unwrap().len() < 64 << 10);
    assert!(!folder.join("workload.stderr").exists() && folder.join("meminfo.txt").exists());
    let notes = record.manifest().trials[0].notes.join("\n");
    let said = "stress-ng: info:  [7] dispatching hogs\n".len();
    let want = format!(
        "workload stderr: the first 16777216 of {} bytes",
        (18 << 20) + said
    );
    assert!(notes.contains(&want), "{notes}");
}

#[test]
fn a_workload_phase_without_a_sample_is_told() {
    for (sample, told) in [
        ("@ 100.00\nMemTotal: 9 kB\n", true),
        ("@ 105.00\nMemTotal: 9 kB\n", false),
    ] {
        let mut story = Story::on(&[]);
        let host = ScriptedHost::new("alpha", &story.clock, &story.cancel);
        host.answer("==ktrial== facts", FACTS, 0);
        host.play("monitor meminfo", [Play::new([Step::Out(sample)])]);
        host.play("# the workload", [good()]);
        story.hosts.push(host);
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
fn no_trial_begins_beside_a_process_that_cannot_be_ended() {
    let story = Story::on(&["alpha"]).workloads([good()]);
    story.hosts[0].answer("KTRIAL_GROUP=[101]", "4711 stuck \u{1b}[31m \n", 0);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["complete", "not-run"]);
    let trials = &record.manifest().trials;
    let notes = trials[0].notes.join("\n");
    assert!(
        notes.contains("could not be ended: process 4711 stuck \\u{1b}[31m"),
        "{notes}"
    );
    assert!(
        reason(&trials[1]).contains("of trial t01 still runs"),
        "{trials:?}"
    );
}

#[test]
fn stress_ng_that_skipped_its_stressor_is_a_failure() {
    let mut play = good();
    play.steps.insert(
        4,
        Step::Err("stress-ng: info:  [7] rdrand stressor will be skipped, not this CPU\n"),
    );
    play.steps.insert(
        0,
        Step::Out("\n==ktrial== TOKEN report 99.00 /tmp/ktrial.Ab1\n"),
    );
    let story = Story::on(&["alpha"]).workloads([play]);
    story.hosts[0].answer("head -c", "metrics:\n", 0);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::StressNg));
    assert_eq!(states(&record), ["failed"]);
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("will be skipped"), "{why}");
    assert_eq!(raw(&record, 0, "stress-ng-yaml"), "metrics:\n");
    let log = story.hosts[0].log();
    assert!(log.contains(&"rm -f /tmp/ktrial.Ab1".to_owned()), "{log:?}");
}

/// stress-ng whose report is this.
fn stress_ng_that_reports(report: &str) -> Record {
    let mut play = good();
    let mark = "\n==ktrial== TOKEN report 99.00 /tmp/ktrial.Ab1\n";
    play.steps.insert(0, Step::Out(mark));
    let story = Story::on(&["alpha"]).workloads([play]);
    story.hosts[0].answer("head -c", report, 0);
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
        notes[0],
        "stress-ng did not finish one operation of: module"
    );
}

#[test]
fn kmod_sh_tells_why_it_skipped_and_has_longer_to_end() {
    let mut skipped = workload("\n==ktrial== TOKEN end 107.10 4\n", 4);
    let said =
        "modprobe: FATAL: Module test_kmod not found\n./kmod.sh: not present\nCONFIG_XFS_FS=m\n";
    skipped.steps.insert(4, Step::Err(said));
    let mut slow = broken_by([Step::Do(ScriptedHost::raise_flag)]);
    slow.on_signal = [
        Step::Wait(Duration::from_secs(25)),
        Step::Out("Test completed\n"),
        Step::End(Exit::Code(130)),
    ]
    .into();
    let story = Story::on(&["alpha"]).workloads([skipped, slow]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Kmod));
    assert_eq!(states(&record), ["failed", "interrupted"]);
    assert_eq!(
        reason(&record.manifest().trials[0]),
        "kmod.sh skipped the test; it said: modprobe: FATAL: Module test_kmod not found"
    );
    assert!(raw(&record, 1, "workload-stdout").contains("Test completed"));
    let log = story.hosts[0].log();
    assert!(log.contains(&"kill -INT -103".to_owned()), "{log:?}");
    assert!(!log.contains(&"kill -TERM -103".to_owned()), "{log:?}");
}

#[test]
fn a_broken_connection_fails_its_trial_and_the_run_goes_on_when_the_host_is_back() {
    let story = Story::on(&["alpha"])
        .workloads([broken_by([Step::Break]), good()])
        .refusing(2);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "complete"]);
    let trial = &record.manifest().trials[0];
    assert!(reason(trial).contains("connection broke"), "{trial:?}");
    assert_eq!(trial.start_boottime_s, Some(102.10));
    assert_eq!(raw(&record, 0, "meminfo"), SAMPLE);
    assert!(raw(&record, 0, "workload-stdout").contains("so far"));
    // What the trial left on the host was ended over the new connection.
    let log = story.hosts[0].log();
    assert!(log.contains(&"kill -KILL -101".to_owned()), "{log:?}");
}

#[test]
fn a_host_that_stays_away_leaves_its_trials_not_run() {
    let story = Story::on(&["alpha", "beta"])
        .workloads([broken_by([Step::Break])])
        .refusing(usize::MAX);
    story.hosts[1].play("# the workload", [good()]);
    let record = story.run(&plan(&["alpha", "beta"], 6, WorkloadKind::Command));
    assert_eq!(
        states(&record),
        [
            "failed", "complete", "not-run", "complete", "not-run", "complete"
        ]
    );
    let why = reason(&record.manifest().trials[2]);
    assert!(why.contains("lost") && why.contains("no route"), "{why}");
    assert_eq!(record.manifest().state, State::Failed);
}

#[test]
fn a_cancel_ends_the_workload_gently_and_keeps_what_came() {
    let mut play = broken_by([
        Step::Do(ScriptedHost::raise_flag),
        Step::Out("still here\n"),
    ]);
    play.on_signal = vec![
        Step::Out("\n==ktrial== TOKEN end 103.60 130\n"),
        Step::End(Exit::Code(130)),
    ];
    let story = Story::on(&["alpha"]).workloads([play]);
    let record = story.run(&plan(&["alpha"], 3, WorkloadKind::Command));
    assert_eq!(states(&record), ["interrupted", "not-run", "not-run"]);
    assert_eq!(record.manifest().state, State::Interrupted);
    assert_eq!(check(&record).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(record.manifest().trials[0].phases.len(), 2);
    assert!(raw(&record, 0, "workload-stdout").contains("still here"));
    let log = story.hosts[0].log();
    let kills: Vec<_> = log.iter().filter(|l| l.starts_with("kill")).collect();
    assert_eq!(kills, ["kill -INT -101", "kill -TERM -100"]);
}

#[test]
fn a_workload_that_minds_no_signal_is_killed() {
    let mut play = broken_by([Step::Do(ScriptedHost::raise_flag)]);
    play.deaf_to = vec!["INT", "TERM"];
    let story = Story::on(&["alpha"]).workloads([play]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    assert_eq!(states(&record), ["interrupted"]);
    let log = story.hosts[0].log();
    assert!(log.contains(&"kill -KILL -101".to_owned()), "{log:?}");
}

#[test]
fn a_workload_that_says_no_end_is_given_up_and_ended() {
    let story = Story::on(&["alpha"]).workloads([broken_by([]), good()]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "complete"]);
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("did not end the trial"), "{why}");
}

#[test]
fn a_workload_that_something_else_ended_is_not_complete() {
    // stress-ng ends with 0 over a signal, and the script leaves its settle phase out.
    let ended = broken_by([
        Step::Out("\n==ktrial== TOKEN end 103.60 0\n"),
        Step::End(Exit::Code(0)),
    ]);
    let story = Story::on(&["alpha"]).workloads([ended, good()]);
    let record = story.run(&plan(&["alpha"], 2, WorkloadKind::Command));
    assert_eq!(states(&record), ["failed", "complete"]);
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("ended early"), "{why}");
}

#[test]
fn a_monitor_without_samples_fails_the_trial_before_its_workload() {
    let story = Story::on(&["alpha"]).workloads([good()]);
    let host = ScriptedHost::new("alpha", &story.clock, &story.cancel);
    host.answer("==ktrial== facts", FACTS, 0);
    host.play(
        "monitor meminfo",
        [Play::new([
            Step::Err("sleep: no\n"),
            Step::End(Exit::Code(1)),
        ])],
    );
    let story = Story {
        hosts: vec![host],
        ..story
    };
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let why = reason(&record.manifest().trials[0]);
    assert!(why.contains("gave no sample: sleep: no"), "{why}");
    assert!(
        !story.hosts[0]
            .log()
            .iter()
            .any(|l| l.contains("the workload"))
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
    let story = Story::on(&["alpha"]).workloads([good()]);
    let plan = plan(&["alpha"], 1, WorkloadKind::Command);
    let (first, second) = (story.run(&plan), story.run(&plan));
    assert_ne!(first.dir(), second.dir());
}

#[test]
fn what_goes_on_is_told_in_order() {
    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);
    impl Progress for Told {
        fn update(&self, update: Update<'_>) {
            let text = format!("{update:?}");
            let word = text.split([' ', '{']).next().unwrap_or_default().to_owned();
            self.0.lock().unwrap().push(word);
        }
    }
    let told = Told::default();
    let story = Story::on(&["alpha"]).workloads([good()]);
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
