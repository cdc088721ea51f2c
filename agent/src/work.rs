//! One trial, taken through its phases.

use std::collections::HashMap;

use ktrial_agent::{Ended, OUTPUT_LIMIT, PREPARE_LIMIT_S, Spec};
use rustix::fs::statvfs;
use rustix::process::{Pid, Signal, getpid, getppid, set_child_subreaper};

use crate::attention::{Attention, Exit};
use crate::cgroup::{self, Cgroup};
use crate::clock::{ms, now_ns};
use crate::ending;
use crate::event::Events;
use crate::folder::{self, Folder, OUTPUTS};
use crate::identity::Identity;
use crate::journal::{self, Entry, Journal};
use crate::lease::Lease;
use crate::monitors::Monitors;
use crate::processes::{self, Kin};
use crate::scripts::Scripts;
use crate::{lock, oom, restore, result, settings, shutdown};

/// How long processes that a workload's end leaves have to go by themselves.
const PATIENCE_NS: u64 = ms(100);

/// How long such processes have after TERM, at most.
const OUTLIVED_GRACE_NS: u64 = ms(2_000);

/// How often the room on the disk is looked at.
const ROOM_PERIOD_NS: u64 = ms(1_000);

/// Bytes that have to be free on the disk while the workload's output grows.
const LEAST_ROOM: u64 = 64 << 20;

const PREPARE_LIMIT_NS: u64 = ms(1_000 * PREPARE_LIMIT_S);

/// What ends a trial before its time: how, and why it failed.
type Early = (Ended, String);

/// Runs the trial of a folder, whose lock this process' keeper has.
///
/// # Errors
/// When there is no way to even say why the trial cannot be.
pub fn work(folder: &Folder, oom: Option<String>, cgroup: Option<Cgroup>) -> Result<(), String> {
    let spec = folder.spec()?;
    let attention = Attention::new().map_err(|e| e.to_string())?;
    // All that the workload leaves is given to this process.
    set_child_subreaper(Some(getpid())).map_err(|e| e.to_string())?;
    let scripts = Scripts::new(folder, oom);
    let mut trial = Trial {
        folder,
        attention,
        events: Events::open(folder)?,
        lease: Lease::new(folder, spec.lease_ms),
        monitors: Monitors::new(),
        keeper: getppid(),
        has_no_keeper: false,
        kin: Kin {
            variable: scripts.variable(),
            not_variable: scripts.beside_variable(),
            ancestor: Some(getpid().as_raw_nonzero().get()),
            cgroup,
            ..Kin::default()
        },
        scripts,
        held: false,
        looked_ns: 0,
        spec: &spec,
    };
    result::keep_room(folder);
    let (how, reason) = match trial.phases() {
        Ok(()) => (Ended::Complete, String::new()),
        Err(early) => early,
    };
    trial.look_for_keeper()?;
    trial.monitors.end(&mut trial.attention, &mut trial.events);
    trial.look_for_keeper()?;
    trial.put_back();
    result::note_output(folder, &mut trial.events);
    trial.events.ended(how, &reason);
    result::write(folder, &folder::fetched(&spec))?;
    lock::release(folder);
    if trial.has_no_keeper
        && let Some(cgroup) = &trial.kin.cgroup
    {
        cgroup::remove_of(folder.name(), cgroup);
    }
    Ok(())
}

struct Trial<'a> {
    folder: &'a Folder,
    spec: &'a Spec,
    attention: Attention,
    events: Events,
    lease: Lease,
    scripts: Scripts,
    monitors: Monitors,
    kin: Kin,
    keeper: Option<Pid>,
    has_no_keeper: bool,
    /// Whether all settings hold.
    held: bool,
    /// When the room on the disk was looked at.
    looked_ns: u64,
}

