//! What stress-ng wrote with `--yaml`.

use crate::series::{Parsed, Value};
use crate::unit::Unit;

/// Most stressors that are taken; stress-ng has about 350.
const STRESSORS: usize = 1000;

/// Reads bogo operations per second of wall-clock time as `stress-ng.STRESSOR.bogo_ops_per_s`.
///
/// Line by line rather than as YAML: not every version of stress-ng writes what a YAML parser takes, while the
/// two keys that matter, `stressor` and `bogo-ops-per-second-real-time`, have been the same since 0.05.
/// A number that cannot be read is counted; every other line is none of our business.
///
/// ```
/// let text = "metrics:\n    - stressor: vm\n      bogo-ops: 10\n      bogo-ops-per-second-real-time: 5.5\n";
/// let parsed = ktrial::parse::stress_ng::parse(text.as_bytes());
/// assert_eq!(parsed.values[0].metric, "stress-ng.vm.bogo_ops_per_s");
/// assert_eq!(parsed.values[0].value, 5.5);
/// ```
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut stressor = None;
    for (index, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let Some((key, text)) = entry(line) else {
            continue;
        };
        match key {
            "stressor" => {
                stressor = plain_name(text);
                if stressor.is_none() {
                    parsed.skip(index + 1, "not a stressor's name");
                }
            }
            "bogo-ops-per-second-real-time" => match (&stressor, number(text)) {
                (Some(name), Some(value)) if parsed.values.len() < STRESSORS => {
                    parsed.values.push(Value {
                        metric: format!("stress-ng.{name}.bogo_ops_per_s"),
                        unit: Unit::Other("ops/s".to_owned()),
                        value,
                    });
                }
                (Some(_), Some(_)) => parsed.skip(index + 1, "more stressors than stress-ng has"),
                (None, _) => parsed.skip(index + 1, "a rate without its stressor"),
                (_, None) => parsed.skip(index + 1, "not a number"),
            },
            _ => {}
        }
    }
    parsed
}

/// `key: value`, with or without the dash of a list.
fn entry(line: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let (key, value) = text.strip_prefix("- ").unwrap_or(text).split_once(':')?;
    Some((key.trim(), value.trim().trim_matches(['"', '\''])))
}

fn plain_name(text: &str) -> Option<&str> {
    let plain = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    plain.then_some(text)
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|n| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_shapes_give_their_stressors() {
        let text = "---\nsystem-info:\n      version: '#1 SMP'\n\nmetrics:\n    - stressor: vm\n      bogo-ops: 1\n      \
            bogo-ops-per-second-usr-sys-time: 57415.4\n      bogo-ops-per-second-real-time: 56561.6\n\n    \
            - stressor: \"mmap\"\n      bogo-ops-per-second-real-time: 3\n\n...\n";
        let parsed = parse(text.as_bytes());
        let found: Vec<_> = parsed
            .values
            .iter()
            .map(|v| (v.metric.as_str(), v.value))
            .collect();
        assert_eq!(
            found,
            [
                ("stress-ng.vm.bogo_ops_per_s", 56561.6),
                ("stress-ng.mmap.bogo_ops_per_s", 3.0)
            ]
        );
        assert_eq!(parsed.unread_count, 0);
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let text = "bogo-ops-per-second-real-time: 1\n- stressor: a b\n- stressor: vm\n\
            bogo-ops-per-second-real-time: nan\nbogo-ops-per-second-real-time: x\n";
        let parsed = parse(text.as_bytes());
        assert!(parsed.values.is_empty());
        assert_eq!(parsed.unread_count, 4, "{:?}", parsed.unread);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..1000)) {
            prop_assert!(parse(&bytes).values.len() <= STRESSORS);
        }
    }
}
