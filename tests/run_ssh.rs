//! Runs over SSH, against a private sshd that also breaks.

mod common;

use std::process::Command;
use std::sync::Mutex;

use common::experiment::{gone, plan, raw, states};
use common::sshd::{NAME, Sshd, wait_until};
use ktrial::host::{self, Host};
use ktrial::parse::{meminfo, stress_ng};
use ktrial::record::{Record, State};
use ktrial::run::{self, Cancel, Destination, Progress, Silent, Update, Ways};

/// A story whose first workload is long, with sampling with a period of its own.
fn long_sleep(seconds: &str, every: &str) -> String {
    format!(
        "question: What is kept?\nprimary: memory.used.peak\nhosts: [{NAME}]\n\
         conditions: {{before: {{time: '{seconds}'}}, after: {{time: '0.2'}}}}\n\
         workload: {{command: [sleep, '{{time}}'], duration: 20s}}\nidle: 500ms\nsettle: 200ms\n\
         monitors: {{meminfo: {{every: {every}}}, free: {{every: 1s}}}}\ndesign: {{trials: 2}}\n"
    )
}

/// What came is in the record and reads well.
fn assert_samples_kept(record: &Record, trial: usize) {
    let entry = &record.manifest().trials[trial];
    let parsed = meminfo::parse(
        raw(record, trial, "meminfo").as_bytes(),
        entry.start_boottime_s,
    );
    let samples = parsed.series.first().map_or(0, |s| s.values.len());
    assert!(samples >= 5, "{samples} samples");
    let events = raw(record, trial, "events");
    assert!(
        events.contains(" begun ") && events.contains(" start\n"),
        "{events}"
    );
    assert!(entry.start_boottime_s.is_some());
    assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
}

#[test]
fn stress_ng_two_by_two_over_ssh() {
    if Command::new("stress-ng").arg("--version").output().is_err() {
        eprintln!("skipped: stress-ng is not installed (apt-get install stress-ng)");
        return;
    }
    let sshd = Sshd::start();
    let yaml = format!(
        "question: Does it run?\nprimary: memory.used.peak\nhosts: [{NAME}]\n\
         conditions: {{before: {{bytes: 64m}}, after: {{bytes: 32m}}}}\n\
         workload: {{stress-ng: [--vm, 1, --vm-bytes, '{{bytes}}'], duration: 1s}}\nidle: 500ms\nsettle: 300ms\n\
         monitors: {{meminfo: {{every: 100ms}}, free: {{every: 1s}}}}\ndesign: {{trials: 2}}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let to = Destination {
        folder: folder.path().to_owned(),
        experiment: None,
    };
    let config = sshd.config();
    let connect =
        |name: &str| -> ktrial::error::Result<Box<dyn Host>> { host::connect(name, Some(&config)) };
    let record = run::run(
        &plan(&yaml),
        &to,
        &Ways::new(&connect),
        &Cancel::default(),
        &Silent,
    )
    .unwrap_or_else(|e| panic!("{}", e.report()));
    run::check(&record).unwrap_or_else(|e| panic!("{}", e.report()));
    assert!(record.manifest().hosts[0].facts.contains_key("stress_ng"));
    for index in 0..4 {
        let report = stress_ng::parse(raw(&record, index, "stress-ng-yaml").as_bytes());
        assert_eq!(report.values[0].metric, "stress-ng.vm.bogo_ops_per_s");
        assert_eq!(record.manifest().trials[index].notes, [""; 0]);
    }
    gone("--vm-bytes 64m --timeout 1s");
}

/// Kills the server once, when a workload has been sampled for a while; brings it back at the first try.
struct KillOnce<'a> {
    sshd: Mutex<&'a mut Sshd>,
    killed: Mutex<bool>,
}

impl Progress for KillOnce<'_> {
    fn update(&self, update: Update<'_>) {
        let mut killed = self.killed.lock().unwrap();
        match update {
            Update::Sampled { samples, .. } if samples >= 15 && !*killed => {
                *killed = true;
                self.sshd.lock().unwrap().kill();
            }
            Update::Reconnecting { attempt: 1, .. } => self.sshd.lock().unwrap().restart(),
            _ => {}
        }
    }
}

#[test]
fn a_broken_connection_costs_nothing_and_leaves_nothing_on_the_host() {
    let mut sshd = Sshd::start();
    let config = sshd.config();
    let yaml = long_sleep("4.3271", "110ms");
    let folder = tempfile::tempdir().unwrap();
    let to = Destination {
        folder: folder.path().to_owned(),
        experiment: None,
    };
    let connect =
        |name: &str| -> ktrial::error::Result<Box<dyn Host>> { host::connect(name, Some(&config)) };
    let progress = KillOnce {
        sshd: Mutex::new(&mut sshd),
        killed: Mutex::new(false),
    };
    let mut plan = plan(&yaml);
    // The trial that breaks, then two that go well.
    plan.trials
        .retain(|t| t.condition == "after" || t.id == "t01");
    let record = run::run(
        &plan,
        &to,
        &Ways::new(&connect),
        &Cancel::default(),
        &progress,
    )
    .unwrap_or_else(|e| panic!("{}", e.report()));
    assert!(*progress.killed.lock().unwrap());
    assert_eq!(states(&record), ["complete"; 3]);
    assert_eq!(record.manifest().state, State::Complete);
    assert!(record.manifest().trials.iter().all(|t| t.attempt == 1));
    assert_samples_kept(&record, 0);
    gone("4.3271");
    gone(sshd.trials().to_str().unwrap());
}

#[test]
fn a_killed_sshd_ends_with_a_clear_error_and_a_record_and_the_trial_goes_on() {
    let mut sshd = Sshd::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.yaml");
    std::fs::write(&file, long_sleep("6.3372", "120ms")).unwrap();
    let runs = folder.path().join("runs");
    let child = Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .arg("run")
        .arg(&file)
        .arg("--ssh-config")
        .arg(sshd.config())
        .args(["--patience", "2s", "-o"])
        .arg(&runs)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The manifest on disk tells of the workload's start while the trial goes on.
    let mut record = None;
    wait_until("the workload has begun", || {
        record = std::fs::read_dir(&runs)
            .ok()
            .and_then(|mut listing| listing.next()?.ok())
            .map(|entry| entry.path());
        let opened = record.as_ref().and_then(|dir| Record::open(dir).ok());
        let sampled = record
            .as_ref()
            .and_then(|dir| std::fs::read_to_string(dir.join("raw/t01/meminfo.txt")).ok());
        let blocks = |text: String| {
            text.lines()
                .filter(|line| line.starts_with(['@', '+']))
                .count()
        };
        opened.is_some_and(|r| r.manifest().trials[0].start_boottime_s.is_some())
            && sampled.map_or(0, blocks) > 10
    });
    sshd.kill();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("1 failed, 3 not-run"), "{said}");
    assert!(said.contains("out of reach"), "{said}");

    let record = Record::open(record.unwrap()).unwrap();
    assert_eq!(states(&record), ["failed", "not-run", "not-run", "not-run"]);
    let trials = &record.manifest().trials;
    assert!(trials.iter().all(|t| t.reason.is_some()));
    assert!(trials[0].on_host.is_some());
    assert_samples_kept(&record, 0);
    // It goes on there, to its end.
    gone("sleep 6.3372");
    gone(sshd.trials().to_str().unwrap());
}
