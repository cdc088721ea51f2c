//! How one trial runs on a host: by a plain shell there, watched from here.
//!
//! The workload's script goes through the phases by itself; the controller starts monitors before it, takes what
//! they write, and ends what is left. This file is the only place that knows this.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Experiment, MonitorKind, PlannedTrial, WorkloadKind};
use crate::host::{self, Exit, Host};
use crate::monitor;
use crate::record::State;
use crate::workload::{self, GRACE, Marks, Token, module};

use super::cancel::Cancel;
use super::clock::Clock;
use super::identity::Identity;
use super::ledger::Slot;
use super::progress::{Progress, Update};
use super::remains::{Remains, remove};
use super::said;
use super::sample_times::SampleTimes;
use super::settings::Guard;
use super::stream::{Output, SAMPLES_LIMIT_BYTES, Stream, WORDS_LIMIT_BYTES};
use super::survivors;
use super::timeline::Timeline;

/// How long a turn waits for one stream.
const POLL: Duration = Duration::from_millis(50);

/// How long a monitor may take until its first sample.
const FIRST_SAMPLE: Duration = Duration::from_secs(15);

/// How late a host may be with a trial's end before it is given up.
const LATE: Duration = Duration::from_secs(60);

/// Deadline of the short scripts around a trial.
pub(super) const SHORT: Duration = Duration::from_secs(20);

/// Largest report of a workload that is fetched.
const REPORT_LIMIT_BYTES: usize = 4 << 20;

/// What a trial runs with.
pub(super) struct Setting<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) experiment: &'a Experiment,
    pub(super) clock: &'a dyn Clock,
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a dyn Progress,
    pub(super) slot: Slot<'a>,
    /// The boot that the trial has to run in, where the experiment boots its hosts.
    pub(super) boot_id: Option<&'a str>,
}

impl Setting<'_> {
    /// The end of a trial that would run in another boot than the experiment's: a host that rebooted by itself may
    /// run another kernel.
    pub(super) fn other_boot(&self, boot_id: Option<&str>) -> Option<Ending> {
        let other = self.boot_id.is_some() && self.boot_id != boot_id;
        other.then_some(Ending::Rebooted)
    }
}

/// How a trial ended.
pub(super) enum Ending {
    Complete,
    Failed(String),
    Interrupted,
    /// The host runs another boot than the experiment's.
    Rebooted,
}

impl Ending {
    /// As the manifest says it.
    pub(super) fn words(self) -> (State, Option<String>) {
        match self {
            Ending::Complete => (State::Complete, None),
            Ending::Failed(reason) => (State::Failed, Some(reason)),
            Ending::Interrupted => (State::Interrupted, Some("ended by the user".to_owned())),
            Ending::Rebooted => (
                State::Failed,
                Some("the host rebooted by itself since the experiment booted it".to_owned()),
            ),
        }
    }
}

/// Runs one trial. What came from the host until then is kept in the record, however it ends.
///
/// # Errors
/// `HostTransient` when the connection broke. Others when the host refuses or the record cannot be written. `remains`
/// says what is still on the host.
pub(super) fn execute(
    planned: &PlannedTrial,
    setting: &Setting<'_>,
    remains: &mut Remains,
) -> Result<Ending> {
    let token = Token::random()?;
    remains.trial.clone_from(&planned.id);
    remains.grace = workload::grace(planned, setting.experiment);
    let mut trial = Trial {
        planned,
        setting,
        remains,
        monitors: Vec::new(),
        sampled: Vec::new(),
        workload: None,
        marks: Marks::new(token.clone()),
        token,
        timeline: Timeline::default(),
    };
    let ending = trial.run();
    let noted = trial.note();
    let connection_broke = matches!(&ending, Err(e) if e.kind() == ErrorKind::HostTransient);
    if !connection_broke {
        trial.clean_up()?;
    }
    noted?;
    // Asked last: the script's own marks may come only while it is ended.
    match ending {
        Ok(Ending::Complete) if trial.marks.is_forged() => Ok(Ending::Failed(
            "a phase's mark came twice or out of order: the workload writes marks itself"
                .to_owned(),
        )),
        ending => ending,
    }
}

struct Trial<'a> {
    planned: &'a PlannedTrial,
    setting: &'a Setting<'a>,
    remains: &'a mut Remains,
    monitors: Vec<Stream>,
    /// Of each monitor, in the same order.
    sampled: Vec<SampleTimes>,
    workload: Option<Stream>,
    token: Token,
    marks: Marks,
    timeline: Timeline,
}

