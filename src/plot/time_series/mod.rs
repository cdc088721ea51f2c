//! Time series: every trial, the median of each condition, phases. Prepared here, drawn by [`scene`] and [`text`].

mod curve;
pub(super) mod scene;
pub(super) mod text;

use self::curve::Condition;
use super::axis::{extent, readable_time, readable_unit, widened};
use super::{Head, Line};
use crate::series::PhaseSpan;
use crate::unit::Unit;

/// What is drawn, in the figure's own unit and in seconds, with the units in which it is shown.
#[derive(Debug)]
struct TimeSeries {
    conditions: Vec<Condition>,
    phases: Vec<PhaseSpan>,
    time_s: (f64, f64),
    values: (f64, f64),
    unit: Unit,
    shown: Unit,
    factor: f64,
    time_unit: &'static str,
    time_factor: f64,
}

impl TimeSeries {
    /// None when no line has a sample.
    fn new(unit: &Unit, lines: &[Line]) -> Option<TimeSeries> {
        let conditions = curve::conditions(lines);
        let samples = || conditions.iter().flat_map(Condition::samples);
        let values = extent(samples().map(|sample| sample.1))?;
        let (start, end) = extent(samples().map(|sample| sample.0))?;
        let time_s = with_room(start, end);
        let (shown, factor) = readable_unit(unit, values);
        let (time_unit, time_factor) = readable_time(time_s.1 - time_s.0);
        Some(TimeSeries {
            phases: curve::phases(lines),
            conditions,
            time_s,
            values,
            unit: unit.clone(),
            shown,
            factor,
            time_unit,
            time_factor,
        })
    }

    /// The range of the vertical axis, in the shown unit.
    fn shown_values(&self) -> (f64, f64) {
        widened(
            (self.values.0 * self.factor, self.values.1 * self.factor),
            0.06,
        )
    }

    /// The range of the horizontal axis, in the shown unit of time.
    fn shown_time(&self) -> (f64, f64) {
        (
            self.time_s.0 * self.time_factor,
            self.time_s.1 * self.time_factor,
        )
    }

    /// Evenly spaced times over the figure.
    fn grid(&self, count: usize) -> Vec<f64> {
        let (start, end) = self.time_s;
        (0..count)
            .map(|i| start + (end - start) * i as f64 / (count.max(2) - 1) as f64)
            .collect()
    }

    /// The phases that are seen, cut at the figure's ends, in seconds.
    fn visible_phases(&self) -> impl Iterator<Item = PhaseSpan> + '_ {
        self.phases.iter().filter_map(|span| {
            let start_s = span.start_s.max(self.time_s.0);
            let end_s = span.end_s.min(self.time_s.1);
            (start_s < end_s).then_some(PhaseSpan {
                start_s,
                end_s,
                ..*span
            })
        })
    }

    fn time_name(&self) -> String {
        let since = if self.phases.is_empty() {
            "time"
        } else {
            "time since the workload's start"
        };
        format!("{since}, {}", self.time_unit)
    }

    /// `n = 4 trials, highest 516 MiB`.
    fn said(&self, condition: &Condition) -> String {
        let count = condition.trials.len();
        let trials = if count == 1 { "trial" } else { "trials" };
        let highest = condition.highest();
        let highest = highest.map_or(String::new(), |highest| {
            format!(", highest {}", self.unit.show(highest.value))
        });
        format!("n = {count} {trials}{highest}")
    }

    /// The figure in words.
    fn description(&self, head: &Head) -> String {
        let (start, end) = self.shown_time();
        let mut words = format!(
            "Time series of {}, {:.1} to {:.1} {}.",
            head.quantity(&self.shown),
            start,
            end,
            self.time_unit
        );
        for condition in &self.conditions {
            let at = condition.highest().map_or(String::new(), |highest| {
                format!(
                    " at {:.1} s in {}",
                    highest.time_s,
                    super::label::clean(&highest.trial)
                )
            });
            let name = super::label::clean(&condition.name);
            words.push_str(&format!(" {name}: {}{at}.", self.said(condition)));
        }
        for span in &self.phases {
            let name = curve::phase_name(span.phase);
            words.push_str(&format!(
                " Phase {name}: {:.1} to {:.1} s.",
                span.start_s, span.end_s
            ));
        }
        words
    }
}

/// The times, a second more at both ends when they are (nearly) one.
fn with_room(start: f64, end: f64) -> (f64, f64) {
    let size = start.abs().max(end.abs());
    if end - start > size * 1e-12 {
        return (start, end);
    }
    let room = (size * 1e-9).max(1.0);
    (start - room, end + room)
}
