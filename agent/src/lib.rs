//! What ktrial and the program on the host agree on: a trial's specification, and the folder that the trial has there.
//!
//! A trial belongs to its host: a supervisor there takes it through its phases by itself, and the controller only
//! watches. There are two supervisors with one contract: the program of this crate, and a POSIX shell script where
//! that cannot run.
//!
//! # The trial's folder
//! Made by the controller below [`BASE`]`-UID` (mode 0700, the user's own) with the trial's random id as its name,
//! and removed by it once everything is fetched. Where the login's environment has `KTRIAL_BASE`, an absolute path of
//! letters, digits and `/._-`, it stands for [`BASE`]: for hosts whose /var/tmp is small, or in memory.
//!
//! | file | what |
//! |---|---|
//! | `spec.json` | a [`Spec`]; written by the controller before the start, whichever supervisor it is for |
//! | `supervisor.sh` | the shell's supervisor, beside the scripts that it runs; only where it is the shell |
//! | `pid` | `PID START BOOT_ID` of the supervisor; START is field 22 of /proc/PID/stat |
//! | `events` | what happened, a line each |
//! | `MONITOR.txt`, `MONITOR.err` | what each monitor gave, and what it said (only of one with a script) |
//! | `workload.stdout`, `workload.stderr` | the workload's output, of which the first [`OUTPUT_LIMIT`] bytes are fetched, `prepare`'s and `restore`'s words too; lines of the latter two's standard error that begin with `ktrial: ` become notes |
//! | what `reports` names | what the workload leaves, such as stress-ng's `stress-ng.yaml` |
//! | `agent.txt` | what supervising and sampling itself took; only of the program |
//! | `journal` | what is to be put back, written before it is changed; each supervisor has its own form, and only it puts back what it wrote |
//! | `lease` | tells when a controller was last there: to the program by any change of its time, to the shell by the seconds of CLOCK_BOOTTIME in it; each one's follower writes what its supervisor reads |
//! | `stop` | when it exists, the trial is to be ended gently |
//! | `result` | last of all: a line `NAME BYTES SHA256` for each file that is to be fetched, `events` included; never what is a link or no regular file |
//!
//! In the folder above is the `lock` of the host: `PID START BOOT_ID FOLDERNAME`. It is nobody's when it is of another
//! boot, or no such process lives. Who recovers a trial holds the lock, and looks for `result` only then. A trial whose
//! folder is gone, or has its `result`, gives the lock back within seconds; a start waits for that.
//!
//! # Starting
//! `start FOLDER` says `started PID`, or `refused WHY`. A process of the same trial that lives and has the lock is an
//! earlier start's: its number is the answer. Before anything is measured, a start looks at every folder beside its own
//! that has a `pid` of this boot that does not live, and no `result`: that trial is recovered by its own supervisor's
//! `recover` (the program for a shell's trial by `supervisor.sh`, the shell for the program's by any `agent-*` in the
//! folder above), and the start is refused while that cannot be done. Trials of another boot are left as they are.
//! Putting others right may take as long as their `restore` may and half a minute more, so a start may take
//! three minutes.
//!
//! # Limits
//! `prepare` has [`PREPARE_LIMIT_S`] and `restore` [`RESTORE_LIMIT_S`] seconds; the first one's end fails the trial, the
//! second's is told as `left`. The program ends a trial as `failed` when the disk has less than 64 MiB free and the
//! workload's output has more than [`OUTPUT_LIMIT`].
//!
//! # Processes
//! The workload and all that it starts have `KTRIAL_TRIAL=[FOLDERNAME]` in their
//! environment; other scripts have `KTRIAL_BESIDE=[FOLDERNAME]`, and what they start belongs to them: it is ended after
//! `restore`. A group or session is signalled only while its number is known to be the trial's.
//!
//! # Events
//! `SECONDS WORD REST`, with the host's CLOCK_BOOTTIME:
//!
//! | line | meaning |
//! |---|---|
//! | `begun PID` | the supervisor has the lock of the host |
//! | `idle`, `start`, `settled` | the idle phase begins, the workload begins (the shell says so just before it starts it), the settle phase is over |
//! | `end CODE` | the workload ended, with its code as a shell gives it (128 + signal) |
//! | `note TEXT` | what a reader of the record has to know |
//! | `left TEXT` | what could not be ended or put back: nothing can be measured on this host before a boot |
//! | `ended HOW REST` | the last line: one of [`Ended`]'s words, and for `failed` the reason |
//!
//! Only what happened is there: a trial that is stopped in its idle phase has no `start`.
//!
//! # Samples
//! A monitor that reads a file writes blocks, each under a line of its own: `@ SECONDS` before the whole file,
//! `+ SECONDS` before only those lines that differ from the last block (a file with other lines, told by their first
//! words, or another number of them is given whole). `! SECONDS N` says that N samples before this time were due and
//! not taken. What a monitor with a script writes is kept as it is.
//!
//! # Following
//! `follow FOLDER NAME=OFFSET...` writes frames to standard output as the files grow: a line `NAME OFFSET LENGTH`,
//! LENGTH bytes, a line end. A frame named `-` has no bytes and says that the follower is alive (every 5 s); `.`, that
//! the result is complete and every file was given to its end; `!`, that the supervisor is gone without a result
//! (the program's follower waits two seconds before it says so, as a worker takes its keeper's place).
//! A file that is not named is given from its begin, `result` after all others. A follower renews the lease as it begins
//! and with every line of its standard input, and a controller writes an empty line there for each `-`: a follower lives
//! on for long when a network is gone, and is no sign of a controller.

