//! Time series: every trial, the median of each condition, phases. Prepared here, drawn by [`scene`] and [`text`].

mod curve;
pub(super) mod scene;
pub(super) mod text;

use self::curve::{Condition, Peak};
use super::axis::{extent, readable_time, readable_unit, widened};
use super::{Head, Line, label};
use crate::series::PhaseSpan;
use crate::unit::Unit;

/// Conditions' workloads that end further apart than this share of the figure's time each have their own end drawn.
const ENDS_APART: f64 = 0.03;

/// What is drawn, in the figure's own unit and in seconds, with the units in which it is shown.
#[derive(Debug)]
struct TimeSeries {
    conditions: Vec<Condition>,
    phases: Vec<PhaseSpan>,
    /// Whether the conditions' workloads end at different times.
    ends_apart: bool,
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
        let ends_s = conditions.iter().filter_map(Condition::workload_end_s);
        let apart_s = extent(ends_s).map_or(0.0, |(first, last)| last - first);
        let ends_apart = apart_s > ENDS_APART * (time_s.1 - time_s.0);
        let phases = match ends_apart {
            true => curve::common_phases(lines, &conditions),
            false => curve::phases(lines.iter()),
        };
        Some(TimeSeries {
            phases,
            ends_apart,
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

    /// When a condition's workload ends, in s, where the conditions differ in that and it is seen.
    fn own_end_s(&self, condition: &Condition) -> Option<f64> {
        let (start, end) = self.time_s;
        let own = condition.workload_end_s().filter(|_| self.ends_apart)?;
        (start..=end).contains(&own).then_some(own)
    }

    /// What the highest sample is called: a peak, as the summaries' one, when it is the workload's.
    fn peak_word(&self) -> &'static str {
        match self.conditions.iter().any(Condition::knows_workload) {
            true => "peak",
            false => "highest",
        }
    }

    /// What is marked, in the words of a key.
    fn peak_meaning(&self) -> &'static str {
        match self.conditions.iter().any(Condition::knows_workload) {
            true => "highest sample of each condition's workload",
            false => "highest sample of each condition",
        }
    }

    /// `n = 4 trials, peak 516 MiB`, and where the conditions differ in it the workload's end.
    fn said(&self, condition: &Condition) -> String {
        self.said_with(condition, |_| String::new())
    }

    /// As [`TimeSeries::said`], with more words on the peak.
    fn said_with(&self, condition: &Condition, more: impl Fn(&Peak) -> String) -> String {
        let count = condition.trials.len();
        let trials = if count == 1 { "trial" } else { "trials" };
        let peak = condition.peak().map_or(String::new(), |peak| {
            let value = self.unit.show(peak.value);
            format!(", {} {value}{}", self.peak_word(), more(&peak))
        });
        let end = self.own_end_s(condition).map_or(String::new(), |end| {
            let (end, unit) = (end * self.time_factor, self.time_unit);
            format!(", workload ends at {end:.1} {unit}")
        });
        format!("n = {count} {trials}{peak}{end}")
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
            let said = self.said_with(condition, |peak| {
                format!(" at {:.1} s in {}", peak.time_s, label::clean(&peak.trial))
            });
            words.push_str(&format!(" {}: {said}.", label::clean(&condition.name)));
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
