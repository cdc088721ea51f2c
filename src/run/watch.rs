//! Watching a trial that its host runs: what it writes is taken as it comes, over connections that may break.

use std::time::Duration;

use ktrial_agent::Ended;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Experiment, MonitorKind, PlannedTrial};
use crate::host::Event;
use crate::workload;

use super::attempt;
use super::boot_over::pause;
use super::events::Events;
use super::folder::Folder;
use super::frames::{Frame, Frames};
use super::ledger::Slot;
use super::link::Link;
use super::progress::Update;
use super::received::Received;
use super::said;
use super::sample_times::SampleTimes;

/// How long a turn waits for the follower.
const POLL: Duration = Duration::from_millis(100);

/// How long a follower may say nothing at all; it says something every few seconds.
const SILENCE: Duration = Duration::from_secs(60);

/// How late a host may be with a trial's end before it is asked to end it, and again before it is given up.
const LATE: Duration = Duration::from_secs(60);

/// Deadline of the short scripts around a trial.
pub(super) const SHORT: Duration = Duration::from_secs(30);

/// How much is kept of what a follower complains of.
const SAID_BYTES: usize = 4096;

/// How often a follower may say what is no frame.
const ODD: usize = 3;

/// A trial on its host, and what came of it so far.
pub(super) struct Watch<'a, 'l, 's> {
    pub(super) planned: &'a PlannedTrial,
    pub(super) experiment: &'a Experiment,
    pub(super) link: &'l mut Link<'s>,
    pub(super) slot: Slot<'a>,
    pub(super) folder: Folder,
    pub(super) received: Received<'a>,
    pub(super) events: Events,
    /// Of each monitor, in the experiment's order.
    sampled: Vec<(MonitorKind, SampleTimes)>,
    /// Why the host was asked to end the trial, once it was.
    stopped: Option<Stop>,
    /// Whether anything new came since following last failed.
    came: bool,
    /// Whether what became of the trial on its host is not known.
    pub(super) is_lost: bool,
}

/// Why a trial is ended before its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stop {
    User,
    Overdue,
}

/// How following came to its end.
enum Follow {
    /// Everything is here.
    Complete,
    /// The supervisor is gone without a result.
    Gone,
    /// The follower failed.
    Odd(String),
    /// The host does not end the trial.
    Overdue,
}

