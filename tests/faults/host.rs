//! What becomes of a trial when something goes wrong on its host: processes that hear nothing, a supervisor that dies, an
//! agent whose file is gone.

use std::fs;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::common::experiment::{gone, raw, states};
use crate::common::sshd::wait_until;
use crate::site::Site;
use crate::story::{Story, by_each, side_by_side};

fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn two_hundred_children_that_hear_no_signal_are_ended() {
    by_each(|supervisor| {
        let site = Site::start();
        // Words that no other test has.
        let deaf = format!("98765.{}", site.sshd.port());
        let first = format!(
            "trap '' INT TERM; i=0; while [ $i -lt 200 ]; do sleep {deaf} & i=$((i+1)); done; echo all >AT/all; wait"
        );
        let story = Story::with(&site, supervisor, &first);
        let mut ktrial = story.run(&[]);
        wait_until("all children", || {
            ktrial.goes_on();
            story.folder.path().join("all").exists()
        });
        kill(ktrial.id(), Signal::INT);
        ktrial.fails();
        // The host was asked to put itself in order first: nothing is left to wait for.
        let left = Command::new("pgrep")
            .args(["-f", &format!("sleep {deaf}")])
            .output();
        assert!(left.is_ok_and(|left| left.stdout.is_empty()));
        gone(&deaf);
        let record = story.record();
        assert_eq!(states(&record), ["interrupted", "not-run"]);
        let events = raw(&record, 0, "events");
        assert!(events.ends_with(" ended stopped\n"), "{events}");
        assert!(raw(&record, 0, "meminfo").contains("MemAvailable"));
        assert!(record.manifest().trials[0].on_host.is_none());
        site.is_as_before();
    });
}

/// The first trial's supervisor is killed as `kill` does it; the record says so, and the second trial is complete.
fn supervisor_killed(supervisor: &'static str, kill: impl Fn(&Site)) {
    let site = Site::start();
    let story = Story::new(&site, supervisor, 600.0);
    let mut ktrial = story.run(&[]);
    story.until(&mut ktrial, "start");
    kill(&site);
    ktrial.fails();
    let record = story.record();
    assert_eq!(states(&record), ["failed", "complete"]);
    let trial = &record.manifest().trials[0];
    let reason = trial.reason.clone().unwrap();
    assert!(reason.contains("was killed"), "{reason}");
    let events = raw(&record, 0, "events");
    assert!(events.ends_with(" ended died\n"), "{events}");
    assert!(raw(&record, 0, "meminfo").contains("MemAvailable"));
    assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
    site.is_as_before();
}

/// The process that takes a trial through its phases; the agent's supervisor keeps it.
fn worker(site: &Site) -> u32 {
    let keeper = site.supervisor();
    let children = format!("/proc/{keeper}/task/{keeper}/children");
    let children = fs::read_to_string(children).unwrap();
    let is_worker = |pid: &&str| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("\0work\0")
    };
    let worker = children.split_whitespace().find(is_worker);
    worker.expect("a worker").parse().unwrap()
}

/// What is killed.
#[derive(Clone, Copy)]
enum Killed {
    Worker,
    Agent,
    Shell,
}

#[test]
fn a_supervisor_that_is_killed_is_cleaned_up_after() {
    side_by_side(
        [Killed::Worker, Killed::Agent, Killed::Shell],
        |killed| match killed {
            // Its keeper sees to it.
            Killed::Worker => supervisor_killed("agent", |site| kill(worker(site), Signal::KILL)),
            // Its ktrial does.
            Killed::Agent => supervisor_killed("agent", |site| {
                let (worker, keeper) = (worker(site), site.supervisor());
                // Neither sees the other go.
                kill(keeper, Signal::STOP);
                kill(worker, Signal::KILL);
                kill(keeper, Signal::KILL);
            }),
            Killed::Shell => {
                supervisor_killed("shell", |site| kill(site.supervisor(), Signal::KILL))
            }
        },
    );
}

#[test]
fn an_agent_whose_file_is_removed_goes_on_and_is_sent_again() {
    let mut site = Site::start();
    let story = Story::new(&site, "agent", 4.0);
    let mut ktrial = story.run(&[]);
    story.until(&mut ktrial, "start");
    for entry in fs::read_dir(site.trials()).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("/agent-") {
            fs::remove_file(path).unwrap();
        }
    }
    // Who follows has to be started anew, too.
    site.sshd.kill();
    site.sshd.restart();
    ktrial.succeeds();
    story.is_complete();
    story.is_sampled(3.0);
    site.is_as_before();
}

#[test]
fn a_lease_that_nobody_can_renew_does_not_end_a_trial_before_its_time() {
    by_each(|supervisor| {
        let site = Site::start();
        let story = Story::new(&site, supervisor, 3.0);
        let mut ktrial = story.run(&[]);
        story.until(&mut ktrial, "start");
        let lease = site.trial().join("lease");
        fs::remove_file(&lease).unwrap();
        fs::create_dir(&lease).unwrap();
        ktrial.succeeds();
        story.is_complete();
        site.is_as_before();
    });
}

#[test]
fn a_trial_that_somebody_else_stops_is_told() {
    by_each(|supervisor| {
        let site = Site::start();
        let story = Story::new(&site, supervisor, 600.0);
        let mut ktrial = story.run(&[]);
        story.until(&mut ktrial, "start");
        fs::write(site.trial().join("stop"), "").unwrap();
        ktrial.fails();
        let record = story.record();
        assert_eq!(states(&record), ["failed", "complete"]);
        let reason = record.manifest().trials[0].reason.clone().unwrap();
        assert!(reason.contains("ended early"), "{reason}");
        site.is_as_before();
    });
}
