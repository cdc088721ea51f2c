//! The monitors of a trial: files that are sampled, and scripts that sample by themselves.

use std::sync::atomic::Ordering;

use ktrial_agent::{Source, Spec};
use rustix::process::{Pid, Signal};

use crate::attention::Attention;
use crate::clock::{ms, now_ns};
use crate::ending;
use crate::event::{Events, disk_full};
use crate::folder::{self, Folder};
use crate::sampling::{Sampling, Wish};
use crate::scripts::{self, Scripts};

/// How long a monitor has to give its first sample.
const FIRST_NS: u64 = ms(15_000);

const GRACE_NS: u64 = ms(2_000);

/// A monitor with a script.
struct Scripted {
    name: String,
    pid: Pid,
    over: bool,
}

/// All of them.
#[derive(Default)]
pub struct Monitors {
    sampling: Option<Sampling>,
    scripted: Vec<Scripted>,
    folder: Option<Folder>,
    begin_ns: u64,
}

impl Monitors {
    /// None yet.
    pub fn new() -> Monitors {
        Monitors::default()
    }

    /// Starts those of a specification.
    ///
    /// # Errors
    /// The reason why one of them cannot be.
    pub fn start(
        &mut self,
        spec: &Spec,
        folder: &Folder,
        scripts: &Scripts,
        events: &mut Events,
    ) -> Result<(), String> {
        self.folder = Some(folder.clone());
        self.begin_ns = now_ns();
        let mut wishes = Vec::new();
        for monitor in &spec.monitors {
            let name = monitor.name.clone();
            match &monitor.source {
                Source::File(path) => wishes.push(Wish {
                    name,
                    path: path.clone(),
                    period_ns: monitor.period_us.saturating_mul(1_000),
                }),
                Source::Script(script) => {
                    let (out, err) = (format!("{name}.txt"), format!("{name}.err"));
                    let pid = scripts.beside(script, &out, &err)?;
                    self.scripted.push(Scripted {
                        name,
                        pid,
                        over: false,
                    });
                }
            }
        }
        self.sampling = Some(Sampling::start(&wishes, folder, events)?);
        Ok(())
    }

    /// Whether each has given its first sample.
    ///
    /// # Errors
    /// When one had time enough, or ended without one.
    pub fn have_sampled(&self, attention: &Attention) -> Result<bool, String> {
        let Some(folder) = &self.folder else {
            return Ok(true);
        };
        let late = now_ns() > self.begin_ns + FIRST_NS;
        let mut all = true;
        for monitor in &self.scripted {
            let out = folder.file(&format!("{}.txt", monitor.name));
            if out.metadata().is_ok_and(|m| m.len() > 0) {
                continue;
            }
            all = false;
            if late || attention.exit(monitor.pid).is_some() {
                let said = folder::last_line(folder, &format!("{}.err", monitor.name), 0);
                return Err(format!(
                    "the monitor {} gave no sample: {said}",
                    monitor.name
                ));
            }
        }
        for (name, taken) in self.sampling.iter().flat_map(Sampling::taken) {
            if taken.load(Ordering::Relaxed) == 0 {
                all = false;
                if late {
                    return Err(format!("the monitor {name} gave no sample"));
                }
            }
        }
        Ok(all)
    }

    /// Notes what went wrong since the last look.
    pub fn look(&mut self, attention: &Attention, events: &mut Events) {
        for note in self.sampling.iter().flat_map(Sampling::notes) {
            events.note(&note);
        }
        for monitor in self.scripted.iter_mut().filter(|m| !m.over) {
            if let Some(exit) = attention.exit(monitor.pid) {
                monitor.over = true;
                let err = format!("{}.err", monitor.name);
                let said = self.folder.as_ref().map(|f| folder::last_line(f, &err, 0));
                events.note(&format!(
                    "the monitor {} ended during the trial with code {}: {}",
                    monitor.name,
                    exit.code,
                    said.unwrap_or_default()
                ));
            }
        }
    }

    /// Ends them, and notes what they missed and what could not be kept.
    pub fn end(&mut self, attention: &mut Attention, events: &mut Events) {
        self.look(attention, events);
        // All at once: no grace is waited for more than once.
        for monitor in &self.scripted {
            if attention.exit(monitor.pid).is_some() {
                continue;
            }
            scripts::signal(monitor.pid, Signal::TERM);
        }
        for monitor in &self.scripted {
            // What its first process leaves is known by its environment, and ended with what `prepare` leaves.
            if ending::script(monitor.pid, &[Signal::TERM], GRACE_NS, attention).is_none() {
                events.left(&format!("the monitor {} could not be ended", monitor.name));
            }
        }
        self.scripted.clear();
        let Some(sampling) = self.sampling.take() else {
            return;
        };
        for note in sampling.notes() {
            events.note(&note);
        }
        for account in sampling.end() {
            if account.missed > 0 {
                events.note(&format!(
                    "monitor {} missed {} of {} samples",
                    account.name,
                    account.missed,
                    account.missed + account.taken
                ));
            }
            if account.lost_bytes > 0 {
                events.note(&disk_full(
                    &format!("{}.txt", account.name),
                    account.lost_bytes,
                ));
            }
        }
    }
}