impl<'a, 'l, 's> Watch<'a, 'l, 's> {
    /// A trial that begins, or that another ktrial began: what the record has of it is gone on with.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub(super) fn new(
        planned: &'a PlannedTrial,
        experiment: &'a Experiment,
        link: &'l mut Link<'s>,
        slot: Slot<'a>,
        folder: Folder,
    ) -> Result<Watch<'a, 'l, 's>> {
        let (mut events, mut sampled) = (Events::default(), sampled(experiment));
        let received = Received::go_on(slot, experiment, |name, bytes| match name {
            "events" => {
                events.feed(bytes);
            }
            name => feed(&mut sampled, name, bytes),
        })?;
        let stopped = slot.on_host().is_some_and(|on_host| on_host.stopped);
        let watch = Watch {
            planned,
            experiment,
            link,
            slot,
            folder,
            received,
            events,
            sampled,
            stopped: stopped.then_some(Stop::User),
            came: false,
            is_lost: false,
        };
        // A ktrial that was killed may have kept events and not said so.
        watch.tell_phases()?;
        Ok(watch)
    }

    /// Receives everything anew, beside what came.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn anew(&mut self) -> Result<()> {
        self.slot.update(attempt::receive_anew)?;
        self.events = Events::default();
        self.sampled = sampled(self.experiment);
        self.received = Received::go_on(self.slot, self.experiment, |_, _| {})?;
        Ok(())
    }

    /// Follows the trial until everything is here; gives the reason when that cannot be.
    ///
    /// # Errors
    /// `HostTransient` or `HostStable` when the host is out of reach for too long: the trial goes on there. Others when the record cannot be
    /// written.
    pub(super) fn finish(&mut self) -> Result<Option<String>> {
        let (mut gone, mut odd) = (0, 0);
        loop {
            match self.follow() {
                Ok(Follow::Complete) => return Ok(None),
                Ok(Follow::Gone) if gone > 0 => {
                    return Ok(Some("what supervised it on the host is gone, and what it left could not be put right".to_owned()));
                }
                Ok(Follow::Gone) => {
                    gone += 1;
                    let script = self.folder.recover();
                    let deadline = 4 * workload::grace(self.planned, self.experiment) + LATE;
                    self.link.again(|host| host.exec(&script, deadline))?;
                }
                Ok(Follow::Odd(why)) if odd + 1 >= ODD && !self.came => return Ok(Some(why)),
                Ok(Follow::Odd(_)) => {
                    odd = if self.came { 1 } else { odd + 1 };
                    self.came = false;
                    let shared = self.link.shared;
                    pause(shared.clock, shared.cancel, Duration::from_secs(1));
                    let folder = &self.folder;
                    self.link.again(|host| folder.equip(host))?;
                }
                Ok(Follow::Overdue) => {
                    let limit = self.limit().as_secs();
                    return Ok(Some(format!(
                        "the host did not end the trial within {limit} s"
                    )));
                }
                Err(error) if error.kind() == ErrorKind::HostTransient => {
                    self.link.reconnect(error)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// When the host should have ended the trial by itself.
    fn limit(&self) -> Duration {
        let grace = workload::grace(self.planned, self.experiment);
        let limit = workload::deadline(&self.experiment.workload);
        self.experiment.idle + limit + 4 * grace + self.experiment.settle + LATE
    }

    fn follow(&mut self) -> Result<Follow> {
        let shared = self.link.shared;
        let script = self.folder.follow(&self.received.offsets());
        let mut running = self.link.host()?.spawn_open(&script)?;
        let mut frames = Frames::default();
        let mut said = Vec::new();
        // Time spent waiting: whoever does not wait does not listen either. A host that never pauses is bounded by the
        // clock.
        let (mut waited, mut quiet) = (Duration::ZERO, Duration::ZERO);
        let mut begun = shared.clock.now();
        loop {
            match running.next(POLL)? {
                Event::Stdout(bytes) => {
                    quiet = Duration::ZERO;
                    let Ok(found) = frames.feed(&bytes) else {
                        return Ok(Follow::Odd(odd(&bytes)));
                    };
                    for frame in found {
                        match frame {
                            // Renews the lease: this one is there, too.
                            Frame::Alive => running.feed(b"\n"),
                            Frame::Complete => return Ok(Follow::Complete),
                            Frame::Gone => return Ok(Follow::Gone),
                            Frame::Piece {
                                name,
                                offset,
                                bytes,
                            } => {
                                if !self.take(&name, offset, &bytes)? {
                                    return Ok(Follow::Odd(format!(
                                        "a piece of {name} was left out"
                                    )));
                                }
                            }
                        }
                    }
                }
                Event::Stderr(bytes) => {
                    let room = SAID_BYTES.saturating_sub(said.len());
                    said.extend(bytes.into_iter().take(room));
                }
                Event::Quiet => {
                    waited += POLL;
                    quiet += POLL;
                }
                Event::Ended(_) => {
                    let said = said::last_line(&said).unwrap_or_default();
                    return Ok(Follow::Odd(format!(
                        "the host no longer tells of it: {said}"
                    )));
                }
            }
            let (limit, gone) = (self.limit(), shared.clock.now().saturating_sub(begun));
            let overdue = waited > limit || gone > 2 * limit + SILENCE;
            let stop = match shared.cancel.is_cancelled() {
                true => Some(Stop::User),
                false => overdue.then_some(Stop::Overdue),
            };
            match (self.stopped, stop) {
                (None, Some(why)) => {
                    self.stop(why)?;
                    waited = Duration::ZERO;
                    begun = shared.clock.now();
                }
                (Some(_), _) if overdue => return Ok(Follow::Overdue),
                _ => {}
            }
            if quiet > SILENCE {
                let what = format!("{}: the follower says nothing", self.link.name);
                return Err(Error::new(ErrorKind::HostTransient, what));
            }
        }
    }

    /// Asks the host to end the trial gently.
    fn stop(&mut self, why: Stop) -> Result<()> {
        if why == Stop::User {
            // Before the host is asked: whoever fetches the trial later has to know.
            self.slot.update(|trial| {
                if let Some(on_host) = &mut trial.on_host {
                    on_host.stopped = true;
                }
            })?;
        }
        let script = self.folder.stop();
        let host = self.link.host()?;
        if !host.exec(&script, SHORT)?.exit.ok() {
            self.folder.equip(host)?;
            host.exec(&script, SHORT)?;
        }
        self.stopped = Some(why);
        Ok(())
    }

    /// Takes a piece; false when something before it is missing.
    fn take(&mut self, name: &str, offset: u64, bytes: &[u8]) -> Result<bool> {
        let Ok(new) = self.received.take(name, offset, bytes)? else {
            return Ok(false);
        };
        if !new.is_empty() {
            self.came = true;
            self.link.worked();
        }
        let (host, trial) = (self.link.name, self.planned.id.as_str());
        let progress = self.link.shared.progress;
        if name != "events" {
            let before = self.samples();
            feed(&mut self.sampled, name, new);
            let samples = self.samples();
            if samples > before {
                progress.update(Update::Sampled {
                    host,
                    trial,
                    samples,
                });
            }
            return Ok(true);
        }
        for phase in self.events.feed(new) {
            progress.update(Update::PhaseStarted { host, trial, phase });
        }
        self.tell_phases()?;
        Ok(true)
    }

    /// Has the record say what the events say of the phases.
    fn tell_phases(&self) -> Result<()> {
        let timeline = &self.events.timeline;
        let (phases, start) = (timeline.phases(), timeline.start);
        self.slot.update(|trial| {
            trial.phases = phases;
            trial.start_boottime_s = start;
        })
    }

    /// How many samples the first monitor gave.
    fn samples(&self) -> u64 {
        self.sampled.first().map_or(0, |(_, sampled)| sampled.count)
    }

    /// Why ktrial asked for the trial's end, if it did.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// What a reader of the record has to know, beside what the host told.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (kind, sampled) in &self.sampled {
            let name = kind.name();
            if let Some(line) = self.received.last_line(&format!("{name}.err")) {
                notes.push(format!("monitor {name} said: {line}"));
            }
            let workload = self.events.timeline.workload();
            if let Some(workload) = workload.filter(|workload| !sampled.any_in(workload)) {
                notes.push(format!(
                    "monitor {name}: no sample lies in the workload phase of {:.2} s",
                    workload.end() - workload.start()
                ));
            }
        }
        notes.extend(self.received.cut());
        notes
    }

    /// How the trial ended, in its supervisor's words.
    pub(super) fn ended(&self) -> Option<(Ended, &str)> {
        let (ended, why) = self.events.ended.as_ref()?;
        Some((*ended, why))
    }
}

fn sampled(experiment: &Experiment) -> Vec<(MonitorKind, SampleTimes)> {
    let monitors = experiment.monitors.iter();
    monitors
        .map(|monitor| (monitor.kind, SampleTimes::default()))
        .collect()
}

/// Tells the monitor whose file it is of new samples.
fn feed(sampled: &mut [(MonitorKind, SampleTimes)], file: &str, bytes: &[u8]) {
    let monitor = file.strip_suffix(".txt");
    let mut found = sampled
        .iter_mut()
        .filter(|(kind, _)| Some(kind.name()) == monitor);
    if let Some((_, sampled)) = found.next() {
        sampled.feed(bytes);
    }
}

fn odd(bytes: &[u8]) -> String {
    let said = said::last_line(bytes).unwrap_or_default();
    format!("what follows it on the host said something odd: {said}")
}
