//! Runs told by tests: scripted hosts, and what a follower says of a trial there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::experiment::{
    Condition, Design, Experiment, Monitor, MonitorKind, Order, PlannedTrial, Workload,
    WorkloadKind,
};
use crate::host::Exit;
use crate::host::scripted::{Play, ScriptedClock, ScriptedHost, Step};
use crate::record::{Trial, sha256_hex};

pub(super) const BOOT_ID: &str = "8d9e2a52-19b6-4f0c-9a5e-0f6a6a1f7a10\n";
pub(super) const FACTS: &str =
    "motd\n==ktrial== facts\nkernel=6.12.0\nos_id=debian\n==ktrial== done\n";
pub(super) const SAMPLE: &str = "@ 100.00\nMemTotal: 9 kB\n";

/// What the script that follows a trial begins with.
pub(super) const FOLLOW: &str = "# follow the trial";

/// What a follower says of one trial, file by file as it grows.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    files: BTreeMap<&'static str, String>,
    steps: Vec<Step>,
}

impl Told {
    /// A trial that is under way, with its first sample, and its workload since a second.
    pub(super) fn begun() -> Told {
        Told::default()
            .say("events", "99.50 begun 7\n")
            .say("meminfo.txt", SAMPLE)
            .say("events", "100.10 idle\n")
            .wait(2)
            .say("events", "102.10 start\n")
            .say("workload.stdout", "so far\n")
            .wait(1)
    }

    /// More of a file.
    pub(super) fn say(mut self, file: &'static str, text: &str) -> Told {
        let content = self.files.entry(file).or_default();
        let frame = format!("{file} {} {}\n{text}\n", content.len(), text.len());
        content.push_str(text);
        self.steps.push(Step::Out(frame.leak()));
        self
    }

    pub(super) fn wait(mut self, seconds: u64) -> Told {
        self.steps.push(Step::Wait(Duration::from_secs(seconds)));
        self
    }

    pub(super) fn and(mut self, step: Step) -> Told {
        self.steps.push(step);
        self
    }

    /// The rest of a trial that comes to its own end with this code of the workload.
    pub(super) fn ends(self, code: i32) -> Play {
        let told = self
            .wait(4)
            .say("events", &format!("107.10 end {code}\n"))
            .wait(1);
        told.say("events", "108.10 settled\n").over("complete")
    }

    /// The trial's last event, and its result.
    pub(super) fn over(self, how: &str) -> Play {
        self.say("events", &format!("108.20 ended {how}\n"))
            .result()
    }

    /// Nothing of a file that the follower was asked for from its end.
    pub(super) fn without(mut self, file: &str) -> Told {
        let is_of_it = |step: &Step| matches!(step, Step::Out(text) if text.starts_with(file));
        self.steps.retain(|step| !is_of_it(step));
        self
    }

    /// The trial's result.
    pub(super) fn result(self) -> Play {
        let list: String = self
            .files
            .iter()
            .map(|(name, text)| format!("{name} {} {}\n", text.len(), sha256_hex(text.as_bytes())))
            .collect();
        let mut told = self.say("result", &list);
        told.steps.push(Step::Out(". 0 0\n\n"));
        told.steps.push(Step::End(Exit::Code(0)));
        Play::new(told.steps)
    }

    /// The follower says no more.
    pub(super) fn play(self) -> Play {
        Play::new(self.steps)
    }
}

/// A trial that goes well.
pub(super) fn good() -> Play {
    Told::begun().say("workload.stdout", "hello\n").ends(0)
}

/// A trial whose workload fails.
pub(super) fn bad() -> Play {
    let said = "stress-ng: info:  [7] dispatching hogs\n";
    Told::begun().say("workload.stderr", said).ends(7)
}

/// The user ends the run while this trial is under way; the host ends it as it is asked to.
pub(super) fn interrupted() -> Play {
    Told::begun()
        .and(Step::Do(ScriptedHost::raise_flag))
        .wait(1)
        .say("events", "103.60 end 130\n")
        .say("workload.stdout", "still here\n")
        .over("stopped")
}

