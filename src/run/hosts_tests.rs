//! Stories of many hosts: how many run at once, which are left out, and what is said of each.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::story::{
    FOLLOW, SAMPLE, Story, Told, bad, good, nobody, plan, raw, reason, states, ways,
};
use super::*;
use crate::experiment::WorkloadKind;
use crate::host::scripted::{ScriptedHost, Step};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Hosts that are different machines, whose workloads go well.
fn story(names: &[&'static str]) -> Story {
    let story = Story::on(names);
    for (host, number) in story.hosts.iter().zip(0..) {
        boots(host, number);
        host.play(FOLLOW, [good()]);
    }
    story
}

fn boots(host: &ScriptedHost, number: usize) {
    let facts = format!(
        "==ktrial== facts\nkernel=6.12.0\nboot_id=8d9e2a52-19b6-4f0c-9a5e-0f6a6a1f7a0{number}\n==ktrial== done\n"
    );
    host.answer_first("==ktrial== facts", &facts);
}

/// At most so many hosts at once.
fn limited(n: usize) -> Ways<'static> {
    Ways {
        max_hosts: NonZeroUsize::new(n),
        ..ways(&nobody)
    }
}

/// Without the hosts that are not ready.
fn without() -> Ways<'static> {
    Ways {
        go_without: true,
        ..ways(&nobody)
    }
}

/// Who is at work. A host's first trial waits until as many are as may be, so that more would be seen.
struct Crowd {
    limit: usize,
    left: Mutex<usize>,
    at_work: Mutex<BTreeSet<String>>,
    changed: Condvar,
    most: Mutex<usize>,
}

impl Progress for Crowd {
    fn update(&self, update: Update<'_>) {
        let mut at_work = self.at_work.lock().unwrap();
        match update {
            Update::TrialStarted { host, .. } if at_work.insert(host.to_owned()) => {
                let mut most = self.most.lock().unwrap();
                *most = at_work.len().max(*most);
                drop(most);
                self.changed.notify_all();
                let wanted = (*self.left.lock().unwrap()).min(self.limit);
                let patience = Duration::from_secs(60);
                let full = |at_work: &mut BTreeSet<String>| at_work.len() < wanted;
                drop(self.changed.wait_timeout_while(at_work, patience, full));
                // Longer than another host's thread needs to come, were it let.
                std::thread::sleep(Duration::from_millis(20));
            }
            Update::HostDone { host } => {
                at_work.remove(host);
                *self.left.lock().unwrap() -= 1;
            }
            _ => {}
        }
    }
}

#[test]
fn never_more_hosts_than_are_allowed_are_at_work() {
    for limit in [1, 2, 5] {
        let story = story(&NAMES);
        let crowd = Crowd {
            limit,
            left: Mutex::new(NAMES.len()),
            at_work: Mutex::default(),
            changed: Condvar::new(),
            most: Mutex::default(),
        };
        let plan = plan(&NAMES, 10, WorkloadKind::Command);
        let record = story.try_run_by(&plan, &crowd, limited(limit)).unwrap();
        assert_eq!(states(&record), ["complete"; 10]);
        assert_eq!(*crowd.most.lock().unwrap(), limit);
    }
}

#[test]
fn every_item_is_done_once_in_order_whatever_the_number_at_once() {
    for at_once in [None, NonZeroUsize::new(1), NonZeroUsize::new(3)] {
        let doubled = beside((0..10).collect(), at_once, |n: i32| 2 * n);
        assert_eq!(doubled, (0..10).map(|n| 2 * n).collect::<Vec<_>>());
        assert!(beside(Vec::<i32>::new(), at_once, |n| n).is_empty());
    }
}

