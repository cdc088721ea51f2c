//! What the `meminfo` monitor wrote: `/proc/meminfo`, sampled; docs/sampling.md has the format.

use super::blocks::{self, Block};
use crate::series::{Parsed, Series};
use crate::unit::Unit;

/// The monitor's name in a record.
pub const MONITOR: &str = "meminfo";

/// The fields that a block must have.
const FIELDS: [&str; 6] = [
    "MemTotal",
    "MemAvailable",
    "MemFree",
    "Cached",
    "Slab",
    "AnonPages",
];

/// The metrics, in the order of [`metrics`].
const METRICS: [&str; 6] = [
    "memory.used",
    "memory.available",
    "memory.free",
    "memory.cached",
    "memory.slab",
    "memory.anon",
];

/// Reads the monitor's file into one series a metric, in KiB.
///
/// `memory.used` is MemTotal - MemAvailable, the formula of `free` since procps 4.0; the others are the fields
/// MemAvailable, MemFree, Cached, Slab and AnonPages.
/// Times are seconds since `start_boottime_s`, the host's CLOCK_BOOTTIME at the workload's start;
/// without it, since the first sample.
/// A block that is cut off, lacks a field, or goes back in time is left out and counted, as is every line that
/// is none of `/proc/meminfo`, and every block of changes to one that could not be read.
///
/// ```
/// let text = "@ 10.00\nMemTotal: 900 kB\nMemFree: 300 kB\nMemAvailable: 500 kB\nCached: 90 kB\n\
///             AnonPages: 70 kB\nSlab: 20 kB\n+ 10.001\nMemAvailable: 450 kB\n";
/// let parsed = ktrial::parse::meminfo::parse(text.as_bytes(), Some(12.0));
/// assert_eq!(parsed.series[0].metric, "memory.used");
/// assert_eq!((parsed.series[0].time_s[0], parsed.series[0].values[0]), (-2.0, 400.0));
/// assert_eq!(parsed.series[0].values[1], 450.0);
/// ```
pub fn parse(bytes: &[u8], start_boottime_s: Option<f64>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut start_s = start_boottime_s;
    let mut all = METRICS.map(|metric| Series {
        metric: metric.to_owned(),
        unit: Unit::KiB,
        ..Series::default()
    });
    let count = blocks::read(
        bytes,
        "/proc/meminfo",
        &FIELDS,
        field,
        &mut parsed,
        |block| {
            let values = metrics(block).ok_or("the block that begins here is not whole")?;
            let start_s = *start_s.get_or_insert(block.boottime_s);
            for (series, value) in all.iter_mut().zip(values) {
                series.time_s.push(block.boottime_s - start_s);
                series.values.push(value);
            }
            Ok(())
        },
    );
    parsed.missed.extend(count.missed_by(MONITOR));
    if count.taken > 0 {
        parsed.series = all.into();
    }
    parsed
}

fn metrics(block: &Block<{ FIELDS.len() }>) -> Option<[f64; METRICS.len()]> {
    let [total, available, free, cached, slab, anon] =
        block.fields.map(|field| field.map(|kib| kib as f64));
    let available = available?;
    Some([total? - available, available, free?, cached?, slab?, anon?])
}