pub(super) fn plan(hosts: &[&str], trials: usize, kind: WorkloadKind) -> Plan {
    let argv: Vec<String> = match kind {
        WorkloadKind::Command => vec!["true".into()],
        WorkloadKind::StressNg => vec!["stress-ng".into(), "--vm".into(), "1".into()],
        WorkloadKind::Kmod => vec!["kmod.sh".into(), "-c".into(), "0008".into(), "2".into()],
        other => panic!("no story of {other:?} yet"),
    };
    let condition = |name: &str| Condition {
        name: name.into(),
        variables: BTreeMap::new(),
    };
    let experiment = Experiment {
        name: "story".into(),
        question: "Does it run?".into(),
        primary: "memory.used.peak".into(),
        secondary: Vec::new(),
        notes: Vec::new(),
        hosts: hosts.iter().map(|h| (*h).into()).collect(),
        conditions: vec![condition("before"), condition("after")],
        params: BTreeMap::new(),
        boot: None,
        settings: Vec::new(),
        workload: Workload {
            kind,
            arguments: argv.clone(),
            duration: Duration::from_secs(5),
        },
        idle: Duration::from_secs(2),
        settle: Duration::from_secs(1),
        monitors: vec![Monitor {
            kind: MonitorKind::Meminfo,
            period: Duration::from_secs(1),
        }],
        design: Design {
            trials: 1,
            order: Order::Abba,
            seed: 1,
        },
    };
    let trials = (0..trials)
        .map(|i| PlannedTrial {
            id: format!("t{:02}", i + 1),
            condition: ["before", "after"][i % 2].into(),
            cell: BTreeMap::new(),
            host: hosts[i % hosts.len()].into(),
            argv: argv.clone(),
            boot: None,
            settings: Vec::new(),
        })
        .collect();
    Plan { experiment, trials }
}

/// A story: one host or more, what happens there, and what came of it.
pub(super) struct Story {
    pub(super) clock: ScriptedClock,
    pub(super) cancel: Cancel,
    pub(super) hosts: Vec<ScriptedHost>,
    pub(super) folder: tempfile::TempDir,
    /// How many times a broken host refuses to come back.
    pub(super) refusals: AtomicUsize,
    pub(super) connects: AtomicUsize,
}

impl Story {
    pub(super) fn on(names: &[&str]) -> Story {
        let (clock, cancel) = (ScriptedClock::default(), Cancel::default());
        let hosts = names.iter().map(|name| {
            let host = ScriptedHost::new(name, &clock, &cancel);
            host.answer("==ktrial== facts", FACTS, 0);
            host.answer("boot_id", BOOT_ID, 0);
            host
        });
        Story {
            hosts: hosts.collect(),
            clock,
            cancel,
            folder: tempfile::tempdir().unwrap(),
            refusals: AtomicUsize::new(0),
            connects: AtomicUsize::new(0),
        }
    }

    /// What the followers on the first host say, one after the other.
    pub(super) fn trials(self, plays: impl IntoIterator<Item = Play>) -> Story {
        self.hosts[0].play(FOLLOW, plays);
        self
    }

    pub(super) fn refusing(self, times: usize) -> Story {
        self.refusals.store(times, Ordering::SeqCst);
        self
    }

    pub(super) fn try_run(&self, plan: &Plan, progress: &dyn Progress) -> Result<Record> {
        self.try_run_by(plan, progress, ways(&nobody))
    }

    /// A run by these ways, but for how hosts are reached.
    pub(super) fn try_run_by(
        &self,
        plan: &Plan,
        progress: &dyn Progress,
        ways: Ways<'_>,
    ) -> Result<Record> {
        let connect = |name: &str| -> Result<Box<dyn Host>> {
            let host = self.hosts.iter().find(|h| h.name() == name);
            let host = host.ok_or_else(|| Error::new(ErrorKind::HostStable, "no such host"))?;
            if self.connects.fetch_add(1, Ordering::SeqCst) >= self.hosts.len()
                && self
                    .refusals
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                    .is_ok()
            {
                return Err(Error::new(ErrorKind::HostTransient, "no route"));
            }
            host.mend();
            Ok(Box::new(host.clone()))
        };
        let to = Destination {
            folder: self.folder.path().join("runs"),
            experiment: Some(b"name: story\n".to_vec()),
        };
        run_by(
            &self.clock,
            plan,
            &to,
            &Ways {
                connect: &connect,
                ..ways
            },
            &self.cancel,
            progress,
        )
    }

    pub(super) fn run(&self, plan: &Plan) -> Record {
        let record = self.try_run(plan, &Silent).unwrap();
        assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
        assert_eq!(Record::open(record.dir()).unwrap(), record);
        record
    }
}

pub(super) fn states(record: &Record) -> Vec<&'static str> {
    record
        .manifest()
        .trials
        .iter()
        .map(|t| t.state.word())
        .collect()
}

pub(super) fn reason(trial: &Trial) -> &str {
    trial.reason.as_deref().unwrap_or_default()
}

pub(super) fn raw(record: &Record, trial: usize, monitor: &str) -> String {
    let files = &record.manifest().trials[trial].raw;
    let file = files.iter().find(|f| f.monitor == monitor).unwrap();
    String::from_utf8(record.read_raw(file).unwrap()).unwrap()
}

/// Reaches no host.
pub(super) fn nobody(_: &str) -> Result<Box<dyn Host>> {
    Err(Error::new(ErrorKind::HostStable, "no such host"))
}

/// Trials are supervised by the shell: nothing is sent.
pub(super) fn ways<'a>(connect: &'a Connect<'a>) -> Ways<'a> {
    Ways {
        supervisor: Some(Kind::Shell),
        ..Ways::new(connect)
    }
}
