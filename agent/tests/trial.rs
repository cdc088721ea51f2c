//! Trials from their begin to their end.

mod common;

use std::fs;
use std::path::Path;

use common::{Host, monitor, setting, spec, until};
use ktrial_agent::Source;

#[test]
fn a_trial_goes_through_all_its_phases() {
    let host = Host::new();
    let mut spec = spec("echo \"$KTRIAL_TRIAL\"; echo err >&2; cat; exit 3");
    spec.prepare = "echo prepared; echo 'ktrial: a word' >&2".to_owned();
    spec.restore = "echo restored".to_owned();
    spec.monitors = vec![
        monitor("meminfo", 10_000, Source::File("/proc/meminfo".to_owned())),
        monitor(
            "own",
            100_000,
            Source::Script("while :; do echo x; sleep 0.1; done".to_owned()),
        ),
    ];
    let mut trial = host.trial(&spec);
    let keeper = trial.start();
    let words = trial.end();
    let expected = [
        "begun",
        "note a word",
        "idle",
        "start",
        "end 3",
        "settled",
        "ended complete",
    ];
    let words: Vec<&String> = words.iter().filter(|w| !w.contains(" missed ")).collect();
    assert_eq!(words, expected);
    assert!(trial.read("events").contains(&format!(" begun {keeper}\n")));
    let name = trial.folder.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        trial.read("workload.stdout"),
        format!("prepared\n[{name}]\nrestored\n")
    );
    assert_eq!(trial.read("workload.stderr"), "ktrial: a word\nerr\n");
    assert!(trial.read("own.txt").starts_with("x\nx\n"));
    assert!(trial.read("agent.txt").starts_with("@ "));
    assert!(trial.processes().is_empty());
    until("the keeper ends", || !common::runs(keeper));
    assert!(!host.lock().exists());
    assert!(trial.refused().contains("begun before"));
}

