//! Supervisors that die, and trials that want the same host.

mod common;

use std::fs;

use common::{Host, kill, runs, setting, spec, until};

#[test]
fn a_keeper_recovers_after_its_worker() {
    let host = Host::new();
    let file = host.file("kernel", "60\n");
    let daemon = "env -i /bin/sh -c 'setsid sleep 1000 & echo $! >daemon'";
    let mut spec = spec(&format!("{daemon}; echo ready; sleep 1000"));
    spec.settings = vec![setting(&file, "7")];
    spec.prepare = "true".to_owned();
    spec.restore = "echo restored".to_owned();
    let mut trial = host.trial(&spec);
    let keeper = trial.start();
    until("the workload", || {
        trial.read("workload.stdout").contains("ready")
    });
    kill(trial.worker(keeper));
    let words = trial.end();
    assert_eq!(words, ["begun", "idle", "start", "ended died"]);
    assert!(trial.read("workload.stdout").ends_with("restored\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "60\n");
    assert!(trial.processes().is_empty());
    assert!(!runs(trial.read("daemon").trim().parse().unwrap()));
}

#[test]
fn a_worker_goes_on_without_its_keeper() {
    let host = Host::new();
    let mut trial = host.trial(&spec("while [ ! -e go ]; do sleep 0.1; done"));
    let keeper = trial.start();
    trial.until_event("start");
    let worker = trial.worker(keeper);
    kill(keeper);
    until("the lock is the worker's", || {
        fs::read_to_string(host.lock()).is_ok_and(|lock| lock.starts_with(&format!("{worker} ")))
    });
    until("the pid is the worker's", || {
        trial.read("pid").starts_with(&format!("{worker} "))
    });
    assert!(
        host.trial(&spec("true"))
            .refused()
            .contains(&worker.to_string())
    );
    assert!(trial.call("recover", &[]).status.success());
    fs::write(trial.folder.join("go"), "").unwrap();
    assert_eq!(trial.end().last().unwrap(), "ended complete");
}

#[test]
fn recover_does_what_both_cannot_any_more() {
    let host = Host::new();
    let file = host.file("kernel", "[a] b\n");
    let mut spec = spec("(setsid sleep 1000 &); echo ready; sleep 1000");
    spec.settings = vec![setting(&file, "b")];
    spec.prepare = "sleep 1000 & true".to_owned();
    spec.restore = "echo restored".to_owned();
    let mut trial = host.trial(&spec);
    let keeper = trial.start();
    until("the workload", || {
        trial.read("workload.stdout").contains("ready")
    });
    let worker = trial.worker(keeper);
    assert!(trial.call("recover", &[]).status.success());
    assert!(
        !trial.folder.join("result").exists(),
        "a supervisor that lives is left alone"
    );
    kill(keeper);
    kill(worker);
    until("both are gone", || !runs(keeper) && !runs(worker));
    let output = trial.call("recover", &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(trial.end(), ["begun", "idle", "start", "ended died"]);
    assert!(trial.read("workload.stdout").ends_with("restored\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "a\n");
    assert!(trial.processes().is_empty());
    let result = trial.read("result");
    assert!(trial.call("recover", &[]).status.success());
    assert_eq!(trial.read("result"), result);
}

#[test]
fn after_another_boot_nothing_is_put_back() {
    let host = Host::new();
    let file = host.file("kernel", "60\n");
    let trial = host.trial(&spec("true"));
    fs::write(
        trial.folder.join("pid"),
        "1 1 00000000-0000-0000-0000-000000000000\n",
    )
    .unwrap();
    let set = format!(
        "{{\"set\":{{\"file\":\"{}\",\"old\":\"7\",\"value\":\"60\"}}}}\n",
        file.display()
    );
    fs::write(trial.folder.join("journal"), set).unwrap();
    assert!(trial.call("recover", &[]).status.success());
    assert_eq!(trial.words(), ["ended rebooted"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "60\n");
    assert!(trial.folder.join("result").exists());
}

#[test]
fn of_many_trials_at_once_one_has_the_host() {
    let host = Host::new();
    // A lock of another boot, of a process that is gone, and none.
    let own = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let gone = format!("{} 1 {} test-gone\n", i32::MAX, own.trim());
    for lock in [
        "1 1 00000000-0000-0000-0000-000000000000 test-gone\n",
        &gone,
        "",
    ] {
        if !lock.is_empty() {
            fs::write(host.lock(), lock).unwrap();
        }
        let trials: Vec<_> = (0..8).map(|_| host.trial(&spec("sleep 1000"))).collect();
        let outputs: Vec<_> = std::thread::scope(|scope| {
            let starts: Vec<_> = trials
                .iter()
                .map(|t| scope.spawn(|| t.call("start", &[])))
                .collect();
            starts
                .into_iter()
                .map(|start| start.join().unwrap())
                .collect()
        });
        let begun: Vec<_> = (0..8).filter(|n| outputs[*n].status.success()).collect();
        for trial in &trials {
            fs::write(trial.folder.join("stop"), "").unwrap();
        }
        assert_eq!(begun.len(), 1, "{outputs:?}");
        let pid = String::from_utf8_lossy(&outputs[begun[0]].stdout).into_owned();
        let pid = pid.trim().rsplit_once(' ').unwrap().1.to_owned();
        for (n, output) in outputs.iter().enumerate().filter(|(n, _)| *n != begun[0]) {
            let said = String::from_utf8_lossy(&output.stdout);
            let holder = trials[begun[0]].folder.display().to_string();
            assert!(
                said.starts_with("refused ") && said.contains(&holder),
                "{n} {said}"
            );
            assert!(said.contains(&format!("process {pid}")), "{n} {said}");
        }
        until("the result", || {
            trials[begun[0]].folder.join("result").exists()
        });
        until("the lock is given back", || !host.lock().exists());
    }
}

#[test]
fn a_trial_begins_by_putting_back_what_another_left() {
    let host = Host::new();
    let file = host.file("kernel", "60\n");
    let mut first = spec("sleep 1000");
    first.settings = vec![setting(&file, "7")];
    let mut first = host.trial(&first);
    let keeper = first.start();
    first.until_event("start");
    let worker = first.worker(keeper);
    kill(keeper);
    kill(worker);
    until("both are gone", || !runs(keeper) && !runs(worker));
    let mut second = host.trial(&spec(&format!("cat {}", file.display())));
    second.start();
    assert_eq!(second.end().last().unwrap(), "ended complete");
    assert_eq!(second.read("workload.stdout"), "60\n");
    assert_eq!(first.end().last().unwrap(), "ended died");
}
