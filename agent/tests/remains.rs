//! What others left on a host, or make of it at the same time.

mod common;

use std::fs;

use common::{Host, kill, runs, setting, spec, until};
use ktrial_agent::Spec;

fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    id.trim().to_owned()
}

/// A process of this boot that is gone.
fn gone() -> String {
    format!("{} 1 {}", i32::MAX, boot_id())
}

/// This process, as locks name it.
fn own() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19);
    format!("{} {} {}", std::process::id(), start.unwrap(), boot_id())
}

#[test]
fn a_holder_whose_folder_is_gone_is_waited_for() {
    let host = Host::new();
    fs::write(host.lock(), format!("{} forgotten\n", own())).unwrap();
    let mut trial = host.trial(&spec("true"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(1));
            fs::remove_file(host.lock()).unwrap();
        });
        trial.start();
    });
    assert_eq!(trial.end().last().unwrap(), "ended complete");
}

#[test]
fn starts_of_one_trial_make_one_supervisor() {
    let host = Host::new();
    let mut trial = host.trial(&spec("sleep 1000"));
    let said: Vec<String> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| trial.call("start", &[]).stdout))
            .collect();
        let all = starts.into_iter().map(|start| start.join().unwrap());
        all.map(|said| String::from_utf8(said).unwrap()).collect()
    });
    let keeper = trial.start();
    assert!(
        said.iter()
            .all(|said| *said == format!("started {keeper}\n")),
        "{said:?} {keeper}"
    );
    fs::write(trial.folder.join("stop"), "").unwrap();
    let words = trial.end();
    assert_eq!(words.iter().filter(|w| *w == "begun").count(), 1);
}

#[test]
fn a_supervisor_has_a_session_of_its_own() {
    let host = Host::new();
    let mut trial = host.trial(&spec("sleep 1000"));
    let keeper = trial.start();
    let stat = fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3);
    assert_eq!(session.unwrap(), keeper.to_string());
}

/// A trial that the shell supervised until it died.
fn shells(host: &Host, recover: &str) -> common::Trial {
    let trial = host.trial(&spec("true"));
    fs::write(trial.folder.join("pid"), format!("{}\n", gone())).unwrap();
    fs::write(trial.folder.join("supervisor.sh"), recover).unwrap();
    trial
}

#[test]
fn a_dead_shells_trial_is_recovered_by_its_own_script() {
    let host = Host::new();
    let first = shells(
        &host,
        "[ \"$1\" = recover ] && [ ! -e ../lock ] && : >result\n",
    );
    let mut next = host.trial(&spec("true"));
    next.start();
    assert!(first.folder.join("result").exists());
    assert_eq!(next.end().last().unwrap(), "ended complete");

    shells(&host, "echo 'refused it is stuck'; exit 1\n");
    let said = host.trial(&spec("true")).refused();
    assert!(
        said.contains("could not be put right: it is stuck"),
        "{said}"
    );
    assert!(!host.lock().exists());
}

/// A trial of this program that died, with a setting and without a lock that would name it.
fn dead(host: &Host, file: &std::path::Path, pid: &str) -> common::Trial {
    let trial = host.trial(&spec("true"));
    let journal = format!(
        "{{\"set\":{{\"file\":\"{}\",\"old\":\"60\",\"value\":\"7\"}}}}\n\"prepare\"\n",
        file.display()
    );
    fs::write(trial.folder.join("journal"), journal).unwrap();
    fs::write(trial.folder.join("pid"), format!("{pid}\n")).unwrap();
    trial
}

#[test]
fn a_start_finds_what_no_lock_tells_of() {
    let host = Host::new();
    let file = host.file("kernel", "7\n");
    let first = dead(&host, &file, &gone());
    fs::write(first.folder.join("spec.json"), "{").unwrap();
    fs::write(first.folder.join("events"), "1.000000 begun 5\n2.000000 no").unwrap();
    let other = dead(&host, &file, "1 1 00000000-0000-0000-0000-000000000000");
    let mut next = host.trial(&spec(&format!("cat {}", file.display())));
    next.start();
    next.end();
    assert_eq!(next.read("workload.stdout"), "60\n");
    let words = first.words();
    assert_eq!(words[..2], ["begun", "no"], "the cut line was ended");
    assert!(
        words[2].starts_with("left restore is not known"),
        "{words:?}"
    );
    assert_eq!(words.last().unwrap(), "ended died");
    assert!(first.read("result").starts_with("events "));
    let output = first.call("follow", &[]);
    assert!(output.stdout.ends_with(b". 0 0\n\n"));
    assert!(
        !other.folder.join("result").exists(),
        "another boot's is left as it is"
    );
}

/// A workload that takes a while to end, so that its trial can be struck meanwhile.
fn slow_end() -> Spec {
    let mut spec = spec(
        "trap ': >asked; until [ -e go ]; do sleep 0.1; done; exit 0' INT; : >ready; while :; do sleep 0.1; done",
    );
    spec.grace_ms = 80_000;
    spec.restore = "echo restored; cut -d ' ' -f 1 ../lock".to_owned();
    spec
}

#[test]
fn a_worker_whose_keeper_dies_at_the_end_has_the_lock_before_it_restores() {
    let host = Host::new();
    let mut trial = host.trial(&slow_end());
    let keeper = trial.start();
    until("the workload", || trial.folder.join("ready").exists());
    let worker = trial.worker(keeper);
    fs::write(trial.folder.join("stop"), "").unwrap();
    until("the end", || trial.folder.join("asked").exists());
    kill(keeper);
    fs::write(trial.folder.join("go"), "").unwrap();
    assert_eq!(trial.end().last().unwrap(), "ended stopped");
    assert_eq!(
        trial.read("workload.stdout"),
        format!("restored\n{worker}\n")
    );
}

#[test]
fn a_worker_leaves_the_rest_to_who_took_the_lock() {
    let host = Host::new();
    let file = host.file("kernel", "60\n");
    let mut spec = slow_end();
    spec.settings = vec![setting(&file, "7")];
    let mut trial = host.trial(&spec);
    let keeper = trial.start();
    until("the workload", || trial.folder.join("ready").exists());
    let worker = trial.worker(keeper);
    fs::write(trial.folder.join("stop"), "").unwrap();
    until("the end", || trial.folder.join("asked").exists());
    kill(keeper);
    fs::write(host.lock(), format!("{} other\n", own())).unwrap();
    fs::write(trial.folder.join("go"), "").unwrap();
    until("the worker ends", || !runs(worker));
    assert!(!trial.folder.join("result").exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), "7\n");
    fs::remove_file(host.lock()).unwrap();
    assert!(trial.call("recover", &[]).status.success());
    assert_eq!(trial.end().last().unwrap(), "ended died");
    assert_eq!(trial.read("workload.stdout").matches("restored").count(), 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "60\n");
}
