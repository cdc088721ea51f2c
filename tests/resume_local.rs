//! Runs on the controller itself that end early, and are resumed by the command that was printed.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use common::experiment::{gone, raw, states};
use common::sshd::{self, wait_until};
use ktrial::record::{Record, State};

/// A run whose first workload ends at once; the others end when the test lets them go.
struct Story {
    folder: tempfile::TempDir,
}

impl Story {
    fn begin() -> (Story, Child) {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().display();
        let yaml = format!(
            "question: Does it go on?\nprimary: memory.used.peak\nhosts: [local]\n\
             conditions: {{before: {{}}, after: {{}}}}\n\
             workload:\n  command: [sh, -c, 'mkdir {dir}/first || until [ -e {dir}/go ]; do sleep 0.1; done']\n  duration: 541s\n\
             idle: 200ms\nsettle: 100ms\nmonitors: {{meminfo: {{every: 50ms}}}}\ndesign: {{trials: 2}}\n"
        );
        let file = folder.path().join("early.yaml");
        std::fs::write(&file, yaml).unwrap();
        let story = Story { folder };
        let mut ktrial = story
            .ktrial()
            .args(["run", "--ssh-config", "none", "-o"])
            .args([&story.runs(), &file])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The second trial's workload is about to run, or runs.
        wait_until("the second trial", || {
            assert!(ktrial.try_wait().unwrap().is_none(), "ended by itself");
            let manifest = story.manifest().unwrap_or_default();
            manifest.matches("phase: idle").count() == 2
        });
        (story, ktrial)
    }

    /// The program, with trials of the test's own.
    fn ktrial(&self) -> Command {
        let mut ktrial = Command::new(env!("CARGO_BIN_EXE_ktrial"));
        ktrial.env("KTRIAL_BASE", sshd::base(self.folder.path()));
        ktrial
    }

    /// Nothing of a trial runs any more.
    fn over(&self) {
        gone(self.folder.path().to_str().unwrap());
    }

    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn record(&self) -> Option<PathBuf> {
        Some(std::fs::read_dir(self.runs()).ok()?.next()?.ok()?.path())
    }

    fn manifest(&self) -> Option<String> {
        std::fs::read_to_string(self.record()?.join("manifest.yaml")).ok()
    }

    /// Lets every workload end.
    fn go(&self) {
        std::fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Runs a command of ktrial to its end.
    fn run(&self, arguments: &[&str]) -> Output {
        self.ktrial().args(arguments).output().unwrap()
    }
}

fn signal(process: &Child, signal: &str) {
    let line = format!("kill -{signal} {}", process.id());
    assert!(
        Command::new("sh")
            .args(["-c", &line])
            .status()
            .unwrap()
            .success()
    );
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The record is whole and complete, its second trial in this attempt; and it is compared.
fn finished(dir: &Path, before: &Record, attempt: u32) {
    let record = Record::open(dir).unwrap();
    assert_eq!(states(&record), ["complete"; 4]);
    assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
    let manifest = record.manifest();
    assert_eq!(manifest.trials[0], before.manifest().trials[0]);
    let trial = &manifest.trials[1];
    assert_eq!((trial.attempt, trial.phases.len()), (attempt, 3));
    assert!(raw(&record, 1, "meminfo").contains("MemAvailable"));
    let kept = std::fs::read_to_string(dir.join("raw/t02/events.txt")).unwrap();
    assert_eq!(kept.matches(" idle\n").count(), 1, "{kept}");
    assert_eq!(dir.join("raw/t02.2/events.txt").exists(), attempt == 2);
    assert!(manifest.trials.iter().all(|trial| trial.on_host.is_none()));

    let compared = Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .arg("compare")
        .arg(dir)
        .output()
        .unwrap();
    let report = text(&compared.stdout);
    assert!(compared.status.success(), "{report}");
    let report = report
        .split_ascii_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        report.contains(match attempt {
            1 => "for t03, t04",
            _ => "for t02, t03, t04",
        }),
        "{report}"
    );
}

#[test]
fn a_run_that_the_user_ended_is_finished_by_the_command_that_it_printed() {
    let (story, ktrial) = Story::begin();
    signal(&ktrial, "INT");
    let ended = ktrial.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let dir = story.record().unwrap();
    let before = Record::open(&dir).unwrap();
    assert_eq!(before.manifest().state, State::Interrupted);
    let said = text(&ended.stderr);
    let command = said.split_once("ktrial resume ").expect(&said).1;
    let words: Vec<&str> = command.split_whitespace().collect();
    let options = [dir.to_str().unwrap(), "--ssh-config", "none"];
    assert_eq!(words, options, "{said}");

    story.go();
    let resumed = story.run(&[&["resume"], &words[..]].concat());
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    finished(&dir, &before, 2);
    story.over();

    let again = story.run(&["resume", dir.to_str().unwrap()]);
    assert!(again.status.success());
    assert!(text(&again.stdout).contains("nothing to resume"));
}

#[test]
fn a_run_whose_ktrial_was_killed_is_finished() {
    let (story, mut ktrial) = Story::begin();
    let dir = story.record().unwrap();
    let name = dir.to_str().unwrap();
    let beside = story.ktrial().args(["resume", name]).output().unwrap();
    assert_eq!(beside.status.code(), Some(1));
    let said = text(&beside.stderr);
    assert!(
        said.contains("another ktrial is writing this record"),
        "{said}"
    );

    signal(&ktrial, "KILL");
    ktrial.wait().unwrap();
    let before = Record::open(&dir).unwrap();
    assert_eq!(before.manifest().state, State::Running);
    // What ran goes on without its ktrial, to its own end.
    story.go();
    story.over();
    let resumed = story.run(&["resume", name]);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    finished(&dir, &before, 1);
}
