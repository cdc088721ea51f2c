//! Comments at the top of a file of numbers that say what the numbers are.
//!
//! A record's series files begin with them:
//!
//! ```text
//! # metric: memory.used
//! # unit: KiB
//! # quantum: 9000
//! # interval: 1 s
//! ```
//!
//! Any other comment is ignored.

use crate::ascii::excerpt;
use crate::parse::Wrong;
use crate::parse::numbers::parse_number;
use crate::unit::Unit;

/// The longest name of a metric, in characters.
const LONGEST_METRIC: usize = 100;

/// What a file says of its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// Such as `memory.used`.
    pub metric: Option<String>,
    /// Unit of the numbers.
    pub unit: Option<Unit>,
    /// Full width of what a number may be off by, in the numbers' unit.
    pub quantum: Option<f64>,
    /// Seconds between samples.
    pub interval_s: Option<f64>,
}

impl Header {
    /// Takes one comment, without its `#`. `open` until the first number: later comments may only repeat.
    pub(super) fn comment(&mut self, comment: &str, open: bool) -> Result<(), Wrong> {
        let Some((key, value)) = comment.split_once(':') else {
            return Ok(());
        };
        let (key, value) = (key.trim(), value.trim());
        let mut said = self.clone();
        match key {
            "metric" => said.metric = Some(metric(value)?),
            "unit" => {
                said.unit = Some(value.parse().map_err(|_| {
                    wrong(
                        key,
                        value,
                        "use a word such as `# unit: KiB` or `# unit: s`",
                    )
                })?)
            }
            "quantum" => said.quantum = Some(positive(key, value)?),
            "interval" => said.interval_s = Some(interval_s(value)?),
            _ => return Ok(()),
        }
        if said != *self {
            if !open {
                return Err(wrong(
                    key,
                    value,
                    "a file holds one series: put each into a file of its own, with its comments above the numbers",
                ));
            }
            *self = said;
        }
        Ok(())
    }
}

fn metric(value: &str) -> Result<String, Wrong> {
    let plain = !value.is_empty()
        && value.chars().count() <= LONGEST_METRIC
        && value.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if plain {
        Ok(value.into())
    } else {
        Err(wrong(
            "metric",
            value,
            "use a name of at most 100 printable ASCII characters, such as memory.used",
        ))
    }
}

fn positive(key: &str, value: &str) -> Result<f64, Wrong> {
    parse_number(value)
        .ok()
        .filter(|&number| number > 0.0)
        .ok_or_else(|| {
            wrong(
                key,
                value,
                "use a number above 0, in the unit of the numbers",
            )
        })
}

fn interval_s(value: &str) -> Result<f64, Wrong> {
    let split = value
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(value.len());
    let (number, unit) = value.split_at(split);
    let factor = unit
        .trim()
        .parse::<Unit>()
        .ok()
        .and_then(|unit| unit.factor_to(&Unit::Second));
    match (parse_number(number.trim()), factor) {
        (Ok(number), Some(factor)) if number * factor > 0.0 => Ok(number * factor),
        _ => Err(wrong(
            "interval",
            value,
            "use a time with its unit, such as `# interval: 1 s` or `# interval: 100 ms`",
        )),
    }
}

fn wrong(key: &str, value: &str, next: &str) -> Wrong {
    Wrong {
        column: 1,
        message: format!(
            "the comment `# {key}: {}` cannot stand here",
            excerpt(value, 40)
        ),
        next: next.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_are_taken_and_others_ignored() {
        let mut header = Header::default();
        for comment in [
            " metric: memory.used",
            " unit: KiB",
            "quantum:9000",
            " interval: 100 ms",
            " source: a mail of 2023",
            " 79 MiB",
        ] {
            header.comment(comment, true).unwrap();
        }
        assert_eq!(
            header,
            Header {
                metric: Some("memory.used".into()),
                unit: Some(Unit::KiB),
                quantum: Some(9000.0),
                interval_s: Some(0.1),
            }
        );
        header.comment(" unit: KiB", false).unwrap();
        assert!(header.comment(" unit: MiB", false).is_err());
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for comment in [
            "interval: 1",
            "interval: 0 s",
            "interval: 5 KiB",
            "quantum: -1",
            "quantum: nan",
            "unit: \x1b[31m",
            "metric:",
        ] {
            assert!(
                Header::default().comment(comment, true).is_err(),
                "{comment}"
            );
        }
    }
}