impl Trial<'_> {
    fn phases(&mut self) -> Result<(), Early> {
        let mut journal = Journal::open(self.folder).map_err(failed)?;
        if let Some(cgroup) = &self.kin.cgroup {
            let path = cgroup.path().display().to_string();
            journal.write(&Entry::Cgroup { path }).map_err(failed)?;
        }
        settings::hold(self.spec, &mut journal).map_err(failed)?;
        self.held = true;
        self.prepare(&mut journal)?;
        self.monitors
            .start(self.spec, self.folder, &self.scripts, &mut self.events)
            .map_err(failed)?;
        while !self
            .monitors
            .have_sampled(&self.attention)
            .map_err(failed)?
        {
            self.attend(now_ns() + ms(10))?;
        }
        self.phase("idle", self.spec.idle_ms, now_ns())?;
        let end_ns = self.workload()?;
        if self.spec.settle_ms > 0 {
            self.wait_until(end_ns.saturating_add(ms(self.spec.settle_ms)))?;
        }
        self.events.say("settled", "");
        Ok(())
    }

    fn phase(&mut self, word: &str, time_ms: u64, begin_ns: u64) -> Result<(), Early> {
        self.events.say_at(begin_ns, word, "");
        self.wait_until(begin_ns.saturating_add(ms(time_ms)))
    }

    fn wait_until(&mut self, until_ns: u64) -> Result<(), Early> {
        loop {
            self.attend(until_ns)?;
            if now_ns() >= until_ns {
                return Ok(());
            }
        }
    }

    fn prepare(&mut self, journal: &mut Journal) -> Result<(), Early> {
        if self.spec.prepare.trim().is_empty() && self.spec.restore.trim().is_empty() {
            return Ok(());
        }
        journal.write(&Entry::Prepare).map_err(failed)?;
        // Nothing else has written there yet.
        let from = 0;
        let (out, err) = ("workload.stdout", "workload.stderr");
        let script = self
            .scripts
            .beside(&self.spec.prepare, out, err)
            .map_err(failed)?;
        self.attention.forget(script);
        let exit = self.wait_for(script, now_ns().saturating_add(PREPARE_LIMIT_NS));
        let exit = match exit {
            Ok(Some(exit)) => exit,
            Ok(None) => {
                let early = failed(format!("prepare did not end within {PREPARE_LIMIT_S} s"));
                return Err(self.end_prepare(script, early));
            }
            Err(early) => return Err(self.end_prepare(script, early)),
        };
        restore::notes(self.folder, from, &mut self.events);
        match exit.code {
            0 => Ok(()),
            code => {
                let said = folder::last_line(self.folder, "workload.stderr", from);
                let said = said.strip_prefix("ktrial: ").unwrap_or(&said);
                Err(failed(match said.is_empty() {
                    true => format!("prepare ended with code {code}"),
                    false => said.to_owned(),
                }))
            }
        }
    }

    fn end_prepare(&mut self, script: Pid, early: Early) -> Early {
        let signals = [Signal::INT, Signal::TERM];
        let grace_ns = ms(self.spec.grace_ms);
        ending::script(script, &signals, grace_ns, &mut self.attention);
        early
    }

    /// Runs the workload and ends all that it leaves; gives when the host was free of it.
    fn workload(&mut self) -> Result<u64, Early> {
        // What runs by now is not the workload's: monitors, and what `prepare` started for it.
        let all = processes::all().into_iter();
        self.kin.others = all.map(|p| (p.pid, p.start)).collect::<HashMap<_, _>>();
        let cgroup = self.kin.cgroup.as_ref();
        let killed_before = oom::kills();
        let start_ns = now_ns();
        let script = self
            .scripts
            .workload(&self.spec.command, cgroup)
            .map_err(failed)?;
        self.attention.forget(script);
        self.events.say_at(start_ns, "start", "");
        let limit_ns = start_ns.saturating_add(ms(self.spec.limit_ms));
        let waited = self.wait_for(script, limit_ns);
        let (exit, early) = match waited {
            Ok(Some(exit)) => (Some(exit), None),
            Ok(None) => (None, Some((Ended::Limit, String::new()))),
            Err(early) => (None, Some(early)),
        };
        let grace_ns = ms(self.spec.grace_ms);
        let exit = exit.or_else(|| {
            let signals = [Signal::INT, Signal::TERM];
            ending::script(script, &signals, grace_ns, &mut self.attention)
        });
        let mut end_ns = now_ns();
        if let Some(exit) = exit {
            end_ns = exit.at_ns;
            self.events
                .say_at(exit.at_ns, "end", &exit.code.to_string());
        }
        let grace_ns = grace_ns.min(OUTLIVED_GRACE_NS);
        let outlived = ending::kin(&self.kin, PATIENCE_NS, grace_ns, &mut self.attention);
        if !outlived.found.is_empty() {
            end_ns = now_ns();
            self.events.note(&format!(
                "the workload left {} processes that outlived it and were ended: {}",
                outlived.found.len(),
                processes::named(&outlived.found)
            ));
        }
        if !outlived.left.is_empty() {
            let left = processes::named(&outlived.left);
            self.events.left(&format!(
                "processes of the workload could not be ended: {left}"
            ));
        }
        if let (Some(before), Some(after)) = (killed_before, oom::kills())
            && after > before
        {
            self.events.note(&format!(
                "while the workload ran, the kernel killed {} of the host's processes for want of memory",
                after - before
            ));
        }
        early.map_or(Ok(end_ns), Err)
    }

    /// Waits for a script until a time; none when it still runs then.
    fn wait_for(&mut self, script: Pid, until_ns: u64) -> Result<Option<Exit>, Early> {
        loop {
            let exit = self.attention.exit(script);
            if exit.is_some() || now_ns() >= until_ns {
                return Ok(exit);
            }
            self.attend(until_ns)?;
        }
    }

    /// Waits for a short time, at most until the one given, and looks around.
    fn attend(&mut self, until_ns: u64) -> Result<(), Early> {
        self.attention.pause(until_ns);
        self.monitors.look(&self.attention, &mut self.events);
        self.look_for_keeper().map_err(failed)?;
        self.look_at_room()?;
        if self.attention.is_told_to_end() && shutdown::is_under_way() {
            return Err(failed("the host shut down during the trial".to_owned()));
        }
        if self.attention.is_told_to_end() || self.folder.has("stop") {
            return Err((Ended::Stopped, String::new()));
        }
        match self.lease.is_over(self.folder) {
            true => Err((Ended::Lease, String::new())),
            false => Ok(()),
        }
    }

    /// When the keeper died, whoever looks for the supervisor has to find this process. An error when somebody else
    /// took the lock before: what this trial leaves is put back there, and must not be here.
    fn look_for_keeper(&mut self) -> Result<(), String> {
        if getppid() == self.keeper {
            return Ok(());
        }
        let identity = Identity::own()?;
        lock::take_over(self.folder, &identity)?;
        self.keeper = getppid();
        self.has_no_keeper = true;
        let written = self.folder.write("pid", format!("{identity}\n").as_bytes());
        if let Err(e) = written {
            self.events.note(&format!("pid: {e}"));
        }
        Ok(())
    }

    /// Output that will not even be fetched must not take the room that samples need.
    fn look_at_room(&mut self) -> Result<(), Early> {
        if now_ns() < self.looked_ns.saturating_add(ROOM_PERIOD_NS) {
            return Ok(());
        }
        self.looked_ns = now_ns();
        let size = |name| self.folder.file(name).metadata().map_or(0, |m| m.len());
        if OUTPUTS.map(size).into_iter().sum::<u64>() <= OUTPUT_LIMIT {
            return Ok(());
        }
        match statvfs(self.folder.path()) {
            Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) < LEAST_ROOM => {
                let base = self.folder.base().display();
                Err(failed(format!(
                    "the disk below {base} is nearly full of the workload's output"
                )))
            }
            _ => Ok(()),
        }
    }

    fn put_back(&mut self) {
        let entries = journal::entries(self.folder);
        if entries.contains(&Entry::Prepare) {
            let script = &self.spec.restore;
            restore::run(
                script,
                self.folder,
                &self.scripts,
                &mut self.attention,
                &mut self.events,
            );
        }
        // What `prepare` and `restore` left is of no use to anybody now.
        let kin = Kin {
            variable: self.scripts.beside_variable(),
            ancestor: self.kin.ancestor,
            ..Kin::default()
        };
        let outlived = ending::kin(&kin, PATIENCE_NS, OUTLIVED_GRACE_NS, &mut self.attention);
        if !outlived.left.is_empty() {
            let left = processes::named(&outlived.left);
            self.events.left(&format!(
                "processes of the trial could not be ended: {left}"
            ));
        }
        settings::put_back(&entries, self.held, &mut self.events);
    }
}

fn failed(reason: String) -> Early {
    (Ended::Failed, reason)
}
