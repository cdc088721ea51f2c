//! A trial's phases, from its supervisor's events.

use std::ops::RangeInclusive;

use crate::series::{Phase, PhaseSpan};

/// Times of the phases' ends, seconds of the host's CLOCK_BOOTTIME. Each counts once, as it came first.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    idle: Option<f64>,
    /// Zero of the trial's time line.
    pub(super) start: Option<f64>,
    end: Option<f64>,
    settled: Option<f64>,
    /// The workload's exit code, as a shell gives it.
    pub(super) code: Option<i32>,
}

impl Timeline {
    /// The idle phase begins.
    pub(super) fn idle(&mut self, at: f64) -> Option<Phase> {
        first(&mut self.idle, at, Phase::Idle)
    }

    /// The workload begins.
    pub(super) fn start(&mut self, at: f64) -> Option<Phase> {
        first(&mut self.start, at, Phase::Workload)
    }

    /// The workload ended with this code.
    pub(super) fn end(&mut self, at: f64, code: i32) -> Option<Phase> {
        self.code.get_or_insert(code);
        first(&mut self.end, at, Phase::Settle)
    }

    /// The settle phase is over.
    pub(super) fn settled(&mut self, at: f64) {
        self.settled.get_or_insert(at);
    }

    /// The workload phase, once it is over.
    pub(super) fn workload(&self) -> Option<RangeInclusive<f64>> {
        Some(self.start?..=self.end?)
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
                start_s: micro(from? - zero),
                end_s: micro(to? - zero),
            })
        })
        .collect()
    }
}

fn first(place: &mut Option<f64>, at: f64, phase: Phase) -> Option<Phase> {
    let is_first = place.is_none();
    place.get_or_insert(at);
    is_first.then_some(phase)
}

/// Supervisors tell microseconds; a difference of two such numbers has no more.
fn micro(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_relative_to_the_start_and_only_those_that_ended() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.phases(), []);
        assert_eq!(timeline.idle(100.1), Some(Phase::Idle));
        assert_eq!(timeline.start(102.4), Some(Phase::Workload));
        assert_eq!(timeline.start(103.0), None);
        let idle = PhaseSpan {
            phase: Phase::Idle,
            start_s: -2.3,
            end_s: 0.0,
        };
        assert_eq!(timeline.phases(), [idle]);
        timeline.end(105.0, 0);
        timeline.settled(106.0);
        assert_eq!(timeline.phases().len(), 3);
        assert_eq!(timeline.phases()[2].end_s, 3.6);
    }
}