use serde::{Deserialize, Serialize};

/// Trials' folders are below this path with the user's id behind it: on a disk, as memory is what is measured, and where a reboot
/// leaves it.
pub const BASE: &str = "/var/tmp/ktrial";

/// Bytes of `workload.stdout`, and of `workload.stderr`, that are fetched: their first ones.
pub const OUTPUT_LIMIT: u64 = 16 << 20;

/// Seconds that `prepare` may take.
pub const PREPARE_LIMIT_S: u64 = 300;

/// Seconds that `restore` may take.
pub const RESTORE_LIMIT_S: u64 = 120;

/// The program itself, a static one for [`MACHINE`]; none where it could not be built, and the shell supervisor serves.
pub const PROGRAM: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/program.rs"));

/// The machine that [`PROGRAM`] runs on, as its `uname -m` says it.
pub const MACHINE: &str = env!("KTRIAL_AGENT_MACHINE");

/// What a supervisor is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The trial's id in its record, such as `t01`: for messages.
    pub trial: String,
    /// How long the idle phase takes.
    pub idle_ms: u64,
    /// How long the settle phase takes.
    pub settle_ms: u64,
    /// How long the workload may run before it is ended.
    pub limit_ms: u64,
    /// How long the workload has to end after INT, and again after TERM, before KILL.
    pub grace_ms: u64,
    /// How long the trial goes on without a controller.
    pub lease_ms: u64,
    /// What samples.
    pub monitors: Vec<Monitor>,
    /// Files of the kernel with the value that they have during the trial; put back after it, in reverse order.
    pub settings: Vec<Setting>,
    /// Files whose value the workload itself may change; put back after the trial.
    pub guarded: Vec<String>,
    /// Names of files that the workload leaves in the trial's folder, to be fetched with the others.
    pub reports: Vec<String>,
    /// Shell lines before the idle phase. A code other than 0 ends the trial, with the last line of standard error as
    /// the reason. Every script runs in the trial's folder, with `LC_ALL=C` and without input.
    pub prepare: String,
    /// The workload: shell lines.
    pub command: String,
    /// Shell lines after the settle phase; run however the trial ended once `prepare` has begun.
    pub restore: String,
}

/// One monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// Its name, and that of its files.
    pub name: String,
    /// Microseconds between samples.
    pub period_us: u64,
    /// Where samples come from.
    pub source: Source,
}

/// Where a monitor's samples come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A file that is read again and again.
    File(String),
    /// A shell script that writes samples by itself, until it is ended.
    Script(String),
}

/// A file of the kernel and a value for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Its path.
    pub file: String,
    /// The value to write.
    pub value: String,
}

/// How a trial ended, as the last event says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It went through all of its phases.
    Complete,
    /// The workload was ended at its limit.
    Limit,
    /// A controller asked for it, or the supervisor was told to end by a signal.
    Stopped,
    /// Nobody was there for as long as the lease.
    Lease,
    /// It could not be carried out, or the host shut down; the reason follows.
    Failed,
    /// The supervisor died; what it had left was ended and put back later.
    Died,
    /// The host began another boot.
    Rebooted,
}

impl Ended {
    /// Every one.
    pub const ALL: [Ended; 7] = [
        Ended::Complete,
        Ended::Limit,
        Ended::Stopped,
        Ended::Lease,
        Ended::Failed,
        Ended::Died,
        Ended::Rebooted,
    ];

    /// The word in the event.
    pub fn word(self) -> &'static str {
        match self {
            Ended::Complete => "complete",
            Ended::Limit => "limit",
            Ended::Stopped => "stopped",
            Ended::Lease => "lease",
            Ended::Failed => "failed",
            Ended::Died => "died",
            Ended::Rebooted => "rebooted",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Ended> {
        Ended::ALL.into_iter().find(|ended| ended.word() == word)
    }
}
