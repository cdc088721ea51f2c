//! `systemd-analyze blame`: one line a unit, `5.672s systemd-udev-settle.service`.

use super::time_span::{seconds, time_span};
use crate::series::{Parsed, Value};
use crate::unit::Unit;

/// The name of a raw file of such lines in a record.
pub(crate) const MONITOR: &str = "systemd-analyze-blame";

/// Endings of systemd's unit names (systemd.unit(5)).
const UNIT_TYPES: [&str; 11] = [
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "slice",
    "scope",
];

/// Longest unit name, UNIT_NAME_MAX of systemd.
const NAME_LIMIT: usize = 255;
const LINE_LIMIT: usize = 400;

/// One line of a blame list.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The unit's name.
    pub unit: String,
    /// What it took.
    pub seconds: f64,
    /// Weight of the last digit printed.
    pub resolution_s: f64,
}

/// Reads one line, blanks around it allowed; none when it is anything else.
///
/// ```
/// let entry = ktrial::parse::blame::entry(" 1min 2.345s dracut.service").unwrap();
/// assert_eq!((entry.unit.as_str(), entry.seconds), ("dracut.service", 62.345));
/// assert!(ktrial::parse::blame::entry("5s later it works").is_none());
/// ```
pub fn entry(line: &str) -> Option<Entry> {
    if line.len() > LINE_LIMIT {
        return None;
    }
    let (span, unit) = line.trim().rsplit_once(char::is_whitespace)?;
    if !is_unit_name(unit) {
        return None;
    }
    let (nanoseconds, resolution) = time_span(span)?;
    Some(Entry {
        unit: unit.to_owned(),
        seconds: seconds(nanoseconds),
        resolution_s: seconds(resolution),
    })
}

/// Reads a whole blame list: each unit's time in seconds, metric named as the unit.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        match entry(line) {
            Some(entry) => parsed.values.push(Value {
                metric: entry.unit,
                unit: Unit::Second,
                value: entry.seconds,
            }),
            None if line.trim().is_empty() => {}
            None => parsed.skip(index + 1, "is not a time and a unit's name"),
        }
    }
    parsed
}

/// Whether a word is the name of a unit, as [`entry`] takes it.
pub(crate) fn is_unit_name(name: &str) -> bool {
    let Some((stem, kind)) = name.rsplit_once('.') else {
        return false;
    };
    name.len() <= NAME_LIMIT
        && !stem.is_empty()
        && stem
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b":-_.\\@".contains(&b))
        && UNIT_TYPES.contains(&kind)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time(line: &str) -> Option<f64> {
        entry(line).map(|e| e.seconds)
    }

    #[test]
    fn times_as_systemd_writes_them() {
        for (text, expected) in [
            ("5.672s", 5.672),
            ("  505ms", 0.505),
            ("1min 2.345s", 62.345),
            ("2h 1min 3s", 7263.0),
            ("1d 2h", 93600.0),
            ("12us", 1.2e-5),
            ("32.806s", 32.806),
        ] {
            assert_eq!(time(&format!("{text} a.service")), Some(expected), "{text}");
        }
        let e = entry("505ms a.service").unwrap();
        assert_eq!(e.resolution_s, 0.001);
        assert_eq!(entry("5.67s a.service").unwrap().resolution_s, 0.01);
    }

    #[test]
    fn names_as_systemd_writes_them() {
        assert!(entry(r"1.5s dev-disk-by\x2duuid-12.device").is_some());
        assert!(entry("1.5s user@1000.service").is_some());
    }

    #[test]
    fn other_lines_are_not_taken() {
        for line in [
            "",
            "5.672s",
            "a.service",
            "5.672s a.exe",
            "5.672s .service",
            "5.672s \u{1b}[31ma.service",
            "2.3s 1min a.service",
            "1.5min 2s a.service",
            "1s 1s a.service",
            "5,672s a.service",
            "-5s a.service",
            ".5s a.service",
            "5.s a.service",
            "1..5s a.service",
            "99999999999999999999s a.service",
            "took 5.672s a.service",
        ] {
            assert_eq!(entry(line), None, "{line:?}");
        }
        assert!(entry(&format!("1s {}.service", "a".repeat(300))).is_none());
    }

    #[test]
    fn unread_lines_are_counted() {
        let parsed = parse(b"1s a.service\r\n\r\nBootup is not yet finished\n2s b.service\n");
        assert_eq!(parsed.values.len(), 2);
        assert_eq!(parsed.unread_count, 1);
        assert_eq!(parsed.unread, ["line 3: is not a time and a unit's name"]);
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }

        #[test]
        fn milliseconds_come_back(ms in 1u64..100_000_000) {
            let line = format!("{}min {}.{:03}s a.service", ms / 60_000, ms / 1000 % 60, ms % 1000);
            prop_assert_eq!(time(&line), Some(ms as f64 / 1000.0));
        }
    }
}
