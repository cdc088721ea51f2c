//! A host for tests: a folder as trials have theirs, and the real program.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ktrial_agent::{Monitor, PROGRAM, Setting, Source, Spec};

/// How long anything may take: a busy machine must not make a test fail.
pub const DEADLINE: Duration = Duration::from_secs(90);

/// The program as hosts get it.
pub fn program() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let Some(bytes) = PROGRAM else {
            return env!("CARGO_BIN_EXE_ktrial-agent").into();
        };
        let name = format!("{}-program", env!("CARGO_CRATE_NAME"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if fs::read(&path).is_ok_and(|old| old == bytes) {
            return path;
        }
        let new = path.with_extension(std::process::id().to_string());
        fs::write(&new, bytes).unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&new, &path).unwrap();
        path
    })
}

/// Waits until something is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < DEADLINE, "waited in vain: {what}");
        sleep(Duration::from_millis(20));
    }
}

/// A specification with short phases and nothing else.
pub fn spec(command: &str) -> Spec {
    Spec {
        trial: "t01".to_owned(),
        idle_ms: 100,
        settle_ms: 100,
        limit_ms: 600_000,
        grace_ms: 500,
        lease_ms: 600_000,
        monitors: Vec::new(),
        settings: Vec::new(),
        guarded: Vec::new(),
        reports: Vec::new(),
        prepare: String::new(),
        command: command.to_owned(),
        restore: String::new(),
    }
}

pub fn monitor(name: &str, period_us: u64, source: Source) -> Monitor {
    Monitor {
        name: name.to_owned(),
        period_us,
        source,
    }
}

pub fn setting(file: &Path, value: &str) -> Setting {
    Setting {
        file: file.to_str().unwrap().to_owned(),
        value: value.to_owned(),
    }
}

/// The folder of trials of a host.
pub struct Host {
    pub base: tempfile::TempDir,
}

impl Host {
    pub fn new() -> Host {
        Host {
            base: tempfile::tempdir().unwrap(),
        }
    }

    /// A trial that was not started.
    pub fn trial(&self, spec: &Spec) -> Trial {
        Trial::at(self.base.path(), spec)
    }

    pub fn lock(&self) -> PathBuf {
        self.base.path().join("lock")
    }

    /// A file of the "kernel".
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.base.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

/// A trial on a host; ended when it is dropped.
pub struct Trial {
    pub folder: PathBuf,
    started: bool,
}

impl Trial {
    pub fn at(base: &Path, spec: &Spec) -> Trial {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = base.join(format!("test-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let text = serde_json::to_vec(spec).unwrap();
        fs::write(folder.join("spec.json"), text).unwrap();
        Trial {
            folder,
            started: false,
        }
    }

    pub fn call(&self, verb: &str, arguments: &[&str]) -> Output {
        self.call_of(program(), verb, arguments)
    }

    pub fn call_of(&self, program: &Path, verb: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.arg(verb).arg(&self.folder).args(arguments);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Starts it and gives the keeper's number.
    pub fn start(&mut self) -> i32 {
        self.start_of(program())
    }

    pub fn start_of(&mut self, program: &Path) -> i32 {
        let output = self.call_of(program, "start", &[]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        self.started = true;
        said.strip_prefix("started ")
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }

    pub fn refused(&self) -> String {
        let output = self.call("start", &[]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.folder.join(name)).unwrap_or_default();
        String::from_utf8(bytes).unwrap()
    }

    /// The events without their times.
    pub fn events(&self) -> Vec<String> {
        let text = self.read("events");
        let mut last = 0.0;
        let mut events = Vec::new();
        for line in text.lines() {
            let (seconds, event) = line.split_once(' ').unwrap();
            let seconds: f64 = seconds.parse().unwrap();
            assert!(seconds >= last, "{text}");
            last = seconds;
            events.push(event.to_owned());
        }
        events
    }

    /// The events without their times, numbers of processes, and what the machine lets not have.
    pub fn words(&self) -> Vec<String> {
        let events = self.events().into_iter();
        let events = events.filter(|event| !event.starts_with("note sampling "));
        events
            .map(|e| {
                if e.starts_with("begun ") {
                    "begun".to_owned()
                } else {
                    e
                }
            })
            .collect()
    }

    pub fn until_event(&self, begin: &str) {
        until(begin, || {
            let text = self.read("events");
            let is_it = |line: &str| {
                line.split_once(' ')
                    .is_some_and(|(_, e)| e.starts_with(begin))
            };
            text.split_inclusive('\n')
                .any(|line| line.ends_with('\n') && is_it(line))
        });
    }

    /// Waits for the result, checks it, and gives the words.
    pub fn end(&mut self) -> Vec<String> {
        until("the result", || self.folder.join("result").exists());
        self.started = false;
        let result = self.read("result");
        assert!(
            result.lines().any(|line| line.starts_with("events ")),
            "{result}"
        );
        for line in result.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let mut bytes = fs::read(self.folder.join(words[0])).unwrap();
            if words[0].starts_with("workload.") {
                bytes.truncate(ktrial_agent::OUTPUT_LIMIT as usize);
            }
            assert_eq!(words[1], bytes.len().to_string(), "{line}");
            use sha2::{Digest, Sha256};
            let hash: String = Sha256::digest(&bytes)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(words[2], hash, "{line}");
        }
        let base = self.folder.parent().unwrap();
        let name = self
            .folder
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        until("the lock is given back", || {
            !fs::read_to_string(base.join("lock")).is_ok_and(|lock| lock.contains(&name))
        });
        self.words()
    }

    /// The processes that have the trial in their environment.
    pub fn processes(&self) -> Vec<i32> {
        let name = self.folder.file_name().unwrap().to_str().unwrap();
        let mut pids = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            let text = String::from_utf8_lossy(&environ).into_owned();
            let is_it = |v: &str| v.starts_with("KTRIAL_") && v.ends_with(&format!("=[{name}]"));
            if text.split('\0').any(is_it) {
                pids.push(entry.file_name().to_str().unwrap().parse().unwrap());
            }
        }
        pids
    }

    /// The number of the process below the keeper.
    pub fn worker(&self, keeper: i32) -> i32 {
        let path = format!("/proc/{keeper}/task/{keeper}/children");
        let text = fs::read_to_string(path).unwrap();
        text.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if self.started && self.folder.exists() {
            let _ = fs::write(self.folder.join("stop"), "");
            let begin = Instant::now();
            while !self.folder.join("result").exists() && begin.elapsed() < DEADLINE {
                sleep(Duration::from_millis(20));
            }
        }
    }
}

pub fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Whether a process runs.
pub fn runs(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.trim_start().starts_with('Z'));
    state == Some(false)
}

/// Puts the frames of a follower together; the name of the last one without bytes, if there was one.
pub fn frames(bytes: &[u8], files: &mut HashMap<String, Vec<u8>>) -> Option<String> {
    let mut rest = bytes;
    let mut last = None;
    loop {
        let Some(end) = rest.iter().position(|&b| b == b'\n') else {
            return last;
        };
        let line = String::from_utf8(rest[..end].to_vec()).unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let (offset, length): (usize, usize) =
            (words[1].parse().unwrap(), words[2].parse().unwrap());
        rest = &rest[end + 1..];
        if rest.len() < length + 1 {
            return last;
        }
        if length == 0 {
            last = Some(words[0].to_owned());
        } else {
            let file = files.entry(words[0].to_owned()).or_default();
            assert_eq!(file.len(), offset, "{line}");
            file.extend_from_slice(&rest[..length]);
        }
        assert_eq!(rest[length], b'\n', "{line}");
        rest = &rest[length + 1..];
    }
}
