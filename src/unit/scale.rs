//! The one unit and the digits in which the numbers of a comparison are written, wherever they stand.

use super::{Unit, decimals, is_written_out, significant};

/// Most significant digits of a mean.
const MOST_DIGITS: i32 = 8;

/// Unit and digits of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// The unit in which the larger mean reads best, or the difference when that takes few digits.
    pub unit: Unit,
    /// What numbers are multiplied by to stand in it.
    pub factor: f64,
    /// Least decimals of a mean.
    decimals: usize,
}

impl Scale {
    /// For means and their difference in `unit`. Means get so many digits that the difference of the printed ones
    /// has at least two significant digits of the difference, as far as eight digits allow.
    pub fn new(unit: &Unit, means: [Option<f64>; 2], difference: Option<f64>) -> Scale {
        let difference = difference.map_or(0.0, f64::abs);
        let size = |mean: Option<f64>| mean.map_or(0.0, f64::abs);
        let larger = match means.map(size).into_iter().fold(0.0, f64::max) {
            0.0 => difference,
            larger => larger,
        };
        let shown = unit_for(unit, larger, difference);
        let factor = unit.factor_to(&shown).unwrap_or(1.0);
        let (larger, difference) = (larger * factor, difference * factor);
        let needed = decimals(difference, 2).min(decimals(larger, MOST_DIGITS));
        Scale {
            unit: shown,
            factor,
            decimals: needed.max(decimals(larger, 3)),
        }
    }

    /// A mean, without its unit.
    pub fn mean(&self, value: f64) -> String {
        let value = value * self.factor;
        if !is_written_out(value) {
            return significant(value);
        }
        let digits = decimals(value, 3).max(self.decimals);
        format!("{value:.digits$}")
    }

    /// A difference or a shift, without its unit.
    pub fn difference(&self, value: f64) -> String {
        significant(value * self.factor)
    }

    /// As [`Scale::difference`], with a plus sign on positive numbers.
    pub fn signed(&self, value: f64) -> String {
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{sign}{}", self.difference(value))
    }

    /// `-1.64 to -0.541`.
    pub fn span(&self, (low, high): (f64, f64)) -> String {
        format!("{} to {}", self.difference(low), self.difference(high))
    }

    /// A number written by this scale, with the unit.
    pub fn with_unit(&self, number: &str) -> String {
        self.unit.after(number)
    }
}

/// A difference below one of the means' unit is read in its own, `9208 ms, -280 ms`, while the means stay below
/// 10000 there; larger ones keep theirs, `30.21 s, -0.140 s`.
fn unit_for(unit: &Unit, larger: f64, difference: f64) -> Unit {
    let (coarse, fine) = (unit.scaled_for(larger), unit.scaled_for(difference));
    let in_fine = unit.factor_to(&fine).map(|factor| larger * factor);
    match in_fine {
        Some(size) if difference > 0.0 && difference < larger && size < 1e4 => fine,
        _ => coarse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn means_show_their_difference_and_share_a_unit() {
        let scale = Scale::new(&Unit::Second, [Some(10.25), Some(10.21)], Some(-0.04));
        assert_eq!(
            (scale.mean(10.25), scale.mean(10.21)),
            ("10.250".into(), "10.210".into())
        );
        assert_eq!(scale.with_unit(&scale.signed(-0.04)), "-0.0400 s");
        assert_eq!(scale.span((-0.0541, -0.0259)), "-0.0541 to -0.0259");

        let gib = 1024.0 * 1024.0;
        let scale = Scale::new(
            &Unit::KiB,
            [Some(3.0 * gib), Some(2.5 * gib)],
            Some(-0.5 * gib),
        );
        assert_eq!(scale.unit, Unit::MiB);
        assert_eq!(scale.mean(3.0 * gib), "3072");
        assert_eq!(scale.signed(-0.5 * gib), "-512");
    }

    #[test]
    fn digits_are_bounded() {
        let scale = Scale::new(&Unit::None, [Some(10.0), Some(10.0)], Some(1e-12));
        assert_eq!(scale.mean(10.0), "10.000000");
        for difference in [None, Some(0.0), Some(f64::INFINITY), Some(f64::NAN)] {
            let scale = Scale::new(&Unit::None, [Some(528732.0), None], difference);
            assert_eq!(scale.mean(528732.0), "528732");
        }
    }

    proptest! {
        #[test]
        fn printed_means_differ_as_the_difference_does(a in 0.01..1e6f64, share in 1e-5..2.0f64) {
            let b = a * (1.0 + share);
            let scale = Scale::new(&Unit::None, [Some(a), Some(b)], Some(b - a));
            let read = |text: String| text.parse::<f64>().unwrap();
            let printed = read(scale.mean(b)) - read(scale.mean(a));
            // Each mean is off by half of the second digit at most.
            prop_assert!((printed - (b - a)).abs() <= 0.11 * (b - a), "{printed} of {}", b - a);
        }
    }
}
