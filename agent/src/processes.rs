//! The host's processes, as /proc tells them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::folder;

/// Bytes of an environment that are looked at; more than the kernel lets one have by default.
const ENVIRON_LIMIT: u64 = 8 << 20;

/// How many processes a message names.
const NAMED: usize = 5;

/// Bytes of a command line in a message.
const COMMAND_LIMIT: usize = 60;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    /// When it began, in clock ticks since the boot.
    pub start: u64,
    state: char,
    /// Its name, or its command line once [`read_commands`] has read it.
    command: String,
}

impl Process {
    /// Whether it is only there until its parent asks for it.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Whether a variable with this value is in its environment.
    pub fn has_variable(&self, variable: &str) -> bool {
        if variable.is_empty() {
            return false;
        }
        let path = format!("/proc/{}/environ", self.pid);
        let environ = folder::read(Path::new(&path), ENVIRON_LIMIT).unwrap_or_default();
        environ.split(|&b| b == 0).any(|v| v == variable.as_bytes())
    }

    /// Sends a signal, to this process and no other that has its number by now.
    pub fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        let same = || look(self.pid).is_some_and(|now| now.start == self.start);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) if same() => {
                let _ = pidfd_send_signal(fd, signal);
            }
            // A kernel before 5.3.
            Err(rustix::io::Errno::NOSYS) if same() => {
                let _ = rustix::process::kill_process(pid, signal);
            }
            _ => {}
        }
    }
}

/// One process; none when it is not there.
pub fn look(pid: i32) -> Option<Process> {
    let path = format!("/proc/{pid}/stat");
    let stat = folder::read(Path::new(&path), 4096).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The second field is in parentheses and may hold anything, parentheses too.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, command) = before.split_once('(')?;
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        command: command.to_owned(),
    })
}

/// All processes that have not ended.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(look).filter(|p| !p.has_ended()).collect()
}

/// How a trial's processes are known.
#[derive(Debug, Default)]
pub struct Kin {
    /// The variable that they have in their environment.
    pub variable: String,
    /// Processes with this one in theirs are not of them, unless they have the other too.
    pub not_variable: String,
    /// Their control group, when there is one.
    pub cgroup: Option<crate::cgroup::Cgroup>,
    /// All below this process are of them...
    pub ancestor: Option<i32>,
    /// ...but for these, by number and start, and what is below them.
    pub others: HashMap<i32, u64>,
}

impl Kin {
    /// Those that are there now.
    pub fn find(&self) -> Vec<Process> {
        let all = all();
        let own = std::process::id() as i32;
        let by_pid: HashMap<i32, &Process> = all.iter().map(|p| (p.pid, p)).collect();
        let members = self
            .cgroup
            .as_ref()
            .map(|c| c.members())
            .unwrap_or_default();
        let is_other = |p: &Process| self.others.get(&p.pid) == Some(&p.start);
        let descends = |process: &Process| {
            let Some(ancestor) = self.ancestor else {
                return false;
            };
            let mut at = process;
            // No chain is longer than there are processes, also if they change while they are read.
            for _ in 0..all.len() {
                if is_other(at) || self.others.contains_key(&at.group) {
                    return false;
                }
                if at.parent == ancestor {
                    return !process.has_variable(&self.not_variable);
                }
                match by_pid.get(&at.parent) {
                    Some(parent) => at = parent,
                    None => return false,
                }
            }
            false
        };
        let is_kin = |p: &&Process| {
            p.pid != own
                && (members.contains(&p.pid) || descends(p) || p.has_variable(&self.variable))
        };
        all.iter().filter(is_kin).cloned().collect()
    }
}

/// Reads the command lines of those that [`named`] names, while they are there: a name alone says little.
pub fn read_commands(processes: &mut [Process]) {
    for process in processes.iter_mut().take(NAMED) {
        let path = format!("/proc/{}/cmdline", process.pid);
        let line = folder::read(Path::new(&path), ENVIRON_LIMIT).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        // A kernel's thread has none.
        if !line.trim().is_empty() {
            process.command = line.trim().chars().take(COMMAND_LIMIT).collect();
        }
    }
}

/// The first few, by number and command.
pub fn named(processes: &[Process]) -> String {
    let one = |p: &Process| format!("{} {}", p.pid, p.command);
    let mut names: Vec<String> = processes.iter().take(NAMED).map(one).collect();
    if processes.len() > NAMED {
        names.push(format!("and {} more", processes.len() - NAMED));
    }
    names.join("; ")
}
