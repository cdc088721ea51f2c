//! What the program on the host told of itself: what supervising and sampling took; docs/sampling.md has the format.
//!
//! No experiment asks for it, and comparisons leave it out: it is there to see that measuring did not disturb.

use super::blocks;
use crate::series::{Parsed, Series};
use crate::unit::Unit;

/// The name of its file's monitor in a record.
pub const MONITOR: &str = "agent";

/// Processor time so far in microseconds, resident memory in KiB, samples missed so far.
const FIELDS: [&str; 3] = ["cpu_us", "rss_kib", "missed"];

/// The series: `agent.cpu` in percent of one core, `agent.memory` in KiB, `agent.missed` as a count since the begin.
pub const SERIES: [&str; 3] = ["agent.cpu", "agent.memory", "agent.missed"];

/// Reads the file into [`SERIES`].
///
/// `agent.cpu` is the mean since the sample before, so the first one only begins the series.
/// Times are seconds since `start_boottime_s`, or since the file's first sample. What is not whole, or goes back in
/// time or processor time, is left out and counted.
///
/// ```
/// let text = "@ 10.0\ncpu_us: 5000\nrss_kib: 900\nsamples: 0\nmissed: 0\n\
///             @ 12.0\ncpu_us: 25000\nrss_kib: 904\nsamples: 2000\nmissed: 1\n";
/// let parsed = ktrial::parse::agent::parse(text.as_bytes(), Some(11.0));
/// assert_eq!(parsed.series[0].metric, "agent.cpu");
/// assert_eq!((parsed.series[0].time_s[0], parsed.series[0].values[0]), (1.0, 1.0));
/// assert_eq!((parsed.series[1].values[0], parsed.series[2].values[0]), (904.0, 1.0));
/// ```
pub fn parse(bytes: &[u8], start_boottime_s: Option<f64>) -> Parsed {
    let mut parsed = Parsed::default();
    let units = [Unit::Percent, Unit::KiB, Unit::Count];
    let mut pairs = SERIES.into_iter().zip(units);
    let mut all = [(); SERIES.len()].map(|()| {
        let (metric, unit) = pairs.next().unwrap_or_default();
        Series {
            metric: metric.to_owned(),
            unit,
            ..Series::default()
        }
    });
    let mut start_s = start_boottime_s;
    let mut before: Option<(f64, u64)> = None;
    blocks::read(
        bytes,
        "the agent's account",
        &FIELDS,
        field,
        &mut parsed,
        |block| {
            let [Some(cpu_us), Some(rss_kib), Some(missed)] = block.fields else {
                return Err("the block that begins here is not whole");
            };
            let start_s = *start_s.get_or_insert(block.boottime_s);
            let Some((before_s, before_us)) = before.replace((block.boottime_s, cpu_us)) else {
                return Ok(());
            };
            let spent_us = cpu_us.checked_sub(before_us);
            let took_s = block.boottime_s - before_s;
            let cpu = spent_us.map(|spent_us| 100.0 * spent_us as f64 * 1e-6 / took_s);
            let Some(cpu) = cpu.filter(|cpu| took_s > 0.0 && cpu.is_finite()) else {
                return Err("processor time does not go forward");
            };
            let values = [cpu, rss_kib as f64, missed as f64];
            for (series, value) in all.iter_mut().zip(values) {
                series.time_s.push(block.boottime_s - start_s);
                series.values.push(value);
            }
            Ok(())
        },
    );
    parsed
        .series
        .extend(all.into_iter().filter(|s| !s.values.is_empty()));
    parsed
}

/// Whether a metric, or the series that it is a summary of, is the agent's own cost and not the experiment's.
pub fn is_own(metric: &str) -> bool {
    let series = metric.rsplit_once('.').map_or("", |(series, _)| series);
    SERIES.contains(&metric) || SERIES.contains(&series)
}

/// `cpu_us: 5000`.
fn field(line: &[u8]) -> Option<(&[u8], u64)> {
    let colon = line.iter().position(|&b| b == b':')?;
    let (name, rest) = line.split_at_checked(colon)?;
    let value = blocks::number(rest.strip_prefix(b": ")?)?;
    (!name.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(at: &str, cpu_us: u64) -> String {
        format!("@ {at}\ncpu_us: {cpu_us}\nrss_kib: 800\nsamples: 10\nmissed: 0\n")
    }

    #[test]
    fn processor_time_is_a_share_of_the_time_between() {
        let text = block("5.0", 0) + &block("6.0", 20_000) + "+ 6.5\ncpu_us: 25000\n";
        let parsed = parse(text.as_bytes(), None);
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        assert_eq!(parsed.series[0].time_s, [1.0, 1.5]);
        assert_eq!(parsed.series[0].values, [2.0, 1.0]);
        assert!(parsed.series.iter().all(|s| s.values.len() == 2));
    }

    #[test]
    fn what_goes_back_is_left_out_and_counted() {
        let text = block("5.0", 9000) + &block("6.0", 10) + &block("7.0", 20_010);
        let parsed = parse(text.as_bytes(), None);
        assert_eq!(
            (parsed.series[0].values.as_slice(), parsed.unread_count),
            ([2.0].as_slice(), 1)
        );
    }

    #[test]
    fn the_agents_own_metrics_are_known_with_and_without_a_summary() {
        assert!(is_own("agent.cpu") && is_own("agent.memory.peak"));
        assert!(!is_own("memory.used.peak") && !is_own("agent.other") && !is_own("agent"));
    }

    proptest! {
        #[test]
        fn any_bytes_give_finite_ascending_series(bytes in "([@+!] [0-9.]{1,4}|(cpu_us|rss_kib|missed): [0-9]{1,9}|\n|\\PC){0,80}") {
            for series in parse(bytes.as_bytes(), None).series {
                prop_assert!(series.values.iter().all(|v| v.is_finite()));
                prop_assert!(series.time_s.windows(2).all(|w| w[0] < w[1]));
            }
        }
    }
}
