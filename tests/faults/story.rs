//! An experiment of two trials on one host, the ktrial that runs it, and what its record has to say.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use ktrial::parse::meminfo;
use ktrial::record::{Record, Trial};
use tempfile::TempDir;

use crate::common::experiment::{raw, states};
use crate::common::sshd::{NAME, wait_until};
use crate::site::Site;

/// A workload that a test lets end.
pub const HELD: &str = "until [ -e AT/go ]; do sleep 0.1; done";

/// Both.
pub const SUPERVISORS: [&str; 2] = ["agent", "shell"];

/// A test for each supervisor, side by side.
pub fn by_each(test: impl Fn(&'static str) + Sync) {
    side_by_side(SUPERVISORS, test);
}

/// A test for each of these, side by side: most of the time they wait.
pub fn side_by_side<T: Send, const N: usize>(each: [T; N], test: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        let test = &test;
        let tests = each.map(|one| scope.spawn(move || test(one)));
        for one in tests {
            if let Err(panic) = one.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// An experiment and where its record goes.
pub struct Story {
    pub folder: TempDir,
    config: PathBuf,
    supervisor: &'static str,
    /// Words before ktrial's own command line, and where the root of the file system that they lead to is seen.
    pub within: (Vec<String>, PathBuf),
}

impl Story {
    /// Two trials; the first workload takes `seconds`, the second is short.
    pub fn new(site: &Site, supervisor: &'static str, seconds: f32) -> Story {
        Self::with(site, supervisor, &format!("exec sleep {seconds}"))
    }

    /// Two trials; the first workload lasts until [`Story::go`].
    pub fn held(site: &Site, supervisor: &'static str) -> Story {
        Self::with(site, supervisor, HELD)
    }

    /// Lets the first workload end.
    pub fn go(&self) {
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Two trials; the first workload is this shell line. `AT` in it stands for the story's folder.
    pub fn with(site: &Site, supervisor: &'static str, first: &str) -> Story {
        let story = Story {
            folder: tempfile::tempdir().unwrap(),
            config: site.sshd.config(),
            supervisor,
            within: (Vec::new(), "/".into()),
        };
        story.write(&[NAME], site.settings(), first);
        story
    }

    /// Writes the experiment, for these hosts; each has a first workload.
    pub fn write(&self, hosts: &[&str], settings: &str, first: &str) {
        let at = self.folder.path().display().to_string();
        let first = first.replace("AT", &at);
        let hosts = hosts.join(", ");
        let yaml = format!(
            "question: Does it survive?\nprimary: memory.used.peak\nhosts: [{hosts}]\n\
             conditions: {{before: {{}}, after: {{}}}}\n{settings}\
             workload:\n  duration: 6s\n  command:\n  - sh\n  - -c\n  - |\n    echo run >>{at}/ran\n    \
             mkdir {at}/first-$(cat /proc/sys/kernel/random/boot_id) 2>/dev/null || exec sleep 0.3\n    {first}\n\
             idle: 500ms\nsettle: 500ms\nmonitors: {{meminfo: {{every: 100ms}}}}\ndesign: {{trials: 1}}\n"
        );
        fs::write(self.folder.path().join("story.yaml"), yaml).unwrap();
    }

    /// Reaches hosts by another ssh config.
    pub fn by(mut self, config: PathBuf) -> Story {
        self.config = config;
        self
    }

    /// Starts `ktrial run` with further options.
    pub fn run(&self, options: &[&str]) -> Controller {
        let file = self.folder.path().join("story.yaml");
        let runs = self.runs();
        let words = ["run", file.to_str().unwrap(), "-o", runs.to_str().unwrap()];
        self.start(&[&words[..], options].concat())
    }

    /// Resumes the run, to its end.
    pub fn resume(&self, options: &[&str]) -> Output {
        let name = self.dir().expect("a record");
        let dir = self.runs().join(name.file_name().unwrap());
        let words = ["resume", dir.to_str().unwrap()];
        let output = self.start(&[&words[..], options].concat()).end();
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn start(&self, words: &[&str]) -> Controller {
        let program = env!("CARGO_BIN_EXE_ktrial").to_owned();
        let all: Vec<String> = self.within.0.iter().cloned().chain([program]).collect();
        let (program, rest) = all.split_first().unwrap();
        let child = Command::new(program)
            .args(rest)
            .args(words)
            .arg("--ssh-config")
            .arg(&self.config)
            .args(["--supervisor", self.supervisor])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Controller(Some(child))
    }

    /// The folder of the runs.
    pub fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn dir(&self) -> Option<PathBuf> {
        let runs = self.within.1.join(self.runs().strip_prefix("/").ok()?);
        Some(fs::read_dir(runs).ok()?.next()?.ok()?.path())
    }

    /// The record as it stands.
    pub fn record(&self) -> Record {
        Record::open(self.dir().expect("a record")).unwrap()
    }

    /// The record's only trial in this place.
    pub fn trial(&self, index: usize) -> Trial {
        self.record().manifest().trials[index].clone()
    }

    /// Waits until an event of the first trial has come, `idle`, `start` or `end`.
    pub fn until(&self, controller: &mut Controller, event: &str) {
        let word = format!(" {event}");
        wait_until(event, || {
            controller.goes_on();
            let events = self.dir().map(|dir| dir.join("raw/t01/events.txt"));
            let text = events.and_then(|file| fs::read_to_string(file).ok());
            text.is_some_and(|text| text.lines().any(|line| line.contains(&word)))
        });
    }

    /// Every trial is complete in its first attempt, its workload ran once, and all is here and whole.
    pub fn is_complete(&self) {
        let record = self.record();
        let trials = &record.manifest().trials;
        let told: Vec<_> = trials.iter().map(|t| (&t.reason, &t.notes)).collect();
        assert!(states(&record).iter().all(|s| *s == "complete"), "{told:?}");
        assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
        for trial in trials {
            assert_eq!((trial.attempt, &trial.on_host), (1, &None), "{trial:?}");
            assert_eq!(trial.phases.len(), 3, "{trial:?}");
        }
        assert_eq!(self.workloads(), trials.len());
    }

    /// How many workloads were begun.
    pub fn workloads(&self) -> usize {
        let ran = fs::read_to_string(self.folder.path().join("ran"));
        ran.unwrap_or_default().lines().count()
    }

    /// The first trial was sampled through every phase, without a gap of `limit_s`.
    pub fn is_sampled(&self, limit_s: f64) {
        let record = self.record();
        let trial = &record.manifest().trials[0];
        let text = raw(&record, 0, "meminfo");
        let parsed = meminfo::parse(text.as_bytes(), trial.start_boottime_s);
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        let times = &parsed.series.first().expect("a series").time_s;
        let (begin, end) = (trial.phases[0].start_s, trial.phases[2].end_s);
        let all = [&[begin][..], &times[..], &[end]].concat();
        for pair in all.windows(2) {
            assert!(pair[1] - pair[0] < limit_s, "a gap after {pair:?}");
        }
    }
}

/// A ktrial that runs; killed when it is dropped.
pub struct Controller(Option<Child>);

impl Controller {
    pub fn id(&self) -> u32 {
        self.0.as_ref().expect("it runs").id()
    }

    /// It has not ended.
    pub fn goes_on(&mut self) {
        let child = self.0.as_mut().expect("it runs");
        if child.try_wait().unwrap().is_some() {
            let output = self.0.take().unwrap().wait_with_output().unwrap();
            panic!("it ended: {}", String::from_utf8_lossy(&output.stderr));
        }
    }

    /// Ends it without a word.
    pub fn kill(mut self) {
        let mut child = self.0.take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits for its end.
    pub fn end(mut self) -> Output {
        self.0.take().expect("it runs").wait_with_output().unwrap()
    }

    /// Waits for its good end.
    pub fn succeeds(self) {
        let output = self.end();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }

    /// Waits for its end with an error, and gives its words.
    pub fn fails(self) -> String {
        let output = self.end();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        said
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
