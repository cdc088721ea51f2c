//! What the `vmstat` monitor wrote: `/proc/vmstat`, sampled; docs/sampling.md has the format.
//!
//! Which fields there are depends on the kernel's version and configuration. A metric of several fields is the sum of
//! those that the kernel has; one of which it has none is not there.

use super::blocks::{self, Block};
use crate::experiment::metrics::{self, Growth};
use crate::series::{Parsed, Series};

/// The monitor's name in a record.
pub const MONITOR: &str = "vmstat";

/// The fields that are read, those of one metric together.
const FIELDS: [&str; 31] = [
    "nr_free_pages",
    "nr_dirty",
    "nr_slab_unreclaimable",
    "pgfault",
    "pgmajfault",
    "pgalloc_dma",
    "pgalloc_dma32",
    "pgalloc_normal",
    "pgalloc_high",
    "pgalloc_movable",
    "pgalloc_device",
    "pgscan_kswapd",
    "pgscan_direct",
    "pgscan_khugepaged",
    "pgscan_proactive",
    "pgsteal_kswapd",
    "pgsteal_direct",
    "pgsteal_khugepaged",
    "pgsteal_proactive",
    "allocstall",
    "allocstall_dma",
    "allocstall_dma32",
    "allocstall_normal",
    "allocstall_high",
    "allocstall_movable",
    "allocstall_device",
    "compact_stall",
    "pswpin",
    "pswpout",
    "oom_kill",
    "thp_fault_alloc",
];

/// The metrics and how many of the fields each is the sum of, in the order of [`FIELDS`].
const METRICS: [(&str, usize); 14] = [
    ("vmstat.nr_free_pages", 1),
    ("vmstat.nr_dirty", 1),
    ("vmstat.nr_slab_unreclaimable", 1),
    ("vmstat.pgfault", 1),
    ("vmstat.pgmajfault", 1),
    ("vmstat.pgalloc", 6),
    ("vmstat.pgscan", 4),
    ("vmstat.pgsteal", 4),
    ("vmstat.allocstall", 7),
    ("vmstat.compact_stall", 1),
    ("vmstat.pswpin", 1),
    ("vmstat.pswpout", 1),
    ("vmstat.oom_kill", 1),
    ("vmstat.thp_fault_alloc", 1),
];

type Sums = [Option<u64>; METRICS.len()];

/// Reads the monitor's file into one series a metric, those that the kernel has.
///
/// Gauges (`nr_...`) are as the kernel gives them. Counters are counted from the last sample that is not after the
/// workload's start; from the first sample when there is none, or the start is not known: they are negative before.
/// Times are seconds since `start_boottime_s`, as of the monitor `meminfo`.
/// The first block that could be read whole says which metrics there are; a later one without one of their fields is
/// left out and counted, as is what [`super::meminfo::parse`] leaves out.
///
/// ```
/// let text = "@ 10.000\nnr_free_pages 500\npgfault 7000\n+ 10.001\npgfault 7003\n";
/// let parsed = ktrial::parse::vmstat::parse(text.as_bytes(), None);
/// let [free, faults] = parsed.series.as_slice() else { panic!() };
/// assert_eq!((free.metric.as_str(), free.values.as_slice()), ("vmstat.nr_free_pages", [500.0, 500.0].as_slice()));
/// assert_eq!((faults.metric.as_str(), faults.values.as_slice()), ("vmstat.pgfault", [0.0, 3.0].as_slice()));
/// ```
pub fn parse(bytes: &[u8], start_boottime_s: Option<f64>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut samples = Samples::default();
    let count = blocks::read(
        bytes,
        "/proc/vmstat",
        &FIELDS,
        field,
        &mut parsed,
        |block| samples.take(block, start_boottime_s),
    );
    parsed.missed.extend(count.missed_by(MONITOR));
    parsed.series = samples.series();
    parsed
}

#[derive(Default)]
struct Samples {
    time_s: Vec<f64>,
    start_s: f64,
    /// The first block's sums: differences to them are exact, however large a counter is.
    first: Sums,
    /// Of each metric that the first block has, differences to that.
    values: [Vec<f64>; METRICS.len()],
}

impl Samples {
    fn take(
        &mut self,
        block: &Block<{ FIELDS.len() }>,
        start_boottime_s: Option<f64>,
    ) -> Result<(), &'static str> {
        // Which fields a kernel has is not known before: one that was garbled would be missed silently.
        if !block.clean {
            return Err("a line of the block that begins here cannot be read");
        }
        let sums = sums(&block.fields);
        if self.time_s.is_empty() {
            if sums.iter().all(Option::is_none) {
                return Err("the block that begins here has no known field");
            }
            self.first = sums;
            self.start_s = start_boottime_s.unwrap_or(block.boottime_s);
        }
        let lacks = |(first, now): (&Option<u64>, &Option<u64>)| first.is_some() && now.is_none();
        if self.first.iter().zip(&sums).any(lacks) {
            return Err("the block that begins here is not whole");
        }
        self.time_s.push(block.boottime_s - self.start_s);
        for (values, pair) in self.values.iter_mut().zip(self.first.iter().zip(sums)) {
            if let (Some(first), Some(now)) = pair {
                values.push((i128::from(now) - i128::from(*first)) as f64);
            }
        }
        Ok(())
    }

    fn series(self) -> Vec<Series> {
        let at_start = self.time_s.partition_point(|time_s| *time_s <= 0.0);
        let at_start = at_start.saturating_sub(1);
        let columns = METRICS.iter().zip(self.first).zip(self.values);
        let series = columns.filter_map(|(((name, _), first), mut values)| {
            let metric = metrics::series(name)?;
            let offset = match metric.growth {
                Growth::Gauge => first? as f64,
                Growth::Counter => -values.get(at_start)?,
            };
            values.iter_mut().for_each(|value| *value += offset);
            Some(Series {
                metric: metric.name.to_owned(),
                unit: metric.unit(),
                time_s: self.time_s.clone(),
                values,
                quantum: None,
            })
        });
        series.collect()
    }
}

