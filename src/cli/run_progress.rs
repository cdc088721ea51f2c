//! A run's progress on standard error: bars on a terminal, lines elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::tell;
use crate::record::State;
use crate::run::{Progress, Update};
use crate::series::Phase;

const HOST_BAR: &str = "{prefix:>12.bold} [{bar:30}] {pos:>4}/{len} s  {msg}";
const RUN_BAR: &str = "{prefix:>12.bold} [{bar:30}] {pos:>4}/{len} trials, {elapsed} gone";

/// One bar a host and one for the run.
#[derive(Default)]
pub(super) struct Bars {
    group: MultiProgress,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    run: Option<ProgressBar>,
    hosts: BTreeMap<String, HostBar>,
}

struct HostBar {
    bar: ProgressBar,
    begun: Instant,
    phase: Option<Phase>,
    samples: u64,
}

impl HostBar {
    fn show(&self, trial: &str) {
        let phase = self.phase.map_or("starting", phase_word);
        self.bar.set_position(self.begun.elapsed().as_secs());
        self.bar
            .set_message(format!("{trial} {phase}, {} samples", self.samples));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Workload => "workload",
        Phase::Settle => "settle",
    }
}

impl Inner {
    fn host(&mut self, group: &MultiProgress, name: &str, planned: Duration) {
        let bar = self
            .hosts
            .entry(name.to_owned())
            .or_insert_with(|| HostBar {
                bar: group
                    .insert(0, ProgressBar::new(0))
                    .with_style(style(HOST_BAR))
                    .with_prefix(name.to_owned()),
                begun: Instant::now(),
                phase: None,
                samples: 0,
            });
        bar.bar.set_length(planned.as_secs());
        bar.begun = Instant::now();
        bar.phase = None;
        bar.samples = 0;
    }
}

impl Progress for Bars {
    fn update(&self, update: Update<'_>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match update {
            Update::RunStarted { record, trials, .. } => {
                let _ = self.group.println(started(record, trials));
                inner.run = Some(
                    self.group
                        .add(ProgressBar::new(trials as u64))
                        .with_style(style(RUN_BAR))
                        .with_prefix("run"),
                );
            }
            Update::LeftOut { host, reason } => {
                let _ = self.group.println(left_out(host, reason));
            }
            Update::TrialStarted {
                host,
                trial,
                planned,
                ..
            }
            | Update::Fetching {
                host,
                trial,
                planned,
                ..
            } => {
                inner.host(&self.group, host, planned);
                if let Some(bar) = inner.hosts.get(host) {
                    bar.show(trial);
                }
            }
            Update::Booting {
                host,
                trial,
                kernel,
            } => {
                if let Some(bar) = inner.hosts.get(host) {
                    bar.bar.set_message(booting(trial, kernel));
                }
            }
            Update::Up {
                host,
                trial,
                kernel,
                took,
            } => {
                if let Some(bar) = inner.hosts.get_mut(host) {
                    bar.begun = Instant::now();
                    bar.bar.set_message(up(trial, kernel, took));
                }
            }
            Update::PhaseStarted { host, trial, phase } => {
                if let Some(bar) = inner.hosts.get_mut(host) {
                    bar.phase = Some(phase);
                    bar.show(trial);
                }
            }
            Update::Sampled {
                host,
                trial,
                samples,
            } => {
                if let Some(bar) = inner.hosts.get_mut(host) {
                    bar.samples = samples;
                    bar.show(trial);
                }
            }
            Update::TrialEnded {
                host,
                trial,
                state,
                reason,
            } => {
                if state != State::Complete {
                    let _ = self.group.println(ended(host, trial, state, reason));
                }
                if let Some(run) = &inner.run {
                    run.inc(1);
                }
            }
            Update::Reconnecting { host, attempt } => {
                if let Some(bar) = inner.hosts.get(host) {
                    bar.bar.set_message(format!("reconnecting, try {attempt}"));
                }
            }
            Update::Reconnected { host } => {
                if let Some(bar) = inner.hosts.get(host) {
                    bar.bar.set_message("reached again, catching up");
                }
            }
            Update::HostDone { host } => {
                if let Some(bar) = inner.hosts.remove(host) {
                    bar.bar.finish_and_clear();
                }
            }
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = &inner.run {
            run.abandon();
        }
    }
}

