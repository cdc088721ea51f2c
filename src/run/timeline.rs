//! A trial's phases, from the marks that its workload's script wrote.

use std::ops::RangeInclusive;

use crate::series::{Phase, PhaseSpan};
use crate::workload::Mark;

/// Times of the phases' ends, seconds of the host's CLOCK_BOOTTIME.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    idle: Option<f64>,
    /// Zero of the trial's time line.
    pub(super) start: Option<f64>,
    end: Option<f64>,
    settled: Option<f64>,
    /// The workload's exit code, as a shell gives it.
    pub(super) code: Option<i32>,
    /// Where the workload's own report is on the host.
    pub(super) report: Option<String>,
}

impl Timeline {
    /// Takes a mark; gives the phase that it begins.
    pub(super) fn take(&mut self, mark: Mark) -> Option<Phase> {
        match mark {
            Mark::Report(path) => {
                self.report = Some(path);
                None
            }
            Mark::Idle(at) => {
                self.idle = Some(at);
                Some(Phase::Idle)
            }
            Mark::Start(at) => {
                self.start = Some(at);
                Some(Phase::Workload)
            }
            Mark::End(at, code) => {
                self.end = Some(at);
                self.code = Some(code);
                Some(Phase::Settle)
            }
            Mark::Settled(at) => {
                self.settled = Some(at);
                None
            }
        }
    }

    /// Whether the script has nothing more to say.
    pub(super) fn is_over(&self) -> bool {
        self.settled.is_some()
    }

    /// The workload phase, once it is over.
    pub(super) fn workload(&self) -> Option<RangeInclusive<f64>> {
        Some(self.start?..=self.end?)
    }

    /// How long the workload ran, once it ended.
    pub(super) fn workload_s(&self) -> Option<f64> {
        Some(self.end? - self.start?)
    }

    /// The phases that are over, in seconds since the workload's start.
    pub(super) fn phases(&self) -> Vec<PhaseSpan> {
        let Some(zero) = self.start else {
            return Vec::new();
        };
        [
            (Phase::Idle, self.idle, self.start),
            (Phase::Workload, self.start, self.end),
            (Phase::Settle, self.end, self.settled),
        ]
        .into_iter()
        .filter_map(|(phase, from, to)| {
            Some(PhaseSpan {
                phase,
                start_s: hundredths(from? - zero),
                end_s: hundredths(to? - zero),
            })
        })
        .collect()
    }
}

/// `/proc/uptime` has two digits; a difference of two such numbers has no more.
fn hundredths(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_relative_to_the_start_and_only_those_that_ended() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.phases(), []);
        assert_eq!(timeline.take(Mark::Idle(100.1)), Some(Phase::Idle));
        assert_eq!(timeline.take(Mark::Start(102.4)), Some(Phase::Workload));
        let idle = PhaseSpan {
            phase: Phase::Idle,
            start_s: -2.3,
            end_s: 0.0,
        };
        assert_eq!(timeline.phases(), [idle]);
        timeline.take(Mark::End(105.0, 0));
        timeline.take(Mark::Settled(106.0));
        assert_eq!(timeline.phases().len(), 3);
        assert_eq!(timeline.phases()[2].end_s, 3.6);
    }
}