#[test]
fn hosts_that_are_not_ready_are_left_out_and_told() {
    let story = story(&["a", "b", "c"]);
    story.hosts[1].answer_first(
        "==ktrial== facts",
        "==ktrial== facts\nmissing=stress-ng\n==ktrial== done\n",
    );
    let plan = plan(&["a", "b", "c"], 6, WorkloadKind::Command);
    let plan = plan.experiment.plan().unwrap();
    let error = story.try_run(&plan, &Silent).unwrap_err();
    assert!(error.report().contains("--go-without"), "{error:?}");
    assert!(!story.folder.path().join("runs").exists());

    let record = story.try_run_by(&plan, &Silent, without()).unwrap();
    let manifest = record.manifest();
    assert_eq!(manifest.trials.len(), 6);
    for trial in &manifest.trials {
        let is_b = trial.host.as_deref() == Some("b");
        assert_eq!(trial.state == State::NotRun, is_b, "{trial:?}");
        assert_eq!(trial.state == State::Complete, !is_b, "{trial:?}");
    }
    assert_eq!(manifest.state, State::Failed);
    let hosts: Vec<&str> = manifest.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(hosts, ["a", "c"]);
    let note = &manifest.notes[0];
    assert!(note.starts_with("b was left out: "), "{note}");
    let error = check(&record).unwrap_err();
    assert!(
        error.report().contains("the host was left out: "),
        "{error:?}"
    );
    let lines = summary(&record);
    assert_eq!(lines[0], "a: 2 complete");
    assert!(
        lines[1].starts_with("b: 2 not-run; left out: ") && lines[1].contains("stress-ng"),
        "{lines:?}"
    );

    // Put right, the others' trials are run.
    boots(&story.hosts[1], 1);
    let connect = |name: &str| -> Result<Box<dyn Host>> {
        let host = story.hosts.iter().find(|h| h.name() == name);
        Ok(Box::new(host.expect(name).clone()))
    };
    let (clock, dir) = (&story.clock, record.dir());
    let ways = ways(&connect);
    let record = resume::resume_by(clock, &dir, &ways, &story.cancel, &Silent).unwrap();
    assert_eq!(states(&record), ["complete"; 6]);
    assert_eq!(record.manifest().hosts.len(), 3);
    assert_eq!(summary(&record)[1], "b: 2 complete");
}

#[test]
fn one_machine_under_two_names_is_used_once() {
    let story = story(&["a", "b"]);
    boots(&story.hosts[1], 0);
    let plan = plan(&["a", "b"], 2, WorkloadKind::Command);
    let error = story.try_run(&plan, &Silent).unwrap_err();
    assert!(error.report().contains("same machine as a"), "{error:?}");
    let record = story.try_run_by(&plan, &Silent, without()).unwrap();
    assert_eq!(states(&record), ["complete", "not-run"]);
}

#[test]
fn without_any_host_that_is_ready_nothing_is_run() {
    let story = story(&["a", "b"]);
    for host in &story.hosts {
        host.answer_first("==ktrial== facts", "no preflight");
    }
    let plan = plan(&["a", "b"], 2, WorkloadKind::Command);
    let error = story.try_run_by(&plan, &Silent, without()).unwrap_err();
    assert!(!error.report().contains("--go-without"), "{error:?}");
    assert!(!story.folder.path().join("runs").exists());
}

#[test]
fn a_line_for_each_host_says_what_became_of_it() {
    let story = Story::on(&["a", "b"]);
    story.hosts[0].play(FOLLOW, [good()]);
    story.hosts[1].play(FOLLOW, [good(), bad()]);
    boots(&story.hosts[0], 0);
    boots(&story.hosts[1], 1);
    let plan = plan(&["a", "b"], 4, WorkloadKind::Command);
    let record = story.try_run(&plan, &Silent).unwrap();
    assert_eq!(
        summary(&record),
        ["a: 2 complete", "b: 1 complete, 1 failed"]
    );
    let one = Story::on(&["a"]).trials([good()]);
    let one = one.run(&super::story::plan(&["a"], 1, WorkloadKind::Command));
    assert!(summary(&one).is_empty());
}