/// `MemTotal:       16303428 kB` or `HugePages_Total:       0`.
fn field(line: &[u8]) -> Option<(&[u8], u64)> {
    let colon = line.iter().position(|&b| b == b':')?;
    let (name, rest) = line.split_at_checked(colon)?;
    let rest = std::str::from_utf8(rest.get(1..)?).ok()?;
    let mut words = rest.split_ascii_whitespace();
    let value: u64 = words.next()?.parse().ok()?;
    let unit_known = matches!(words.next(), None | Some("kB"));
    (!name.is_empty() && unit_known && words.next().is_none()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(at: &str, available: u64) -> String {
        format!(
            "@ {at}\nMemTotal:       1000 kB\nMemFree:         300 kB\nMemAvailable:    {available} kB\n\
             Cached:           90 kB\nAnonPages:        70 kB\nSlab:             20 kB\nHugePages_Total:       0\n"
        )
    }

    #[test]
    fn every_block_is_a_sample_relative_to_the_start() {
        let text = block("5.00", 600) + &block("5.10", 590) + &block("5.25", 400);
        let parsed = parse(text.as_bytes(), Some(5.1));
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        let used = &parsed.series[0];
        assert_eq!(used.values, [400.0, 410.0, 600.0]);
        let want = [-0.1, 0.0, 0.15];
        for (time, want) in used.time_s.iter().zip(want) {
            assert!((time - want).abs() < 1e-9, "{time} {want}");
        }
        let metrics: Vec<&str> = parsed.series.iter().map(|s| s.metric.as_str()).collect();
        assert_eq!(metrics, METRICS);
        assert!(
            parsed
                .series
                .iter()
                .all(|s| s.unit == Unit::KiB && s.values.len() == 3)
        );
    }

    #[test]
    fn a_last_block_that_is_cut_off_is_left_out_and_counted() {
        let text = block("5.00", 600) + &block("5.10", 590);
        let cut =
            text.find("Slab").unwrap() + text.rfind("Slab").unwrap() - text.find("Slab").unwrap();
        let parsed = parse(&text.as_bytes()[..cut + "Slab:   2".len()], None);
        assert_eq!(parsed.series[0].values, [400.0]);
        assert_eq!(parsed.unread_count, 2, "{:?}", parsed.unread);
    }

    #[test]
    fn garbage_is_counted_with_its_line() {
        let text = format!(
            "banner\n{}oops\nCached: many kB\n{}",
            block("5.00", 600),
            block("6.00", 500)
        );
        let parsed = parse(text.as_bytes(), None);
        assert_eq!(parsed.series[0].time_s, [0.0, 1.0]);
        assert_eq!(parsed.unread_count, 3);
        assert_eq!(parsed.unread[0], "line 1: not a line of /proc/meminfo");
    }

    #[test]
    fn time_that_goes_back_is_left_out_and_counted() {
        let text =
            block("5.00", 600) + &block("4.00", 590) + &block("5.00", 580) + &block("6.00", 570);
        let parsed = parse(text.as_bytes(), None);
        assert_eq!(parsed.series[0].time_s, [0.0, 1.0]);
        assert_eq!(parsed.unread_count, 2);
    }

    #[test]
    fn changes_are_to_the_sample_before() {
        let text = block("5.000000", 600)
            + "+ 5.001000\nMemAvailable:    590 kB\n"
            + "+ 5.002000\n"
            + "+ 5.003000\nMemTotal:       1010 kB\nHugePages_Total:       1\n"
            + &block("6.000000", 500)
            + "+ 6.001000\nSlab:   21 kB\n";
        let parsed = parse(text.as_bytes(), Some(5.0));
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        let used = &parsed.series[0];
        assert_eq!(used.values, [400.0, 410.0, 410.0, 420.0, 500.0, 500.0]);
        assert!((used.time_s[1] - 0.001).abs() < 1e-9, "{:?}", used.time_s);
        assert_eq!(parsed.series[4].metric, "memory.slab");
        assert_eq!(parsed.series[4].values[4..], [20.0, 21.0]);
        assert_eq!(parsed.missed, []);
    }

    #[test]
    fn changes_to_what_is_not_known_are_unread_until_the_next_whole_sample() {
        let change = |at: &str| format!("+ {at}\nMemAvailable: 550 kB\n");
        // Before any whole block; after a garbled line, whose own block of changes is not sure either; after a block
        // that lacks a field; after a stamp that is no time.
        let text = change("4.9")
            + &block("5.0", 600)
            + &change("5.1")
            + "+ 5.2\nMemAvailable: 540 kB\ngarbage\n"
            + &change("5.3")
            + &block("6.0", 500)
            + &change("6.1")
            + "@ 7.0\nMemTotal: 9 kB\n"
            + &change("7.1")
            + &block("8.0", 400)
            + "+ 8.x\n"
            + &change("8.2")
            + &block("9.0", 300)
            + "+ 9.1\nMemAvailable: 2";
        let parsed = parse(text.as_bytes(), Some(0.0));
        assert_eq!(parsed.series[0].time_s, [5.0, 5.1, 6.0, 6.1, 8.0, 9.0]);
        let used = [400.0, 450.0, 500.0, 450.0, 600.0, 700.0];
        assert_eq!(parsed.series[0].values, used);
        let why = "changes of a sample that could not be read, or is not there";
        assert_eq!(parsed.unread[0], format!("line 1: {why}"));
        let of_changes = parsed.unread.iter().filter(|line| line.ends_with(why));
        assert_eq!(of_changes.count(), 6, "{:?}", parsed.unread);
        assert_eq!(parsed.unread_count, 10, "{:?}", parsed.unread);
    }

    #[test]
    fn a_sample_out_of_order_is_left_out_but_what_follows_builds_on_it() {
        let text = block("5.0", 600) + &block("4.0", 590) + "+ 6.0\nSlab: 30 kB\n";
        let parsed = parse(text.as_bytes(), Some(0.0));
        assert_eq!(parsed.series[0].values, [400.0, 410.0]);
        assert_eq!(parsed.unread_count, 1);
    }

    #[test]
    fn missed_samples_are_counted() {
        let text = block("5.0", 600)
            + "! 5.9 12\n! 6.5 3\n"
            + &block("7.0", 500)
            + "! 8.0 many\n+ 8.1\nSlab: 21 kB\n";
        let parsed = parse(text.as_bytes(), None);
        let [missed] = &parsed.missed[..] else {
            panic!("{:?}", parsed.missed);
        };
        assert_eq!(
            (missed.monitor.as_str(), missed.count, missed.taken),
            ("meminfo", 15, 2)
        );
        assert!((missed.share() - 15.0 / 17.0).abs() < 1e-12);
        assert_eq!(parsed.unread_count, 2, "{:?}", parsed.unread);
        let flood = format!("! 1.0 {0}\n! 2.0 {0}\n", u64::MAX);
        assert_eq!(parse(flood.as_bytes(), None).missed[0].due(), u64::MAX);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(parse(b"", None), Parsed::default());
        assert!(parse(b"@ 1.00\n", Some(0.0)).series.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_give_bounded_ascending_finite_series(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let parsed = parse(&bytes, None);
            prop_assert!(parsed.unread.len() <= 20);
        }

        #[test]
        fn a_garbled_file_stays_in_order(cuts in proptest::collection::vec((0usize..2000, any::<u8>()), 0..20)) {
            let sample = |i: u64| block(&format!("{i}.50"), 600 - i) + &format!("+ {i}.51\nMemAvailable: {} kB\n", 500 - i);
            let mut bytes: Vec<u8> = (0..10).flat_map(|i| sample(i).into_bytes()).collect();
            for (at, byte) in cuts {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            let parsed = parse(&bytes, Some(3.0));
            for series in &parsed.series {
                prop_assert_eq!(series.time_s.len(), series.values.len());
                prop_assert!(series.values.len() <= bytes.len() / 6);
                prop_assert!(series.time_s.windows(2).all(|w| w[0] < w[1]));
                prop_assert!(series.values.iter().all(|v| v.is_finite()));
            }
        }
    }
}
