//! Units of metrics, and numbers as people write them: `84.2 MiB`, `505 ms`.

mod scale;

pub(crate) use scale::Scale;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The unit of a metric. Memory is in KiB and time in seconds wherever ktrial chooses.
///
/// ```
/// use ktrial::unit::Unit;
/// let kib: Unit = "KiB".parse().unwrap();
/// assert_eq!(kib.show(86216.0), "84.2 MiB");
/// assert_eq!(Unit::Second.show(-1.091), "-1.09 s");
/// assert_eq!(Unit::None.show(86216.0), "86216");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Unit {
    /// Not stated.
    #[default]
    None,
    /// Byte.
    Byte,
    /// 1024 bytes, the unit of `/proc/meminfo` (which writes it `kB`) and `free -k`.
    KiB,
    /// 1024 KiB.
    MiB,
    /// 1024 MiB.
    GiB,
    /// Second.
    Second,
    /// Millisecond.
    Millisecond,
    /// Microsecond.
    Microsecond,
    /// Nanosecond.
    Nanosecond,
    /// Percent.
    Percent,
    /// A number of things.
    Count,
    /// Any other word.
    Other(String),
}

impl Unit {
    /// The symbol, as in columns and JSON; empty when not stated.
    pub fn symbol(&self) -> &str {
        match self {
            Unit::None => "",
            Unit::Byte => "B",
            Unit::KiB => "KiB",
            Unit::MiB => "MiB",
            Unit::GiB => "GiB",
            Unit::Second => "s",
            Unit::Millisecond => "ms",
            Unit::Microsecond => "us",
            Unit::Nanosecond => "ns",
            Unit::Percent => "%",
            Unit::Count => "count",
            Unit::Other(word) => word,
        }
    }

    /// What one of this unit is in the base of its family (bytes or seconds), when it has one.
    fn base(&self) -> Option<(Family, f64)> {
        Some(match self {
            Unit::Byte => (Family::Memory, 1.0),
            Unit::KiB => (Family::Memory, 1024.0),
            Unit::MiB => (Family::Memory, 1024.0 * 1024.0),
            Unit::GiB => (Family::Memory, 1024.0 * 1024.0 * 1024.0),
            Unit::Second => (Family::Time, 1.0),
            Unit::Millisecond => (Family::Time, 1e-3),
            Unit::Microsecond => (Family::Time, 1e-6),
            Unit::Nanosecond => (Family::Time, 1e-9),
            _ => return None,
        })
    }

    /// The unit of the same family in which a number of this size reads best.
    ///
    /// ```
    /// use ktrial::unit::Unit;
    /// assert_eq!(Unit::KiB.scaled_for(528732.0), Unit::MiB);
    /// ```
    pub fn scaled_for(&self, value: f64) -> Unit {
        let Some((family, factor)) = self.base() else {
            return self.clone();
        };
        let base = value.abs() * factor;
        if base == 0.0 || !base.is_finite() {
            return self.clone();
        }
        let candidates: &[Unit] = match family {
            Family::Memory => &[Unit::GiB, Unit::MiB, Unit::KiB, Unit::Byte],
            Family::Time => &[
                Unit::Second,
                Unit::Millisecond,
                Unit::Microsecond,
                Unit::Nanosecond,
            ],
        };
        candidates
            .iter()
            .find(|unit| unit.base().is_some_and(|(_, f)| base >= f))
            .or(candidates.last())
            .cloned()
            .unwrap_or_else(|| self.clone())
    }

    /// The factor from this unit to another one of the same family.
    pub fn factor_to(&self, other: &Unit) -> Option<f64> {
        if self == other {
            return Some(1.0);
        }
        match (self.base(), other.base()) {
            (Some((a, x)), Some((b, y))) if a == b => Some(x / y),
            _ => None,
        }
    }

    /// A number in the unit that reads best, three or more significant digits, with its symbol.
    pub fn show(&self, value: f64) -> String {
        self.show_in(value, &self.scaled_for(value))
    }

    /// As [`Unit::show`], with a plus sign on positive numbers: for differences.
    pub fn show_signed(&self, value: f64) -> String {
        let text = self.show(value);
        if value > 0.0 {
            format!("+{text}")
        } else {
            text
        }
    }

    /// A number of this unit written in another unit of the same family.
    pub fn show_in(&self, value: f64, other: &Unit) -> String {
        other.after(&significant(value * self.factor_to(other).unwrap_or(1.0)))
    }

    /// A number as it is written, with the symbol after it.
    pub(crate) fn after(&self, number: &str) -> String {
        match self.symbol() {
            "" => number.to_owned(),
            symbol => format!("{number} {symbol}"),
        }
    }
}

#[derive(PartialEq)]
enum Family {
    Memory,
    Time,
}

/// Three significant digits or every digit before the point, never an exponent between 1e-4 and 1e15.
///
/// ```
/// use ktrial::unit::significant;
/// assert_eq!(significant(84.195), "84.2");
/// assert_eq!(significant(0.0072), "0.00720");
/// assert_eq!(significant(528732.0), "528732");
/// ```
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    if !is_written_out(value) {
        return format!("{value:.2e}");
    }
    let digits = decimals(value, 3);
    format!("{value:.digits$}")
}

/// Whether a number is written without an exponent.
fn is_written_out(value: f64) -> bool {
    (1e-4..1e15).contains(&value.abs())
}

/// Decimals that give a number so many significant digits; none where it needs none, or is 0 or not finite.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits - 1 - value.abs().log10().floor() as i32).max(0) as usize
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

impl FromStr for Unit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text {
            "" => Unit::None,
            "B" | "byte" | "bytes" => Unit::Byte,
            "KiB" | "kiB" | "kB" | "K" | "k" => Unit::KiB,
            "MiB" => Unit::MiB,
            "GiB" => Unit::GiB,
            "s" | "sec" | "second" | "seconds" => Unit::Second,
            "ms" => Unit::Millisecond,
            "us" | "µs" | "μs" => Unit::Microsecond,
            "ns" => Unit::Nanosecond,
            "%" | "percent" => Unit::Percent,
            "count" => Unit::Count,
            "KB" => {
                return Err(Error::usage("`KB` can mean 1000 or 1024 bytes").next(
                    "say KiB for 1024 bytes, as `free -k` and /proc/meminfo (kB) mean; else convert to B",
                ));
            }
            word if word.parse::<f64>().is_ok() => {
                return Err(Error::usage(format!("`{word}` is a number, not a unit"))
                    .next("use a word such as KiB, s or ops/s"));
            }
            word if word.len() <= 24 && word.chars().all(|c| c.is_ascii_graphic()) => {
                Unit::Other(word.into())
            }
            _ => {
                return Err(Error::usage(format!(
                    "`{}` cannot be a unit",
                    text.chars().take(40).collect::<String>().escape_default()
                ))
                .next(
                    "use a word of at most 24 printable ASCII characters, such as KiB, s or ops/s",
                ));
            }
        })
    }
}

impl TryFrom<String> for Unit {
    type Error = Error;
    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> String {
        unit.symbol().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_no_unit_or_more_than_one_are_refused() {
        for text in ["KB", "1", "NaN", "-inf", "1e3", "\u{e9}", "a b"] {
            let error = text.parse::<Unit>().unwrap_err();
            assert!(error.next_step().is_some(), "{text}");
        }
        assert_eq!("kB".parse::<Unit>().unwrap(), Unit::KiB);
        assert_eq!("1/s".parse::<Unit>().unwrap(), Unit::Other("1/s".into()));
    }
}
