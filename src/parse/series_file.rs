//! A record's series file: comments that say what the numbers are (see [`super::header`]), then one number a line.

use super::number_file::NumberFile;
use crate::series::{Parsed, Series};

/// Reads a series file. Time is counted from its first number.
///
/// A file without metric or interval is not read; after a line that cannot be read, nothing is.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut file = NumberFile::new("series", bytes);
    let mut values = Vec::new();
    for number in file.by_ref() {
        match number {
            Ok(value) => values.push(value),
            Err(error) => {
                let text = error.to_string();
                let (line, place) = match error.place() {
                    Some(place) => (place.line, format!("{place}: ")),
                    None => (None, String::new()),
                };
                let why = text.strip_prefix(&place).unwrap_or(&text);
                parsed.skip(line.unwrap_or(values.len() + 1), why);
            }
        }
    }
    let header = file.header().clone();
    match (header.metric, header.interval_s) {
        (Some(metric), Some(interval_s)) => parsed.series.push(Series {
            metric,
            unit: header.unit.unwrap_or_default(),
            time_s: (0..values.len()).map(|i| i as f64 * interval_s).collect(),
            values,
            quantum: header.quantum,
        }),
        _ => parsed.skip(1, "the comments say no metric or no interval"),
    }
    parsed
}

/// The file of one series sampled every `interval_s` seconds. `remarks` become comments of their own;
/// one must not begin with a known key (`metric:`, `unit:`, `quantum:`, `interval:`).
///
/// ```
/// use ktrial::{parse::series_file, series::Series, unit::Unit};
/// let series = Series { metric: "memory.used".into(), unit: Unit::KiB, values: vec![508000.0], ..Series::default() };
/// let text = series_file::write(&series, 1.0, &[]);
/// assert_eq!(text, "# metric: memory.used\n# unit: KiB\n# interval: 1 s\n508000\n");
/// ```
pub fn write(series: &Series, interval_s: f64, remarks: &[String]) -> String {
    let mut text = format!("# metric: {}\n# unit: {}\n", series.metric, series.unit);
    if let Some(quantum) = series.quantum {
        text.push_str(&format!("# quantum: {quantum}\n"));
    }
    text.push_str(&format!("# interval: {interval_s} s\n"));
    for remark in remarks {
        text.push_str(&format!("# {remark}\n"));
    }
    for value in &series.values {
        text.push_str(&format!("{value}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::unit::Unit;

    #[test]
    fn what_is_written_is_read() {
        let series = Series {
            metric: "memory.used".into(),
            unit: Unit::KiB,
            time_s: vec![0.0, 0.5, 1.0],
            values: vec![508000.0, 517000.5, 528732.0],
            quantum: Some(9000.0),
        };
        let text = write(&series, 0.5, &["number 3 is exact: so they say".into()]);
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.series, [series]);
        assert_eq!(parsed.unread, Vec::<String>::new());
    }

    #[test]
    fn a_file_that_does_not_say_what_it_holds_is_not_read() {
        let parsed = parse(b"# unit: KiB\n1\n2\n");
        assert_eq!((parsed.series.len(), parsed.unread_count), (0, 1));
    }

    #[test]
    fn what_stands_before_a_broken_line_is_kept() {
        let parsed = parse(b"# metric: a\n# interval: 1 s\n1\nx\n2\n");
        assert_eq!(parsed.series[0].values, [1.0]);
        assert!(
            parsed.unread[0].starts_with("line 4: text among"),
            "{:?}",
            parsed.unread
        );
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }
    }
}
