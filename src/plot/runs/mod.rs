//! Runs: one value each, a strip a condition, and the difference of means with its interval.
//! Prepared here, drawn by [`scene`] and [`text`].

pub(super) mod scene;
pub(super) mod text;

use super::axis::{drawable, extent};
use super::{Group, Head, Interval, label};
use crate::unit::{Scale, Unit};

/// What is drawn, in the figure's own unit, with the unit in which it is shown.
#[derive(Debug)]
struct Runs {
    strips: Vec<Strip>,
    difference: Option<Difference>,
    /// Every value and mean.
    values: (f64, f64),
    /// The unit in which it is shown and the digits of its means, as in the report.
    scale: Scale,
}

/// The runs of one condition.
#[derive(Debug)]
struct Strip {
    name: String,
    values: Vec<f64>,
    mean: f64,
}

/// The second strip's mean minus the first one's.
#[derive(Debug)]
struct Difference {
    /// `after - before`.
    name: String,
    /// Mean of the first strip: where the difference is zero.
    reference: f64,
    interval: Interval,
}

impl Runs {
    /// None when no group has a value.
    fn new(unit: &Unit, groups: &[Group], interval: Option<Interval>) -> Option<Runs> {
        let strips: Vec<Strip> = groups.iter().filter_map(Strip::new).collect();
        let values = extent(strips.iter().flat_map(|strip| &strip.values).copied())?;
        let mut means = strips.iter().map(|strip| strip.mean);
        let means = [means.next(), means.next()];
        let scale = Scale::new(unit, means, interval.map(|interval| interval.difference));
        Some(Runs {
            difference: interval.and_then(|interval| Difference::new(&strips, interval)),
            strips,
            values,
            scale,
        })
    }

    /// The figure in words.
    fn description(&self, head: &Head) -> String {
        let mut words = format!("Runs of {}.", head.quantity(&self.scale.unit));
        for strip in &self.strips {
            words.push_str(&format!(" {}: {}.", strip.name, self.said(strip)));
        }
        if let Some(difference) = &self.difference {
            words.push_str(&format!(" {}.", self.said_difference(difference)));
        }
        words
    }

    /// `n = 4 runs, mean 5.79 s`.
    fn said(&self, strip: &Strip) -> String {
        let count = strip.values.len();
        let runs = if count == 1 { "run" } else { "runs" };
        format!("n = {count} {runs}, mean {}", self.mean(strip))
    }

    /// `5.79 s`.
    fn mean(&self, strip: &Strip) -> String {
        self.scale.with_unit(&self.scale.mean(strip.mean))
    }

    /// `after - before: -1.09 s, 95 % interval -1.63 s to -0.539 s`.
    fn said_difference(&self, difference: &Difference) -> String {
        let Interval {
            difference: value,
            low,
            high,
        } = difference.interval;
        let [value, low, high] =
            [value, low, high].map(|value| self.scale.with_unit(&self.scale.signed(value)));
        format!(
            "{}: {value}, 95 % interval {low} to {high}",
            difference.name
        )
    }
}

impl Strip {
    fn new(group: &Group) -> Option<Strip> {
        let values: Vec<f64> = group
            .values
            .iter()
            .copied()
            .filter(|&value| drawable(value))
            .collect();
        let count = values.len() as f64;
        // Divided before summing: the sum of large values stays finite.
        let mean = values.iter().map(|value| value / count).sum();
        (!values.is_empty()).then(|| Strip {
            name: label::clean(&group.condition),
            values,
            mean,
        })
    }
}

impl Difference {
    fn new(strips: &[Strip], interval: Interval) -> Option<Difference> {
        let [first, second, ..] = strips else {
            return None;
        };
        let known = [interval.difference, interval.low, interval.high]
            .into_iter()
            .all(drawable);
        known.then(|| Difference {
            name: format!("{} - {}", second.name, first.name),
            reference: first.mean,
            interval,
        })
    }
}