/// A line for each thing that a log should have.
#[derive(Default)]
pub(super) struct Lines {
    /// The hosts, each with the ids of its trials.
    hosts: Mutex<BTreeMap<String, Vec<String>>>,
}

impl Lines {
    fn hosts(&self) -> MutexGuard<'_, BTreeMap<String, Vec<String>>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which of its host's trials this is: `t03 (2 of 5)`.
    fn place(&self, host: &str, trial: &str) -> String {
        let hosts = self.hosts();
        let place = hosts.get(host).and_then(|trials| {
            let place = trials.iter().position(|id| id == trial)?;
            Some(format!("{trial} ({} of {})", place + 1, trials.len()))
        });
        place.unwrap_or_else(|| trial.to_owned())
    }
}

impl Progress for Lines {
    fn update(&self, update: Update<'_>) {
        match update {
            Update::RunStarted {
                record,
                trials,
                hosts,
            } => {
                *self.hosts() = hosts
                    .iter()
                    .map(|(host, ids)| {
                        let ids = ids.iter().map(|id| (*id).to_owned());
                        ((*host).to_owned(), ids.collect())
                    })
                    .collect();
                tell(&started(record, trials));
            }
            Update::LeftOut { host, reason } => tell(&left_out(host, reason)),
            Update::TrialStarted {
                host,
                trial,
                condition,
                planned,
            } => tell(&format!(
                "{host}: {} {condition}, about {} s",
                self.place(host, trial),
                planned.as_secs()
            )),
            Update::Fetching {
                host,
                trial,
                condition,
                ..
            } => tell(&format!(
                "{host}: fetching {trial} {condition}, which went on without its ktrial"
            )),
            Update::Booting {
                host,
                trial,
                kernel,
            } => tell(&format!("{host}: {}", booting(trial, kernel))),
            Update::Up {
                host,
                trial,
                kernel,
                took,
            } => tell(&format!("{host}: {}", up(trial, kernel, took))),
            Update::TrialEnded {
                host,
                trial,
                state,
                reason,
            } => tell(&ended(host, trial, state, reason)),
            Update::Reconnecting { host, attempt } => {
                tell(&format!("{host}: reconnecting, try {attempt}"));
            }
            Update::Reconnected { host } => tell(&format!("{host}: reached again")),
            Update::PhaseStarted { .. } | Update::Sampled { .. } | Update::HostDone { .. } => {}
        }
    }
}

fn started(record: &std::path::Path, trials: usize) -> String {
    format!("{trials} trials, recorded in {}", record.display())
}

fn left_out(host: &str, reason: &str) -> String {
    format!("{host}: left out: {reason}")
}

fn booting(trial: &str, kernel: Option<&str>) -> String {
    match kernel {
        Some(kernel) => format!("{trial} booting into {kernel}"),
        None => format!("{trial} booting"),
    }
}

fn up(trial: &str, kernel: &str, took: Duration) -> String {
    format!("{trial} up with {kernel} after {} s", took.as_secs())
}

fn ended(host: &str, trial: &str, state: State, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{host}: {trial} {}: {reason}", state.word()),
        None => format!("{host}: {trial} {}", state.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_its_place_among_its_host_s() {
        let lines = Lines::default();
        lines.update(Update::RunStarted {
            record: std::path::Path::new("r"),
            trials: 5,
            hosts: &[("a", vec!["t01", "t03", "t05"]), ("b", vec!["t02", "t04"])].into(),
        });
        assert_eq!(lines.place("a", "t05"), "t05 (3 of 3)");
        assert_eq!(lines.place("b", "t02"), "t02 (1 of 2)");
        assert_eq!(lines.place("c", "t02"), "t02");
    }
}
