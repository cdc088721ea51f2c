//! Figures: ktrial's own raw format for single published values.
//!
//! One value a line, `metric<TAB>unit<TAB>value`; lines that begin with `#` are comments.

use crate::series::{Parsed, Value};
use crate::unit::Unit;

const METRIC_LIMIT: usize = 255;

/// Reads a figures file.
///
/// ```
/// let parsed = ktrial::parse::figures::parse(b"memory.used.peak\tKiB\t442516\n");
/// assert_eq!(parsed.values[0].value, 442516.0);
/// ```
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match value(line) {
            Some(value) => parsed.values.push(value),
            None => parsed.skip(
                index + 1,
                "is not a metric, a unit and a finite number with tabs between",
            ),
        }
    }
    parsed
}

/// Writes a figures file; each comment becomes a line.
pub fn write(comments: &[String], values: &[Value]) -> String {
    let mut text: String = comments.iter().map(|c| format!("# {c}\n")).collect();
    for Value {
        metric,
        unit,
        value,
    } in values
    {
        text.push_str(&format!("{metric}\t{unit}\t{value}\n"));
    }
    text
}

fn value(line: &str) -> Option<Value> {
    let mut fields = line.split('\t');
    let (metric, unit, number) = (fields.next()?, fields.next()?, fields.next()?);
    let metric_is_plain = !metric.is_empty()
        && metric.len() <= METRIC_LIMIT
        && metric.chars().all(|c| c.is_ascii_graphic());
    if !metric_is_plain || fields.next().is_some() {
        return None;
    }
    let value: f64 = number.trim().parse().ok()?;
    Some(Value {
        metric: metric.to_owned(),
        unit: unit.parse::<Unit>().ok()?,
        value: value.is_finite().then_some(value)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let values = [Value {
            metric: "memory.used.peak".into(),
            unit: Unit::KiB,
            value: 442516.0,
        }];
        let text = write(&["as published".into()], &values);
        assert_eq!(text, "# as published\nmemory.used.peak\tKiB\t442516\n");
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.values, values);
        assert_eq!(parsed.unread_count, 0);
    }

    #[test]
    fn other_lines_are_counted() {
        let parsed =
            parse(b"a\tKiB\n\tKiB\t1\na\tKiB\tNaN\na\tK B\t1\na b\tKiB\t1\na\tKiB\t1\t2\n");
        assert_eq!(parsed.values, []);
        assert_eq!(parsed.unread_count, 6);
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }
    }
}