#[test]
fn the_password_is_asked_for_once_and_by_whoever_may() {
    // No way without a password; what goes through sudo says no fence on a scripted host.
    let story = story(&["a", "b"]);
    for host in &story.hosts {
        host.say_first("# root, or the way to it", "sudo: a password is required\n");
        host.play("exec sudo -S", [refusing()]);
    }
    let mut plan = plan(&["a", "b"], 2, WorkloadKind::Command);
    let setting = crate::experiment::Setting {
        file: "/proc/sys/vm/swappiness".into(),
        value: "10".into(),
    };
    plan.experiment.settings = vec![setting.clone()];
    for trial in &mut plan.trials {
        trial.settings = vec![setting.clone()];
    }
    let error = story.try_run(&plan, &Silent).unwrap_err();
    assert!(error.report().contains("terminal"), "{error:?}");

    let asked = Mutex::new(0);
    let ask = |_: &str| {
        *asked.lock().unwrap() += 1;
        crate::host::Password::new(zeroize::Zeroizing::new(b"hunter2".to_vec()))
    };
    let ways = Ways {
        password: Some(&ask),
        ..ways(&nobody)
    };
    let error = story.try_run_by(&plan, &Silent, ways).unwrap_err();
    assert_eq!(*asked.lock().unwrap(), 1);
    let report = error.report();
    for host in ["a: ", "b: "] {
        assert!(report.contains(host), "{report}");
    }
    assert!(report.contains("refused the password") && !report.contains("hunter2"));
    for host in &story.hosts {
        let given = host.inputs();
        let given: Vec<_> = given.iter().filter(|i| *i == b"hunter2\n").collect();
        assert_eq!(given.len(), 1);
        assert!(host.log().iter().all(|line| !line.contains("hunter2")));
    }
}

/// sudo that asks twice.
fn refusing() -> crate::host::scripted::Play {
    use crate::host::scripted::Step;
    crate::host::scripted::Play::new([
        Step::Err("Password: "),
        Step::Err("Sorry, try again.\nPassword: "),
        Step::Err("\nsudo: 1 incorrect password attempt\n"),
        Step::End(crate::host::Exit::Code(1)),
    ])
}

#[test]
fn what_a_host_lost_with_its_power_is_the_reboot_s() {
    fn reboot(host: &ScriptedHost) {
        host.answer_first("boot_id", "0d9e2a52-19b6-4f0c-9a5e-0f6a6a1f7a10\n");
    }
    let mut cut = Told::begun().and(Step::Do(reboot)).over("rebooted");
    for step in &mut cut.steps {
        // What was not yet on the disk came, and is no more.
        if let Step::Out(text) = step
            && text.contains("workload.stdout 7 ")
        {
            *step = Step::Out(
                text.replace("workload.stdout 7 ", "workload.stdout 0 ")
                    .leak(),
            );
        }
    }
    let story = Story::on(&["alpha"]).trials([cut]);
    let record = story.run(&plan(&["alpha"], 1, WorkloadKind::Command));
    let trial = &record.manifest().trials[0];
    assert_eq!(reason(trial), "the host rebooted during the trial");
    let notes = trial.notes.join("\n");
    assert!(
        notes.contains("of workload.stdout 7 bytes came, the host says 0"),
        "{notes}"
    );
    assert_eq!(raw(&record, 0, "meminfo"), SAMPLE);
}

#[test]
fn a_host_that_was_silent_for_long_may_refuse_for_a_moment() {
    let broken = Told::begun().and(Step::Break).play();
    let story = Story::on(&["alpha"]).trials([broken, good()]);
    let tries = AtomicUsize::new(0);
    let connect = |_: &str| -> Result<Box<dyn Host>> {
        let kind = match tries.fetch_add(1, Ordering::SeqCst) {
            // A minute and a half.
            1..=7 => ErrorKind::HostTransient,
            8 => ErrorKind::HostStable,
            _ => {
                story.hosts[0].mend();
                return Ok(Box::new(story.hosts[0].clone()));
            }
        };
        Err(Error::new(kind, "no answer"))
    };
    let to = Destination {
        folder: story.folder.path().join("runs"),
        experiment: None,
    };
    let plan = plan(&["alpha"], 1, WorkloadKind::Command);
    let ways = ways(&connect);
    let record = run_by(&story.clock, &plan, &to, &ways, &story.cancel, &Silent).unwrap();
    assert_eq!(states(&record), ["complete"]);
}
