//! The shell's supervisor in every shell that is installed, with real processes and plain files for those of a kernel.

mod ends;
mod follow;
mod lock;
mod phases;
mod remains;
mod settings;
mod spec;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use ktrial_agent::{Monitor, Source, Spec};
use tempfile::TempDir;

use super::{Kind, PROGRAMS, Supervisor};
use crate::workload::quote;

/// How long anything may take at most.
const LONG: Duration = Duration::from_secs(180);

/// A host of its own: a folder of trials, and one shell with which its scripts run.
struct Place {
    base: TempDir,
    path: String,
}

/// Runs a test in every shell that is installed, at the same time.
fn in_each_shell(test: impl Fn(&Place) + Sync) {
    let test = &test;
    std::thread::scope(|scope| {
        for name in ["dash", "busybox", "bash"] {
            if let Some(program) = found(name) {
                scope.spawn(move || test(&Place::new(name, &program)));
            }
        }
    });
}

fn found(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name));
    found.into_iter().find(|file| file.exists())
}

impl Place {
    /// The shell is known by its name there: bash is a POSIX shell as `sh`, and busybox is any program.
    fn new(shell: &str, program: &Path) -> Place {
        let base = tempfile::tempdir().unwrap();
        let bin = base.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        symlink(program, bin.join("sh")).unwrap();
        if shell == "busybox" {
            for name in PROGRAMS.iter().filter(|name| **name != "sh") {
                symlink(program, bin.join(name)).unwrap();
            }
        }
        let others = std::env::var("PATH").unwrap();
        let path = format!("{}:{others}", bin.display());
        Place { base, path }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.file(name)).unwrap_or_default()).into_owned()
    }

    fn command(&self, script: &str) -> Command {
        // Tests that run in the background, or by nohup, have ignored signals; a host's login has none.
        let mut command = Command::new("/usr/bin/env");
        command
            .arg("--default-signal=HUP,INT,QUIT,TERM")
            .arg(self.file("bin/sh"))
            .args(["-c", script])
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, script: &str) -> Output {
        self.command(script).output().unwrap()
    }

    /// What a verb's script says.
    fn said(&self, script: &str) -> String {
        String::from_utf8(self.run(script).stdout).unwrap()
    }

    fn folder(&self, trial: &str) -> String {
        self.file(trial).display().to_string()
    }

    /// Starts a trial; what its start says.
    fn start(&self, trial: &str, spec: &Spec) -> String {
        std::fs::create_dir_all(self.file(trial)).unwrap();
        self.said(&supervisor(&self.folder(trial)).start(spec))
    }

    fn started(&self, trial: &str, spec: &Spec) -> u32 {
        let said = self.start(trial, spec);
        let pid = said.strip_prefix("started ").map(|pid| pid.trim().parse());
        pid.unwrap_or_else(|| panic!("{said}")).unwrap()
    }

    /// Waits for the trial's result; its events without their times.
    fn ended(&self, trial: &str) -> Vec<String> {
        self.until(|| self.file(trial).join("result").exists(), trial);
        self.until(|| !self.file("lock").exists(), trial);
        self.events(trial)
    }

    fn events(&self, trial: &str) -> Vec<String> {
        let text = self.read(&format!("{trial}/events"));
        let word = |line: &str| line.split_once(' ').map(|(_, rest)| rest.to_owned());
        text.lines().filter_map(word).collect()
    }

    fn await_event(&self, trial: &str, event: &str) {
        let has = |all: Vec<String>| all.iter().any(|found| found.starts_with(event));
        self.until(|| has(self.events(trial)), event);
    }

    fn until(&self, is_so: impl Fn() -> bool, what: &str) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < LONG, "{what} did not come: {self:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn stop(&self, trial: &str) {
        self.run(&supervisor(&self.folder(trial)).stop());
    }

    fn kill(&self, signal: &str, pid: u32) {
        assert!(
            self.run(&format!("kill -s {signal} {pid}"))
                .status
                .success()
        );
    }

    /// The supervisor itself ends a moment after its last words.
    fn nothing_runs(&self, trial: &str) {
        self.until(
            || self.running(trial).is_empty(),
            "the end of every process",
        );
    }

    /// The processes whose environment has a trial's variable.
    fn running(&self, trial: &str) -> Vec<u32> {
        let variable = format!("=[{trial}]");
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pid = |name: std::ffi::OsString| name.to_str()?.parse::<u32>().ok();
        all.filter_map(|entry| pid(entry.file_name()))
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                String::from_utf8_lossy(&environment)
                    .split('\0')
                    .any(|one| one.starts_with("KTRIAL_") && one.ends_with(&variable))
            })
            .collect()
    }
}

/// Whatever became of a test, nothing of it runs on.
impl Drop for Place {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(self.base.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            for pid in self.running(&entry.file_name().to_string_lossy()) {
                self.run(&format!("kill -s KILL {pid}"));
            }
        }
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shell = std::fs::read_link(self.file("bin/sh"));
        write!(f, "{shell:?}")
    }
}

fn supervisor(folder: &str) -> Supervisor<'_> {
    Supervisor {
        kind: Kind::Shell,
        program: "",
        folder,
    }
}

/// A trial with short phases, a monitor, and every word that it says.
fn spec(command: &str) -> Spec {
    Spec {
        trial: "t01".into(),
        idle_ms: 200,
        settle_ms: 200,
        limit_ms: 600_000,
        grace_ms: 500,
        lease_ms: 600_000,
        monitors: vec![Monitor {
            name: "meminfo".into(),
            period_us: 1_000_000,
            source: Source::Script("while :; do cat /proc/uptime; sleep 1; done\n".into()),
        }],
        settings: Vec::new(),
        guarded: Vec::new(),
        reports: Vec::new(),
        prepare: "echo prepared\n".into(),
        command: command.into(),
        restore: "echo restored\n".into(),
    }
}

/// A trial id that no other test's processes have.
fn unique(name: &str) -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{name}-{:016x}", RandomState::new().hash_one(()))
}