impl Trial<'_> {
    fn run(&mut self) -> Result<Ending> {
        let identity = Identity::read(self.setting.host)?;
        if let Some(ending) = self.setting.other_boot(identity.boot_id.as_deref()) {
            return Ok(ending);
        }
        self.remains.boot_id.clone_from(&identity.boot_id);
        self.setting.slot.update(|trial| {
            trial.boot_id = identity.boot_id;
            trial.kernel = identity.kernel;
        })?;
        let (host, experiment) = (self.setting.host, self.setting.experiment);
        self.remains.guard = Guard::read(host, self.planned, experiment)?;
        self.start_monitors()?;
        if let Some(ending) = self.await_first_samples()? {
            return Ok(ending);
        }
        self.start_workload()?;
        if let Some(ending) = self.await_end()? {
            return Ok(ending);
        }
        let report = self.fetch_report()?;
        match self.verdict() {
            Ending::Complete => self.read_report(report.as_deref()),
            ending => Ok(ending),
        }
    }

    fn start_monitors(&mut self) -> Result<()> {
        let planned = workload::planned(self.setting.experiment);
        for monitor in &self.setting.experiment.monitors {
            let name = monitor.kind.name();
            let file = self.setting.slot.open_raw(name, &format!("{name}.txt"))?;
            let running = self
                .setting
                .host
                .spawn(&monitor::script(monitor, planned))?;
            self.remains.groups.push(running.group());
            let (stdout, stderr) = (
                Output::into_file(file, SAMPLES_LIMIT_BYTES),
                Output::default(),
            );
            self.sampled.push(SampleTimes::default());
            self.monitors
                .push(Stream::new(name, running, stdout, stderr));
        }
        Ok(())
    }

    /// The idle phase counts only with every monitor under way.
    fn await_first_samples(&mut self) -> Result<Option<Ending>> {
        let begun = self.setting.clock.now();
        while let Some(waiting) = self.monitors.iter().position(|m| m.stdout.bytes == 0) {
            self.turn()?;
            if self.setting.cancel.is_cancelled() {
                return Ok(Some(Ending::Interrupted));
            }
            let Some(monitor) = self.monitors.get(waiting) else {
                break;
            };
            let late = self.setting.clock.now() - begun > FIRST_SAMPLE;
            if monitor.stdout.bytes == 0 && (late || monitor.exit.is_some()) {
                let said = said::last_line(monitor.stderr.tail()).unwrap_or_default();
                let reason = format!("the monitor {} gave no sample: {said}", monitor.name);
                return Ok(Some(Ending::Failed(reason)));
            }
        }
        Ok(None)
    }

    fn start_workload(&mut self) -> Result<()> {
        let slot = self.setting.slot;
        let stdout = slot.open_raw("workload-stdout", "workload.stdout")?;
        let stderr = slot.open_raw("workload-stderr", "workload.stderr")?;
        let script = workload::marked_script(self.planned, self.setting.experiment, &self.token);
        let running = self.setting.host.spawn(&script)?;
        self.remains.groups.push(running.group());
        self.remains.workload = Some(running.group());
        let (stdout, stderr) = (
            Output::into_file(stdout, WORDS_LIMIT_BYTES),
            Output::into_file(stderr, WORDS_LIMIT_BYTES),
        );
        self.workload = Some(Stream::new("workload", running, stdout, stderr));
        Ok(())
    }

    fn await_end(&mut self) -> Result<Option<Ending>> {
        let experiment = self.setting.experiment;
        let limit = experiment.idle
            + workload::deadline(&experiment.workload)
            + 2 * self.remains.grace
            + experiment.settle
            + LATE;
        let begun = self.setting.clock.now();
        let mut over = None;
        while self.workload.as_ref().is_some_and(|w| w.exit.is_none()) {
            self.turn()?;
            if self.timeline.is_over() {
                // Something that left the process group may hold the output open; `clean_up` sees to it.
                let since = *over.get_or_insert(self.setting.clock.now());
                if self.setting.clock.now() - since > GRACE / 4 {
                    break;
                }
            }
            if self.setting.cancel.is_cancelled() {
                return Ok(Some(Ending::Interrupted));
            }
            if self.setting.clock.now() - begun > limit {
                let reason = format!(
                    "the host did not end the trial within {} s",
                    limit.as_secs()
                );
                return Ok(Some(Ending::Failed(reason)));
            }
        }
        Ok(None)
    }

    /// Takes what came from every stream, and tells the record and the user of what it says.
    /// When one stream fails, what the others have is still taken.
    fn turn(&mut self) -> Result<()> {
        let before = self.samples();
        let mut result = Ok(());
        for (monitor, sampled) in self.monitors.iter_mut().zip(&mut self.sampled) {
            result = result.and(monitor.take(POLL, |bytes| sampled.feed(bytes)));
        }
        let mut found = Vec::new();
        if let Some(workload) = &mut self.workload {
            result = result.and(workload.take(POLL, |bytes| found.extend(self.marks.feed(bytes))));
        }
        let (host, trial) = (self.setting.host.name(), self.planned.id.as_str());
        for mark in found {
            if let Some(phase) = self.timeline.take(mark) {
                self.setting
                    .progress
                    .update(Update::PhaseStarted { host, trial, phase });
            }
            self.remains.report.clone_from(&self.timeline.report);
            let (phases, start) = (self.timeline.phases(), self.timeline.start);
            result = result.and(self.setting.slot.update(|trial| {
                trial.phases = phases;
                trial.start_boottime_s = start;
            }));
        }
        let samples = self.samples();
        if samples > before {
            self.setting.progress.update(Update::Sampled {
                host,
                trial,
                samples,
            });
        }
        result
    }

    /// How many samples the monitor of `/proc/meminfo` has by now.
    fn samples(&self) -> u64 {
        let monitors = self.monitors.iter().zip(&self.sampled);
        monitors
            .filter(|(monitor, _)| monitor.name == MonitorKind::Meminfo.name())
            .map(|(_, sampled)| sampled.count)
            .sum()
    }

    fn verdict(&self) -> Ending {
        let Some(workload) = &self.workload else {
            return Ending::Failed("the workload was not started".to_owned());
        };
        let said = || match said::last_line(workload.stderr.tail()) {
            Some(line) => format!("; it said: {line}"),
            None => String::new(),
        };
        let deadline = workload::deadline(&self.setting.experiment.workload);
        let Some(code) = self.timeline.code else {
            let how = match workload.exit {
                Some(Exit::Code(code)) => format!("exit code {code}"),
                Some(Exit::Signal(signal)) => format!("signal {signal}"),
                None => "no end".to_owned(),
            };
            return Ending::Failed(format!(
                "the workload's shell ended early with {how}{}",
                said()
            ));
        };
        // The watchdog counts from the script's begin, so the workload's own time is a little less.
        // A workload may end with 0 over it, as stress-ng does.
        let ended_by_watchdog = |ran_s: f64| ran_s + 1.0 >= deadline.as_secs_f64();
        if self.timeline.workload_s().is_some_and(ended_by_watchdog) {
            return Ending::Failed(format!(
                "the workload was ended at its deadline of {} s",
                deadline.as_secs()
            ));
        }
        let output = [workload.stderr.tail(), workload.stdout.tail()].concat();
        let output = String::from_utf8_lossy(&output);
        let kind = &self.setting.experiment.workload;
        match workload::failure(kind, code, &output) {
            Some(reason) => Ending::Failed(reason),
            // The script ends its phases by itself, unless a signal meets it; some workloads end with 0 over one.
            None if code == 0 && !self.timeline.is_over() => Ending::Failed(
                "the workload was ended early, by a signal that is not ktrial's".to_owned(),
            ),
            None if code == 0 => Ending::Complete,
            None => Ending::Failed(format!(
                "the workload ended with exit code {code}{}",
                said()
            )),
        }
    }

    /// What the report says of success; the record is told of stressors that did nothing.
    fn read_report(&self, report: Option<&[u8]>) -> Result<Ending> {
        if self.setting.experiment.workload.kind != WorkloadKind::StressNg {
            return Ok(Ending::Complete);
        }
        let idle = match workload::stress_ng::idle_stressors(report.unwrap_or_default()) {
            Ok(idle) => idle,
            Err(reason) => return Ok(Ending::Failed(reason)),
        };
        if !idle.is_empty() {
            let note = format!(
                "stress-ng did not finish one operation of: {}",
                idle.join(", ")
            );
            self.setting.slot.update(|trial| trial.notes.push(note))?;
        }
        Ok(Ending::Complete)
    }

    /// stress-ng's YAML, from the file that its script named.
    fn fetch_report(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(report) = self.timeline.report.clone() else {
            return Ok(None);
        };
        let word = workload::quote(std::slice::from_ref(&report));
        let script = format!("[ ! -f {word} ] || head -c {REPORT_LIMIT_BYTES} {word}");
        let output = self.setting.host.exec(&script, SHORT)?;
        let mut file = self
            .setting
            .slot
            .open_raw("stress-ng-yaml", "stress-ng.yaml")?;
        std::io::Write::write_all(&mut file, &output.stdout).map_err(|e| {
            Error::new(ErrorKind::Io, "cannot write the workload's report").because(e)
        })?;
        Ok(Some(output.stdout))
    }

    /// Ends what still runs on the host: the workload gently, then the monitors, then what left the workload's group;
    /// removes the report, and looks at the settings. Each is done even when the one before failed: a full disk must
    /// leave nothing on the host. Over a broken connection nothing more can be done: whoever connects again does it.
    fn clean_up(&mut self) -> Result<()> {
        let mut result = Ok(());
        let (gently, grace) = (["INT", "TERM", "KILL"], self.remains.grace);
        let ended = self.end(&gently, grace, |trial| trial.workload.as_slice());
        keep_first(&mut result, ended)?;
        let ended = self.end(&["TERM", "KILL"], GRACE / 2, |trial| &trial.monitors);
        keep_first(&mut result, ended)?;
        let streams = self.monitors.iter().chain(&self.workload);
        let running = streams.filter(|s| s.exit.is_none()).map(Stream::group);
        self.remains.groups = running.collect();
        keep_first(&mut result, self.remove_report())?;
        keep_first(&mut result, self.end_survivors())?;
        keep_first(&mut result, self.note_told())?;
        keep_first(&mut result, self.check_settings())?;
        result
    }

    fn remove_report(&mut self) -> Result<()> {
        if let Some(report) = &self.remains.report {
            self.setting.host.exec(&remove(report), SHORT)?;
            self.remains.report = None;
        }
        Ok(())
    }

    /// Ends what left the workload's group, and tells the record of it.
    fn end_survivors(&mut self) -> Result<()> {
        let Some(group) = self.remains.workload else {
            return Ok(());
        };
        let survivors = survivors::end(self.setting.host, self.setting.clock, group)?;
        self.remains.workload = None;
        self.remains.running = survivors.running(&self.planned.id);
        match survivors.note() {
            Some(note) => self.setting.slot.update(|trial| trial.notes.push(note)),
            None => Ok(()),
        }
    }

    /// Puts back what the trial left changed in files of the kernel, and tells the record of it.
    fn check_settings(&mut self) -> Result<()> {
        let Some(guard) = &self.remains.guard else {
            return Ok(());
        };
        let found = guard.check(self.setting.host)?;
        // What could not be ended may change a file again.
        if self.remains.groups.is_empty() {
            self.remains.guard = None;
        }
        self.remains.leaves(found.left);
        if found.notes.is_empty() {
            return Ok(());
        }
        let slot = self.setting.slot;
        slot.update(|trial| trial.notes.extend(found.notes))
    }

    /// Tells the record of what the trial's script itself said, at its very end.
    fn note_told(&self) -> Result<()> {
        let Some(workload) = &self.workload else {
            return Ok(());
        };
        let said = String::from_utf8_lossy(workload.stderr.tail());
        let notes: Vec<String> = module::told(&said).collect();
        if notes.is_empty() {
            return Ok(());
        }
        self.setting.slot.update(|trial| trial.notes.extend(notes))
    }

    /// Ends these streams by one signal after the other, and takes what they say meanwhile.
    fn end(
        &mut self,
        signals: &[&str],
        grace: Duration,
        which: impl Fn(&Self) -> &[Stream],
    ) -> Result<()> {
        let mut result = Ok(());
        for signal in signals {
            let left: Vec<i32> = which(self)
                .iter()
                .filter(|s| s.exit.is_none())
                .map(Stream::group)
                .collect();
            if left.is_empty() {
                break;
            }
            for group in left {
                let sent = host::signal_group(self.setting.host, group, signal);
                keep_first(&mut result, sent)?;
            }
            let begun = self.setting.clock.now();
            while which(self).iter().any(|s| s.exit.is_none())
                && self.setting.clock.now() - begun < grace
            {
                keep_first(&mut result, self.turn())?;
            }
        }
        result
    }

    /// What a reader of the record has to know of the streams; asked while monitors should still run.
    fn note(&self) -> Result<()> {
        let mut notes = Vec::new();
        for monitor in &self.monitors {
            if let Some(line) = said::last_line(monitor.stderr.tail()) {
                notes.push(format!("monitor {} said: {line}", monitor.name));
            }
            if monitor.exit.is_some() {
                notes.push(format!(
                    "monitor {} ended before the trial did",
                    monitor.name
                ));
            }
        }
        if let Some(workload) = self.timeline.workload() {
            for (monitor, sampled) in self.monitors.iter().zip(&self.sampled) {
                if !sampled.any_in(&workload) {
                    notes.push(format!(
                        "monitor {}: no sample lies in the workload phase of {:.2} s",
                        monitor.name,
                        workload.end() - workload.start()
                    ));
                }
            }
        }
        for stream in self.monitors.iter().chain(&self.workload) {
            for (output, word) in [(&stream.stdout, "stdout"), (&stream.stderr, "stderr")] {
                if let Some(cut) = output.cut() {
                    notes.push(format!("{} {word}: {cut}", stream.name));
                }
            }
        }
        if notes.is_empty() {
            return Ok(());
        }
        self.setting.slot.update(|trial| trial.notes.extend(notes))
    }
}

/// Keeps the first failure of several steps that are all to be done; a broken connection is given back at once.
fn keep_first(first: &mut Result<()>, next: Result<()>) -> Result<()> {
    match next {
        Err(error) if error.kind() == ErrorKind::HostTransient => Err(error),
        next => {
            if first.is_ok() {
                *first = next;
            }
            Ok(())
        }
    }
}
