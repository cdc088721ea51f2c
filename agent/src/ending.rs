//! Ending processes: asked first, then made to.

use rustix::process::{Pid, Signal};

use crate::attention::{Attention, Exit};
use crate::clock::{ms, now_ns};
use crate::processes::{self, Kin, Process};
use crate::scripts;

/// How long processes have to go after KILL; one that waits for a device does not hear it.
const KILLED_NS: u64 = ms(10_000);

/// How often processes are looked for while they are waited for.
const LOOK_NS: u64 = ms(50);

/// Ends a script's own process group by these signals, with `grace_ns` after each but the last, KILL. None when even
/// that did not end its first process.
pub fn script(
    script: Pid,
    signals: &[Signal],
    grace_ns: u64,
    attention: &mut Attention,
) -> Option<Exit> {
    // Its number is nobody else's as long as its end was not asked for.
    let exit = attention.exit(script);
    if exit.is_some() {
        return exit;
    }
    for &signal in signals {
        scripts::signal(script, signal);
        if let Some(exit) = wait(script, now_ns().saturating_add(grace_ns), attention) {
            return Some(exit);
        }
    }
    scripts::signal(script, Signal::KILL);
    wait(script, now_ns() + KILLED_NS, attention)
}

/// Waits for a script's first process until a time.
pub fn wait(script: Pid, until_ns: u64, attention: &mut Attention) -> Option<Exit> {
    loop {
        let exit = attention.exit(script);
        if exit.is_some() || now_ns() >= until_ns {
            return exit;
        }
        attention.pause(until_ns);
    }
}

/// What became of processes that were to be ended.
#[derive(Debug, Default)]
pub struct Outlived {
    /// Those that were there.
    pub found: Vec<Process>,
    /// Those that are still there.
    pub left: Vec<Process>,
}

/// Ends all that are of a trial: by TERM, and by KILL after `grace_ns`. Those that go within `patience_ns` by
/// themselves are not even counted.
pub fn kin(kin: &Kin, patience_ns: u64, grace_ns: u64, attention: &mut Attention) -> Outlived {
    let mut found = wait_for_none(kin, patience_ns, attention, |_| {});
    if found.is_empty() {
        return Outlived::default();
    }
    processes::read_commands(&mut found);
    for process in &found {
        process.signal(Signal::TERM);
    }
    let mut left = wait_for_none(kin, grace_ns, attention, |_| {});
    if !left.is_empty() {
        // What begins while the others are ended has to go too.
        left = wait_for_none(kin, KILLED_NS, attention, |now| {
            for process in now {
                process.signal(Signal::KILL);
                let is_new =
                    |known: &Process| known.pid != process.pid || known.start != process.start;
                if found.iter().all(is_new) {
                    found.push(process.clone());
                }
            }
            if let Some(cgroup) = &kin.cgroup {
                cgroup.kill();
            }
        });
    }
    processes::read_commands(&mut left);
    Outlived { found, left }
}

/// Looks until none is there, for a time; `each` sees those of every look.
fn wait_for_none(
    kin: &Kin,
    time_ns: u64,
    attention: &mut Attention,
    mut each: impl FnMut(&[Process]),
) -> Vec<Process> {
    let until_ns = now_ns().saturating_add(time_ns);
    loop {
        // Those that ended and were left to this process are gone only when it asked for them.
        attention.pause(0);
        let now = kin.find();
        each(&now);
        if now.is_empty() || now_ns() >= until_ns {
            return now;
        }
        let next_ns = until_ns.min(now_ns() + LOOK_NS);
        while now_ns() < next_ns {
            attention.pause(next_ns);
        }
    }
}
