//! Axes: a range, ticks at 1, 2 or 5 times a power of ten, and the unit in which they read best.

use crate::unit::Unit;

/// A value that can be drawn: finite, and small enough that spans and unit factors stay finite.
pub(super) fn drawable(value: f64) -> bool {
    value.abs() <= 1e290
}

/// A range with its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<Tick>,
}

/// A place on an axis and its number as text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub at: f64,
    pub label: String,
}

impl Axis {
    /// The axis over `low` to `high`, with at most about `most` ticks.
    pub fn new(low: f64, high: f64, most: usize) -> Axis {
        let step = step(high - low, most);
        let first = (low / step).ceil();
        let last = (high / step).floor();
        let count = if (last - first).is_finite() {
            (last - first + 1.0).clamp(0.0, 100.0) as usize
        } else {
            0
        };
        let ticks = (0..count)
            .map(|i| (first + i as f64) * step)
            .map(|at| Tick {
                at,
                label: number(at, step),
            })
            .collect();
        Axis { low, high, ticks }
    }

    /// Where a value stands: 0 at the low end, 1 at the high end.
    pub fn place(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// The smallest of 1, 2, 5 times a power of ten that divides `span` into at most `most` steps.
fn step(span: f64, most: usize) -> f64 {
    let rough = span / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0]
        .iter()
        .map(|factor| factor * power)
        .find(|&step| step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// A tick's number with as many digits as the step needs; an exponent only where digits do not help.
fn number(at: f64, step: f64) -> String {
    let digits = -step.log10().floor();
    if at == 0.0 || at.abs() < step / 2.0 {
        "0".into()
    } else if digits > 6.0 || at.abs() >= 1e12 {
        format!("{at:.3e}")
    } else {
        format!("{at:.*}", digits.max(0.0) as usize)
    }
}

/// Smallest and largest of the drawable values.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|&value| drawable(value))
        .fold(None, |extent, value| match extent {
            None => Some((value, value)),
            Some((low, high)) => Some((low.min(value), high.max(value))),
        })
}

/// The range widened by `share` of itself at both ends, so that no value lies on the frame.
/// Equal values get a range of a tenth of their size, or 2 round zero.
pub(super) fn widened((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let span = high - low;
    if span <= size * 1e-9 || span < 1e-290 {
        let half = if size < 1e-280 { 1.0 } else { size * 0.05 };
        return (low - half, high + half);
    }
    let room = span * share;
    // Nothing that is never negative gets an axis that begins below zero.
    let bottom = if low >= 0.0 {
        (low - room).max(0.0)
    } else {
        low - room
    };
    (bottom, high + room)
}

/// The unit in which values up to the larger end read best, and the factor to it.
pub(super) fn readable_unit(unit: &Unit, (low, high): (f64, f64)) -> (Unit, f64) {
    let shown = unit.scaled_for(low.abs().max(high.abs()));
    let factor = unit.factor_to(&shown).unwrap_or(1.0);
    (shown, factor)
}

/// The word for the time axis and what a second is in it: seconds, minutes or hours by the span.
pub(super) fn readable_time(span_s: f64) -> (&'static str, f64) {
    if span_s > 4.0 * 3600.0 {
        ("h", 1.0 / 3600.0)
    } else if span_s > 600.0 {
        ("min", 1.0 / 60.0)
    } else {
        ("s", 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(low: f64, high: f64, most: usize) -> Vec<String> {
        let axis = Axis::new(low, high, most);
        axis.ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(0.0, 40.0, 8),
            ["0", "5", "10", "15", "20", "25", "30", "35", "40"]
        );
        assert_eq!(labels(417.2, 531.0, 5), ["450", "500"]);
        assert_eq!(
            labels(-0.2, 1.0, 6),
            ["-0.2", "0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(1e13, 2e13, 2), ["1.000e13", "1.500e13", "2.000e13"]);
    }

    #[test]
    fn equal_values_get_a_range() {
        assert_eq!(widened((0.0, 0.0), 0.05), (-1.0, 1.0));
        assert_eq!(widened((100.0, 100.0), 0.05), (95.0, 105.0));
        assert_eq!(widened((1.0, 11.0), 0.5), (0.0, 16.0));
    }

    #[test]
    fn units_that_read_best() {
        let (unit, factor) = readable_unit(&Unit::KiB, (0.0, 528732.0));
        assert_eq!((unit, factor), (Unit::MiB, 1.0 / 1024.0));
        assert_eq!(readable_time(40.0).0, "s");
        assert_eq!(readable_time(1800.0).0, "min");
    }

    proptest! {
        #[test]
        fn any_range_has_few_ticks_within(a in -1e290..1e290f64, b in -1e290..1e290f64, exponent in -300..0i32) {
            let small = 10f64.powi(exponent);
            for (low, high) in [(a, b), (a * small, b * small)] {
                let (low, high) = widened((low.min(high), high.max(low)), 0.05);
                prop_assert!(low < high);
                let axis = Axis::new(low, high, 6);
                prop_assert!(axis.ticks.len() <= 8, "{axis:?}");
                for tick in &axis.ticks {
                    prop_assert!(tick.at >= low - (high - low) * 1e-6 && tick.at <= high + (high - low) * 1e-6);
                    prop_assert!(tick.label.len() <= 14, "{}", tick.label);
                }
            }
        }
    }
}
