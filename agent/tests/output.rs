//! What a workload and monitors leave: their output, what stands in its place, and processes.

mod common;

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use common::{Host, Trial, frames, monitor, spec};
use ktrial_agent::{OUTPUT_LIMIT, Source};

#[test]
fn what_is_no_regular_file_is_neither_waited_for_nor_followed() {
    let host = Host::new();
    let mut spec = spec(
        "rm workload.stdout workload.stderr; mkfifo pipe workload.stdout workload.stderr; ln -s /etc/passwd link",
    );
    spec.reports = vec!["pipe".to_owned(), "link".to_owned()];
    spec.prepare = "true".to_owned();
    spec.restore = "echo said; : >restored".to_owned();
    let mut trial = host.trial(&spec);
    trial.start();
    let output = trial.call("follow", &[]);
    let mut files = HashMap::new();
    assert_eq!(frames(&output.stdout, &mut files).as_deref(), Some("."));
    let mut names: Vec<_> = files.keys().collect();
    names.sort();
    assert_eq!(names, ["agent.txt", "events", "result"]);
    fs::remove_file(trial.folder.join("workload.stdout")).unwrap();
    fs::remove_file(trial.folder.join("workload.stderr")).unwrap();
    assert_eq!(trial.end().last().unwrap(), "ended complete");
    assert!(trial.folder.join("restored").exists());
}

#[test]
fn of_long_output_the_begin_is_kept() {
    let host = Host::new();
    let more = OUTPUT_LIMIT + 5;
    let mut trial = host.trial(&spec(&format!("head -c {more} /dev/zero")));
    trial.start();
    let output = trial.call("follow", &[]);
    let mut files = HashMap::new();
    assert_eq!(frames(&output.stdout, &mut files).as_deref(), Some("."));
    assert_eq!(files["workload.stdout"].len() as u64, OUTPUT_LIMIT);
    let words = trial.end();
    let note = format!("note workload.stdout had {more} bytes; its first {OUTPUT_LIMIT} are kept");
    assert!(words.contains(&note), "{words:?}");
    assert!(
        trial
            .read("result")
            .contains(&format!("workload.stdout {OUTPUT_LIMIT} "))
    );
}

#[test]
fn output_that_fills_the_disk_ends_the_trial() {
    let mount = tempfile::tempdir().unwrap();
    let mut command = Command::new("mount");
    command
        .args(["-t", "tmpfs", "-o", "size=100m", "tmpfs"])
        .arg(mount.path());
    if !command.output().is_ok_and(|output| output.status.success()) {
        eprintln!("left out: no file system can be mounted here");
        return;
    }
    let mut trial = Trial::at(
        mount.path(),
        &spec("head -c 60000000 /dev/zero; sleep 1000"),
    );
    trial.start();
    let words = trial.end();
    let mut command = Command::new("umount");
    command.arg("-l").arg(mount.path()).output().unwrap();
    let last = words.last().unwrap();
    assert!(
        last.starts_with("ended failed the disk below ") && last.contains("nearly full"),
        "{words:?}"
    );
}

#[test]
fn what_an_early_monitor_leaves_is_ended() {
    let host = Host::new();
    let mut spec = spec("sleep 1");
    let script = "sleep 1000 & echo $! >left; echo x";
    spec.monitors = vec![monitor("early", 1_000, Source::Script(script.to_owned()))];
    let mut trial = host.trial(&spec);
    trial.start();
    let words = trial.end();
    assert!(
        words
            .iter()
            .any(|w| w.starts_with("note the monitor early ended")),
        "{words:?}"
    );
    assert_eq!(words.last().unwrap(), "ended complete");
    assert!(!common::runs(trial.read("left").trim().parse().unwrap()));
}
