//! What the `meminfo` monitor wrote: blocks of `/proc/meminfo`, each under a line `@ SECONDS`.

use crate::series::{Parsed, Series};
use crate::unit::Unit;

/// The fields that a block must have.
const FIELDS: [&str; 6] = [
    "MemTotal",
    "MemAvailable",
    "MemFree",
    "Cached",
    "Slab",
    "AnonPages",
];

/// The metrics, in the order of [`Block::metrics`].
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
/// is none of `/proc/meminfo`.
///
/// ```
/// let text = "@ 10.00\nMemTotal: 900 kB\nMemFree: 300 kB\nMemAvailable: 500 kB\nCached: 90 kB\n\
///             AnonPages: 70 kB\nSlab: 20 kB\n";
/// let parsed = ktrial::parse::meminfo::parse(text.as_bytes(), Some(12.0));
/// assert_eq!(parsed.series[0].metric, "memory.used");
/// assert_eq!((parsed.series[0].time_s[0], parsed.series[0].values[0]), (-2.0, 400.0));
/// ```
pub fn parse(bytes: &[u8], start_boottime_s: Option<f64>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut samples = Samples {
        start_s: start_boottime_s,
        last_s: f64::NEG_INFINITY,
        series: METRICS.map(|metric| Series {
            metric: metric.to_owned(),
            unit: Unit::KiB,
            ..Series::default()
        }),
    };
    let mut block: Option<Block> = None;
    let mut number = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        number += 1;
        let Some(line) = line.strip_suffix(b"\n") else {
            parsed.skip(number, "the file ends within this line");
            continue;
        };
        if let Some(stamp) = line.strip_prefix(b"@ ") {
            samples.take(block.take(), &mut parsed);
            block = Block::begin(number, stamp);
            if block.is_none() {
                parsed.skip(number, "not a time");
            }
            continue;
        }
        match (field(line), &mut block) {
            (Some((name, value)), Some(block)) => block.set(name, value),
            (Some(_), None) => parsed.skip(number, "before any time"),
            (None, _) => parsed.skip(number, "not a line of /proc/meminfo"),
        }
    }
    samples.take(block, &mut parsed);
    if samples.series.iter().any(|s| !s.values.is_empty()) {
        parsed.series = samples.series.into();
    }
    parsed
}

/// One block on its way.
struct Block {
    line: usize,
    boottime_s: f64,
    fields: [Option<f64>; FIELDS.len()],
}

impl Block {
    fn begin(line: usize, stamp: &[u8]) -> Option<Block> {
        Some(Block {
            line,
            boottime_s: boottime(stamp)?,
            fields: [None; FIELDS.len()],
        })
    }

    fn set(&mut self, name: &[u8], value: f64) {
        for (known, place) in FIELDS.iter().zip(&mut self.fields) {
            if known.as_bytes() == name {
                *place = Some(value);
            }
        }
    }

    fn metrics(&self) -> Option<[f64; METRICS.len()]> {
        let [total, available, free, cached, slab, anon] = self.fields;
        let available = available?;
        Some([total? - available, available, free?, cached?, slab?, anon?])
    }
}

struct Samples {
    start_s: Option<f64>,
    last_s: f64,
    series: [Series; METRICS.len()],
}

impl Samples {
    fn take(&mut self, block: Option<Block>, parsed: &mut Parsed) {
        let Some(block) = block else { return };
        let Some(metrics) = block.metrics() else {
            parsed.skip(block.line, "the block that begins here is not whole");
            return;
        };
        if block.boottime_s <= self.last_s {
            parsed.skip(block.line, "time does not go forward");
            return;
        }
        self.last_s = block.boottime_s;
        let start_s = *self.start_s.get_or_insert(block.boottime_s);
        for (series, value) in self.series.iter_mut().zip(metrics) {
            series.time_s.push(block.boottime_s - start_s);
            series.values.push(value);
        }
    }
}

/// A time as in `/proc/uptime`.
pub(super) fn boottime(text: &[u8]) -> Option<f64> {
    let seconds: f64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// `MemTotal:       16303428 kB` or `HugePages_Total:       0`.
fn field(line: &[u8]) -> Option<(&[u8], f64)> {
    let colon = line.iter().position(|&b| b == b':')?;
    let (name, rest) = line.split_at_checked(colon)?;
    let rest = std::str::from_utf8(rest.get(1..)?).ok()?;
    let mut words = rest.split_ascii_whitespace();
    let value: u64 = words.next()?.parse().ok()?;
    let unit_known = matches!(words.next(), None | Some("kB"));
    (!name.is_empty() && unit_known && words.next().is_none()).then_some((name, value as f64))
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
            let mut bytes: Vec<u8> = (0..10).flat_map(|i| block(&format!("{i}.50"), 600 - i).into_bytes()).collect();
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