#[test]
fn a_trial_is_stopped_in_each_of_its_phases() {
    let long = "sleep 1000";
    for phase in ["prepare", "idle", "workload", "settle"] {
        let host = Host::new();
        let file = host.file("kernel", "60\n");
        let mut spec = spec("true");
        spec.settings = vec![setting(&file, "7")];
        spec.restore = format!("cat {}", file.display());
        match phase {
            "prepare" => spec.prepare = format!("echo here; {long}"),
            "idle" => spec.idle_ms = 1_000_000,
            "workload" => spec.command = long.to_owned(),
            _ => spec.settle_ms = 1_000_000,
        }
        let mut trial = host.trial(&spec);
        trial.start();
        match phase {
            "prepare" => until("prepare", || trial.read("workload.stdout") == "here\n"),
            "idle" => trial.until_event("idle"),
            "workload" => trial.until_event("start"),
            _ => trial.until_event("end "),
        }
        assert!(trial.call("stop", &[]).status.success());
        let words = trial.end();
        let expected: &[&str] = match phase {
            "prepare" => &["begun", "ended stopped"],
            "idle" => &["begun", "idle", "ended stopped"],
            "workload" => &["begun", "idle", "start", "end 130", "ended stopped"],
            _ => &["begun", "idle", "start", "end 0", "ended stopped"],
        };
        assert_eq!(words, expected, "{phase}");
        assert!(
            trial.read("workload.stdout").ends_with("7\n"),
            "restore, before settings: {phase}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "60\n", "{phase}");
        assert!(trial.processes().is_empty(), "{phase}");
    }
}

#[test]
fn a_workload_is_ended_at_its_limit_though_its_children_hear_no_signal() {
    let host = Host::new();
    let deaf = "trap '' INT TERM; i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; \
                echo all; wait; sleep 1000";
    let mut spec = spec(deaf);
    spec.limit_ms = 3_000;
    spec.grace_ms = 300;
    let mut trial = host.trial(&spec);
    trial.start();
    let words = trial.end();
    assert_eq!(words.last().unwrap(), "ended limit", "{words:?}");
    assert!(words.contains(&"end 137".to_owned()), "{words:?}");
    assert!(
        !words.iter().any(|word| word.starts_with("left")),
        "{words:?}"
    );
    assert!(trial.processes().is_empty());
}

#[test]
fn a_daemon_without_the_trial_in_its_environment_is_found_and_ended() {
    let host = Host::new();
    let daemon = "env -i /bin/sh -c 'setsid sh -c \"trap : TERM; echo \\$\\$ >daemon; while :; do sleep 1; done\" &'";
    let mut trial = host.trial(&spec(&format!(
        "{daemon}; while [ ! -s daemon ]; do sleep 0.1; done"
    )));
    trial.start();
    let words = trial.end();
    let pid: i32 = trial.read("daemon").trim().parse().unwrap();
    assert!(!common::runs(pid));
    let note = words.iter().find(|word| word.contains("outlived")).unwrap();
    assert!(note.contains(&format!("{pid} sh")), "{note}");
    assert_eq!(words.last().unwrap(), "ended complete");
}

#[test]
fn what_prepare_leaves_is_not_the_workloads() {
    let host = Host::new();
    let mut spec = spec("kill -0 $(cat server) && echo there");
    spec.prepare = "sleep 1000 & echo $! >server".to_owned();
    spec.restore = "kill -0 $(cat server) && echo still there".to_owned();
    let mut trial = host.trial(&spec);
    trial.start();
    assert_eq!(
        trial.end(),
        [
            "begun",
            "idle",
            "start",
            "end 0",
            "settled",
            "ended complete"
        ]
    );
    assert_eq!(trial.read("workload.stdout"), "there\nstill there\n");
    assert!(!common::runs(trial.read("server").trim().parse().unwrap()));
}

#[test]
fn a_trial_ends_when_nobody_is_there_and_goes_on_while_one_is() {
    let host = Host::new();
    let mut spec = spec("sleep 1000");
    spec.lease_ms = 2_000;
    let mut trial = host.trial(&spec);
    trial.start();
    let words = trial.end();
    assert_eq!(words, ["begun", "idle", "start", "end 130", "ended lease"]);

    // A clock that is set makes no difference: any change of the file's time is somebody who is there.
    spec.command = "i=0; while [ $i -lt 12 ]; do touch -d @$((i % 2 * 100000)) lease; sleep 0.5; i=$((i+1)); done".to_owned();
    spec.settle_ms = 0;
    let mut trial = host.trial(&spec);
    trial.start();
    assert_eq!(trial.end().last().unwrap(), "ended complete");
}

#[test]
fn a_follower_is_somebody_only_while_it_hears_of_one() {
    let host = Host::new();
    let mut spec = spec("sleep 1000");
    spec.lease_ms = 6_000;
    let mut trial = host.trial(&spec);
    trial.start();
    // It gives all there is to its end, and that does not come before its time.
    trial.call("follow", &[]);
    assert_eq!(trial.end().last().unwrap(), "ended lease");

    spec.command = "sleep 9".to_owned();
    let mut trial = host.trial(&spec);
    trial.start();
    let mut follower = std::process::Command::new(common::program())
        .arg("follow")
        .arg(&trial.folder)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut input = follower.stdin.take().unwrap();
    while follower.try_wait().unwrap().is_none() {
        let _ = std::io::Write::write_all(&mut input, b"\n");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert_eq!(trial.end().last().unwrap(), "ended complete");
}

#[test]
fn a_signal_to_the_keeper_or_the_worker_stops_the_trial() {
    for to_worker in [false, true] {
        let host = Host::new();
        let mut trial = host.trial(&spec("sleep 1000"));
        let keeper = trial.start();
        trial.until_event("start");
        let pid = if to_worker {
            trial.worker(keeper)
        } else {
            keeper
        };
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
        assert_eq!(trial.end().last().unwrap(), "ended stopped");
    }
}

#[test]
fn a_prepare_that_fails_ends_the_trial_with_its_last_word() {
    let host = Host::new();
    let mut spec = spec("echo never");
    spec.prepare = "echo first >&2; echo 'no such \u{1b}[31mmodule' >&2; exit 4".to_owned();
    spec.restore = "echo restored".to_owned();
    let mut trial = host.trial(&spec);
    trial.start();
    assert_eq!(trial.end(), ["begun", "ended failed no such  [31mmodule"]);
    assert_eq!(trial.read("workload.stdout"), "restored\n");
}

#[test]
fn settings_hold_for_the_trial_and_what_changed_them_is_noted() {
    let host = Host::new();
    let one = host.file("one", "always [madvise] never\n");
    let two = host.file("two", "60\n");
    let three = host.file("three", "path\n");
    let files = format!("cat {} {}", one.display(), two.display());
    let mut spec = spec(&format!(
        "{files}; echo 9 >{}; echo x >{}",
        two.display(),
        three.display()
    ));
    spec.settings = vec![setting(&one, "never"), setting(&two, "10")];
    spec.guarded = vec![
        three.display().to_string(),
        host.base.path().join("none").display().to_string(),
    ];
    let mut trial = host.trial(&spec);
    trial.start();
    let words = trial.end();
    assert_eq!(trial.read("workload.stdout"), "never\n10\n");
    let note = format!(
        "note {} was 9 at the trial's end, not the 10 that was set",
        two.display()
    );
    assert!(words.contains(&note), "{words:?}");
    let note = format!(
        "note {} was x at the trial's end, and path before it",
        three.display()
    );
    assert!(
        words.iter().any(|word| word.starts_with(&note)),
        "{words:?}"
    );
    assert_eq!(fs::read_to_string(&one).unwrap(), "madvise\n");
    assert_eq!(fs::read_to_string(&two).unwrap(), "60\n");
    assert_eq!(fs::read_to_string(&three).unwrap(), "path\n");
    assert!(!host.base.path().join("none").exists());
}

#[test]
fn a_setting_that_does_not_hold_ends_the_trial() {
    let host = Host::new();
    let good = host.file("good", "60\n");
    let mut spec = spec("echo never");
    spec.settings = vec![setting(&good, "10"), setting(Path::new("/dev/null"), "7")];
    let mut trial = host.trial(&spec);
    trial.start();
    let reason = "setting /dev/null was to be 7, and after writing it reads  (before it was )";
    assert_eq!(
        trial.end(),
        ["begun".to_owned(), format!("ended failed {reason}")]
    );
    assert_eq!(fs::read_to_string(&good).unwrap(), "60\n");
}

#[test]
fn the_program_may_be_removed_while_it_runs() {
    let host = Host::new();
    let copy = host.base.path().join("program");
    // A link: a copy that is still open somewhere could not be run.
    if fs::hard_link(common::program(), &copy).is_err() {
        fs::copy(common::program(), &copy).unwrap();
    }
    let mut trial = host.trial(&spec("sleep 1"));
    trial.start_of(&copy);
    fs::remove_file(&copy).unwrap();
    assert_eq!(trial.end().last().unwrap(), "ended complete");
}

#[test]
fn other_words_are_no_command() {
    let host = Host::new();
    let trial = host.trial(&spec("true"));
    assert_eq!(trial.call("begin", &[]).status.code(), Some(2));
    assert_eq!(trial.call("follow", &["../lock=0"]).status.code(), Some(2));
    let mut version = std::process::Command::new(common::program());
    let output = version.arg("version").output().unwrap();
    assert_eq!(
        output.stdout,
        format!("{}\n", env!("CARGO_PKG_VERSION")).as_bytes()
    );
    fs::write(trial.folder.join("spec.json"), "{\"trial\": 1}").unwrap();
    assert!(trial.refused().starts_with("refused spec.json: "));
}
