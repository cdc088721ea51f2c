//! Supervisors: what takes a trial through its phases on the host, whatever becomes of the connection.
//!
//! There are two, with one contract, which [`ktrial_agent`] describes: the agent, and a POSIX shell script where no
//! agent can run. Here are the scripts that start them and ask them, and what they are told to do.

mod shell;
mod spec;
#[cfg(test)]
mod tests;

pub use spec::{LEASE, spec};

use std::sync::LazyLock;

use crate::record::sha256_hex;
use crate::workload::quote;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The program of the crate [`ktrial_agent`].
    Agent,
    /// The POSIX shell script.
    Shell,
}

impl Kind {
    /// The word for it, as in a record.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Agent => "agent",
            Kind::Shell => "shell",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Kind> {
        let kinds = [Kind::Agent, Kind::Shell];
        kinds.into_iter().find(|kind| kind.word() == word)
    }
}

/// The agent's program.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) bytes: &'static [u8],
    pub(crate) sha256: String,
}

/// The agent, when this ktrial was built with it; hashed once.
pub(crate) fn agent() -> Option<&'static Agent> {
    static AGENT: LazyLock<Option<Agent>> = LazyLock::new(|| {
        ktrial_agent::PROGRAM.map(|bytes| Agent {
            bytes,
            sha256: sha256_hex(bytes),
        })
    });
    AGENT.as_ref()
}

/// What supervises trials, in a sentence: the agent's size and hash, and when it is the shell.
pub fn told() -> String {
    let otherwise =
        "the shell script below does it where that does not run, and with --supervisor shell";
    match agent() {
        Some(agent) => format!(
            "supervised by the agent, a program of {} KiB for {} that is sent once to a host and checked there \
             (sha256 {}); {otherwise}",
            agent.bytes.len().div_ceil(1024),
            ktrial_agent::MACHINE,
            agent.sha256,
        ),
        None => "supervised by a shell script: this ktrial was built without the agent".to_owned(),
    }
}

/// The shell's supervisor whole, as it runs in a folder named `FOLDER`.
pub fn shell_script(spec: &ktrial_agent::Spec) -> String {
    shell::start("FOLDER", spec)
}

/// The programs that the shell's supervisor needs on a host, besides a POSIX shell; `sha256sum` it can do without.
pub const PROGRAMS: [&str; 19] = [
    "cat", "cut", "env", "grep", "head", "ln", "ls", "mv", "rm", "sed", "setsid", "sh", "sleep",
    "sort", "tail", "touch", "tr", "wc", "kill",
];

/// A trial's supervisor: scripts for [`Host::exec`](crate::host::Host::exec), and
/// [`Host::spawn`](crate::host::Host::spawn) for [`Supervisor::follow`].
#[derive(Debug, Clone, Copy)]
pub struct Supervisor<'a> {
    /// Which one.
    pub kind: Kind,
    /// The agent's program on the host; only for [`Kind::Agent`].
    pub program: &'a str,
    /// The trial's folder on the host, absolute, without a slash at its end.
    pub folder: &'a str,
}

impl Supervisor<'_> {
    /// Starts the trial; says `started PID` and ends with 0, or `refused WHY` and 1.
    ///
    /// The agent reads `spec.json`, which is to be there; the shell's supervisor is in this script, all of it.
    pub fn start(&self, spec: &ktrial_agent::Spec) -> String {
        match self.kind {
            Kind::Agent => self.verb("start", &[]),
            Kind::Shell => shell::start(self.folder, spec),
        }
    }

    /// Gives the trial's files as they grow, as frames; those that are named from this byte on. It renews the lease
    /// as it begins and for each line of its input: for [`Host::spawn_open`](crate::host::Host::spawn_open).
    pub fn follow(&self, offsets: &[(&str, u64)]) -> String {
        let words = offsets
            .iter()
            .map(|(name, offset)| format!("{name}={offset}"));
        self.verb("follow", &words.collect::<Vec<_>>())
    }

    /// Asks for the trial's gentle end, and does not wait for it.
    pub fn stop(&self) -> String {
        self.verb("stop", &[])
    }

    /// Ends and puts back what a supervisor that died has left, so that there is a result.
    ///
    /// The shell's says `running` or `ended` when there is nothing to do, else how the trial ended (`died`,
    /// `rebooted`); with 1 and `refused WHY` when another trial has the host.
    pub fn recover(&self) -> String {
        self.verb("recover", &[])
    }

    fn verb(&self, verb: &str, words: &[String]) -> String {
        let folder = quote(&[self.folder.to_owned()]);
        let words: String = words
            .iter()
            .map(|word| format!(" {}", quote(std::slice::from_ref(word))))
            .collect();
        match self.kind {
            Kind::Agent => {
                let program = quote(&[self.program.to_owned()]);
                format!("exec {program} {verb} {folder}{words}\n")
            }
            Kind::Shell => format!("cd {folder} && exec sh supervisor.sh {verb}{words}\n"),
        }
    }
}
