//! Durations as experiments write them: a whole number and its unit, `40s`, `2min`, `100ms`, `1h`.

use std::time::Duration;

use crate::experiment::words::{nearest, shown};

/// Units and what one of them is in milliseconds, largest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];

/// What people write for a unit, and the one that they mean.
const OTHER_WORDS: [(&str, &str); 12] = [
    ("m", "min"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("millisecond", "ms"),
    ("hour", "h"),
    ("hours", "h"),
];

/// Reads a duration. On failure: why not, and what would be right when that can be guessed.
pub(crate) fn parse(text: &str) -> Result<Duration, (String, Option<String>)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, word) = text.split_at(digits);
    let word = word.trim_start_matches(' ');
    if number.is_empty() {
        return Err((
            format!("{} is not a whole number with a unit", shown(text)),
            None,
        ));
    }
    if word.is_empty() {
        return Err((
            format!("{} has no unit", shown(text)),
            Some(format!(
                "write `{number}s` for seconds or `{number}ms` for milliseconds"
            )),
        ));
    }
    if word.starts_with('.') || word.starts_with(',') {
        return Err((
            format!("{} is not a whole number with a unit", shown(text)),
            Some("write a part of a second in ms, such as 1500ms".into()),
        ));
    }
    let Some((_, factor)) = UNITS.iter().find(|(unit, _)| *unit == word) else {
        let meant = OTHER_WORDS
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(word))
            .map(|(_, unit)| *unit)
            .or_else(|| nearest(word, UNITS.iter().map(|(unit, _)| *unit)));
        return Err((
            format!("{} is not a unit of time", shown(word)),
            meant.map(|unit| format!("did you mean `{number}{unit}`?")),
        ));
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*factor))
        .map(Duration::from_millis)
        .ok_or_else(|| (format!("{} is too long", shown(text)), None))
}

/// Writes a duration so that [`parse`] reads the same: in the largest unit that divides it.
/// Parts of a millisecond, which no experiment has, are cut.
pub(super) fn show(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    UNITS
        .iter()
        .find(|(_, factor)| milliseconds.is_multiple_of(u128::from(*factor)) && milliseconds > 0)
        .map_or_else(
            || "0s".to_owned(),
            |(unit, factor)| format!("{}{unit}", milliseconds / u128::from(*factor)),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_with_a_unit() {
        let read = |text| parse(text).map(|d| d.as_millis());
        assert_eq!(read("40s"), Ok(40_000));
        assert_eq!(read("2min"), Ok(120_000));
        assert_eq!(read("100ms"), Ok(100));
        assert_eq!(read("1h"), Ok(3_600_000));
        assert_eq!(read("3 s"), Ok(3000));
        for bad in [
            "",
            "40",
            "s",
            "-1s",
            "1.5s",
            "1,5s",
            "2m",
            "1d",
            "1e3s",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_meant_unit_is_named() {
        let hint = |text| parse(text).unwrap_err().1.unwrap_or_default();
        assert_eq!(hint("2m"), "did you mean `2min`?");
        assert_eq!(hint("5sec"), "did you mean `5s`?");
        assert!(hint("40").contains("`40s`"));
    }

    #[test]
    fn shown_durations_read_back() {
        for milliseconds in [0, 1, 999, 1000, 1500, 60_000, 90_000, 3_600_000, 86_400_000] {
            let duration = Duration::from_millis(milliseconds);
            assert_eq!(parse(&show(duration)), Ok(duration));
        }
        assert_eq!(show(Duration::from_secs(120)), "2min");
    }
}
