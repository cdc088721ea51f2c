//! Experiments for tests, and looks into their records.

use ktrial::experiment::{Experiment, Plan};
use ktrial::record::Record;
use rustix::process::{Pid, Signal, kill_process};

use super::sshd::wait_until;

/// The plan of an experiment.
pub fn plan(yaml: &str) -> Plan {
    let experiment =
        Experiment::parse(yaml, "story.yaml").unwrap_or_else(|e| panic!("{}", e.report()));
    experiment.plan().unwrap()
}

/// Every trial's state, in order.
pub fn states(record: &Record) -> Vec<&'static str> {
    record
        .manifest()
        .trials
        .iter()
        .map(|t| t.state.word())
        .collect()
}

/// A raw file of a trial.
pub fn raw(record: &Record, trial: usize, monitor: &str) -> String {
    let files = &record.manifest().trials[trial].raw;
    let file = files.iter().find(|f| f.monitor == monitor).expect(monitor);
    String::from_utf8(record.read_raw(file).unwrap()).unwrap()
}

/// Waits until no process has these words in its command line.
pub fn gone(words: &str) {
    wait_until(words, || processes(words).is_empty());
}

/// Kills the processes that have these words in their command line.
pub fn kill(words: &str) {
    for pid in processes(words) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn processes(words: &str) -> Vec<Pid> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read(process.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(words).then(|| Pid::from_raw(pid))?
        })
        .collect()
}
