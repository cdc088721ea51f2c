//! What the `free` monitor wrote: a line `@ SECONDS PERIOD`, then free's "used" column, one number a line.

use super::blocks::boottime;
use crate::series::{Parsed, Series};
use crate::unit::Unit;

/// Reads the monitor's file into `free.used`, in KiB.
///
/// free does not tell times: the first sample is taken at the stamp and each next one a period later, so times
/// are off by what free itself needs (some ms a sample). What "used" means depends on the host's procps, whose
/// version is among the host's facts.
/// Times are seconds since `start_boottime_s`, or since the stamp without it. Lines that are no number are counted;
/// each still takes its period.
///
/// ```
/// let parsed = ktrial::parse::free_pipeline::parse(b"@ 10.00 1\n400\n410\n", Some(10.5));
/// assert_eq!(parsed.series[0].time_s, [-0.5, 0.5]);
/// assert_eq!(parsed.series[0].values, [400.0, 410.0]);
/// ```
pub fn parse(bytes: &[u8], start_boottime_s: Option<f64>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut lines = bytes.split_inclusive(|&b| b == b'\n');
    let Some(first) = lines.next() else {
        return parsed;
    };
    let Some((boottime_s, period_s)) = stamp(first) else {
        parsed.skip(
            1,
            "not the monitor's stamp `@ SECONDS PERIOD`: no sample has a time",
        );
        return parsed;
    };
    let first_s = boottime_s - start_boottime_s.unwrap_or(boottime_s);
    let mut series = Series {
        metric: "free.used".to_owned(),
        unit: Unit::KiB,
        ..Series::default()
    };
    for (index, line) in lines.enumerate() {
        match number(line) {
            Some(value) => {
                series.time_s.push(first_s + index as f64 * period_s);
                series.values.push(value);
            }
            None if line.ends_with(b"\n") => parsed.skip(index + 2, "not a number"),
            None => parsed.skip(index + 2, "the file ends within this line"),
        }
    }
    if !series.values.is_empty() {
        parsed.series.push(series);
    }
    parsed
}

fn stamp(line: &[u8]) -> Option<(f64, f64)> {
    let text = line.strip_prefix(b"@ ")?.strip_suffix(b"\n")?;
    let space = text.iter().position(|&b| b == b' ')?;
    let (up, period) = text.split_at_checked(space)?;
    let period_s = boottime(period)?;
    Some((boottime(up)?, (period_s > 0.0).then_some(period_s)?))
}

fn number(line: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    text.trim().parse::<u64>().ok().map(|n| n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_that_is_no_number_keeps_the_others_times() {
        let parsed = parse(b"@ 10.00 0.5\n400\nfree: error\n410\n42", None);
        assert_eq!(parsed.series[0].time_s, [0.0, 1.0]);
        assert_eq!(
            parsed.unread,
            [
                "line 3: not a number",
                "line 5: the file ends within this line"
            ]
        );
    }

    #[test]
    fn without_a_stamp_nothing_is_guessed() {
        for text in [
            "400\n410\n",
            "@ 1.0\n400\n",
            "@ x 1\n",
            "@ 1 0\n4\n",
            "@ 1 1",
        ] {
            let parsed = parse(text.as_bytes(), None);
            assert!(parsed.series.is_empty(), "{text}");
            assert_eq!(parsed.unread_count, 1, "{text}");
        }
        assert_eq!(parse(b"", None), Parsed::default());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_counted(tail in proptest::collection::vec(any::<u8>(), 0..500)) {
            let bytes = [b"@ 7.00 1\n".as_slice(), &tail].concat();
            let lines = tail.split_inclusive(|&b| b == b'\n').count();
            let parsed = parse(&bytes, Some(3.0));
            let taken = parsed.series.first().map_or(0, |s| s.values.len());
            prop_assert_eq!(taken + parsed.unread_count, lines);
        }
    }
}