/// The metrics' sums of those fields that are there.
fn sums(fields: &[Option<u64>; FIELDS.len()]) -> Sums {
    let mut rest = fields.as_slice();
    METRICS.map(|(_, count)| {
        let (own, after) = rest.split_at_checked(count)?;
        rest = after;
        own.iter().flatten().copied().reduce(u64::saturating_add)
    })
}

/// `nr_free_pages 832819`.
fn field(line: &[u8]) -> Option<(&[u8], u64)> {
    let space = line.iter().position(|&b| b == b' ')?;
    let (name, rest) = line.split_at_checked(space)?;
    let value = blocks::number(rest.get(1..)?)?;
    (!name.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::MonitorKind;
    use crate::unit::Unit;
    use proptest::prelude::*;

    fn block(stamp: &str, faults: u64, free: u64) -> String {
        format!(
            "@ {stamp}\nnr_free_pages {free}\nnr_zone_write_pending 9\npgalloc_dma32 {faults}\n\
             pgalloc_normal 5\npgfault {faults}\n"
        )
    }

    fn series<'a>(parsed: &'a Parsed, metric: &str) -> &'a Series {
        let mut all = parsed.series.iter();
        all.find(|s| s.metric == metric).unwrap()
    }

    #[test]
    fn counters_count_from_the_start_and_gauges_are_as_they_are() {
        let text = block("5.000", 100, 70)
            + "+ 5.900\npgfault 130\n+ 6.100\npgfault 170\npgalloc_normal 9\nnr_free_pages 60\n";
        let parsed = parse(text.as_bytes(), Some(6.0));
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        assert_eq!(series(&parsed, "vmstat.pgfault").values, [-30.0, 0.0, 40.0]);
        assert_eq!(series(&parsed, "vmstat.pgalloc").values, [0.0, 0.0, 4.0]);
        let free = series(&parsed, "vmstat.nr_free_pages");
        assert_eq!(free.values, [70.0, 70.0, 60.0]);
        assert_eq!(free.unit, Unit::Other("pages".into()));
        assert_eq!(parsed.series.len(), 3);
        assert!(parsed.series.iter().all(|s| s.time_s.len() == 3));
    }

    #[test]
    fn a_counter_near_its_end_is_still_exact() {
        let text = block("1.0", u64::MAX - 3, 1) + &block("2.0", u64::MAX - 2, 1);
        let parsed = parse(text.as_bytes(), None);
        assert_eq!(series(&parsed, "vmstat.pgfault").values, [0.0, 1.0]);
    }

    #[test]
    fn blocks_that_are_not_sure_are_left_out_and_counted() {
        let text = block("1.0", 1, 1).replace("pgfault 1", "pgfault x")
            + "+ 1.5\npgfault 7\n"
            + &block("2.0", 2, 1)
            + "@ 3.0\nnr_free_pages 1\n"
            + "+ 3.5\npgfault 8\n"
            + &block("4.0", 5, 1);
        let parsed = parse(text.as_bytes(), None);
        assert_eq!(series(&parsed, "vmstat.pgfault").values, [0.0, 3.0]);
        // The line, its block, the changes after it, the block without a field, the changes after that.
        assert_eq!(parsed.unread_count, 5, "{:?}", parsed.unread);
        assert!(parse(b"@ 1.0\nno_such_field 3\n", None).series.is_empty());
    }

    #[test]
    fn the_metrics_are_those_that_experiments_know() {
        assert_eq!(
            METRICS.iter().map(|(_, count)| count).sum::<usize>(),
            FIELDS.len()
        );
        let known = metrics::METRICS.iter();
        let known = known.filter(|metric| metric.monitor == MonitorKind::Vmstat);
        let mut known: Vec<&str> = known.map(|metric| metric.name).collect();
        let mut here = METRICS.map(|(name, _)| name);
        known.sort_unstable();
        here.sort_unstable();
        assert_eq!(known, here);
    }

    proptest! {
        #[test]
        fn a_garbled_file_stays_in_order(cuts in proptest::collection::vec((0usize..900, any::<u8>()), 0..20)) {
            let mut text = String::new();
            for i in 0..8 {
                text += &block(&format!("{i}.500"), 600 + i, 9);
                text += &format!("+ {i}.600\npgfault {}\n! {i}.7 2\n", 700 + i);
            }
            let mut bytes = text.into_bytes();
            for (at, byte) in cuts {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            let parsed = parse(&bytes, Some(3.0));
            for series in &parsed.series {
                prop_assert_eq!(series.time_s.len(), series.values.len());
                prop_assert!(series.time_s.windows(2).all(|w| w[0] < w[1]));
                prop_assert!(series.values.iter().all(|v| v.is_finite()));
            }
        }
    }
}
