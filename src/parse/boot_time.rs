//! `systemd-analyze time`: what a boot took as a whole and in its stages.
//!
//! ```text
//! Startup finished in 2.210s (kernel) + 3.502s (initrd) + 8.013s (userspace) = 13.726s
//! graphical.target reached after 7.9s in userspace.
//! ```

use super::blame::is_unit_name;
use super::time_span::{seconds, time_span};
use crate::series::{Parsed, Value};
use crate::unit::Unit;

/// Stages in their order. Not every machine tells of firmware, loader and initrd.
const STAGES: [&str; 5] = ["firmware", "loader", "kernel", "initrd", "userspace"];

const BEGIN: &str = "Startup finished in ";
const LINE_LIMIT: usize = 400;

/// Reads what it printed: `boot.kernel`, `boot.userspace`, ... and `boot.total` in seconds, each as far as it is told.
///
/// ```
/// let parsed = ktrial::parse::boot_time::parse(b"Startup finished in 1.5s (kernel) + 1min 2s (userspace) = 1min 3.5s\n");
/// let names: Vec<&str> = parsed.values.iter().map(|v| v.metric.as_str()).collect();
/// assert_eq!(names, ["boot.kernel", "boot.userspace", "boot.total"]);
/// assert_eq!(parsed.values[2].value, 63.5);
/// ```
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        let line = line.trim();
        match line.strip_prefix(BEGIN) {
            Some(times) if line.len() <= LINE_LIMIT => read(times, index + 1, &mut parsed),
            _ if line.is_empty() || is_about_a_target(line) => {}
            _ => parsed.skip(index + 1, "is no line of `systemd-analyze time`"),
        }
    }
    parsed
}

/// `A (kernel) + B (userspace) = C`; in a container there is only userspace and no sum.
fn read(times: &str, line: usize, parsed: &mut Parsed) {
    let (stages, total) = match times.split_once('=') {
        Some((stages, total)) => (stages, Some(total)),
        None => (times, None),
    };
    for stage in stages.split('+') {
        let name_and_time = stage.trim().strip_suffix(')').and_then(|stage| {
            let (span, name) = stage.split_once(" (")?;
            let name = STAGES.iter().find(|known| **known == name)?;
            Some((*name, time_span(span)?.0))
        });
        match name_and_time {
            Some((name, time)) => parsed.values.push(value(name, time)),
            None => parsed.skip(line, "has a stage that is not known, or no time of it"),
        }
    }
    match total.map(time_span) {
        None => {}
        Some(Some((time, _))) => parsed.values.push(value("total", time)),
        Some(None) => parsed.skip(line, "has a sum that is no time"),
    }
}

fn value(name: &str, nanoseconds: u64) -> Value {
    Value {
        metric: format!("boot.{name}"),
        unit: Unit::Second,
        value: seconds(nanoseconds),
    }
}

/// When the default target was reached, or that it was not: said of userspace only, and counted from its start.
fn is_about_a_target(line: &str) -> bool {
    line.len() <= LINE_LIMIT
        && line
            .split_once(' ')
            .is_some_and(|(target, said)| is_unit_name(target) && said.contains("reached"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<(String, f64)> {
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.unread_count, 0, "{:?}", parsed.unread);
        let values = parsed.values.into_iter();
        values.map(|v| (v.metric, v.value)).collect()
    }

    fn named(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        let named = values
            .iter()
            .map(|(name, value)| (format!("boot.{name}"), *value));
        named.collect()
    }

    #[test]
    fn a_guest_tells_of_kernel_and_userspace() {
        let text = "Startup finished in 13.262s (kernel) + 2min 2.822s (userspace) = 2min 16.085s \n\
                    graphical.target reached after 2min 2.777s in userspace.\n";
        assert_eq!(
            values(text),
            named(&[
                ("kernel", 13.262),
                ("userspace", 122.822),
                ("total", 136.085)
            ])
        );
    }

    #[test]
    fn a_machine_tells_of_every_stage() {
        let text = "Startup finished in 5.1s (firmware) + 950ms (loader) + 1.153s (kernel) + 3.2s (initrd) + \
                    6.7s (userspace) = 17.103s\nmulti-user.target was never reached\n";
        assert_eq!(
            values(text),
            named(&[
                ("firmware", 5.1),
                ("loader", 0.95),
                ("kernel", 1.153),
                ("initrd", 3.2),
                ("userspace", 6.7),
                ("total", 17.103)
            ])
        );
        assert_eq!(
            values("Startup finished in 345ms (userspace)\n"),
            named(&[("userspace", 0.345)])
        );
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_the_rest_is_taken() {
        let parsed = parse(
            b"Startup finished in 1s (kernel) + 2s (magic) + x (initrd) = soon\nBootup is not yet finished\n",
        );
        assert_eq!(parsed.values.len(), 1);
        assert_eq!(parsed.unread_count, 4);
        assert!(
            parsed.unread[0].starts_with("line 1: "),
            "{:?}",
            parsed.unread
        );
    }

    proptest! {
        #[test]
        fn any_text_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300), rest in ".{0,200}") {
            parse(&bytes);
            parse(format!("{BEGIN}{rest}").as_bytes());
        }

        #[test]
        fn milliseconds_come_back(kernel in 1u64..100_000_000, userspace in 1u64..100_000_000) {
            let span = |ms: u64| format!("{}min {}.{:03}s", ms / 60_000, ms / 1000 % 60, ms % 1000);
            let total = kernel + userspace;
            let line = format!(
                "{BEGIN}{} (kernel) + {} (userspace) = {} ", span(kernel), span(userspace), span(total)
            );
            let found: Vec<f64> = parse(line.as_bytes()).values.iter().map(|v| v.value).collect();
            prop_assert_eq!(found, [kernel, userspace, total].map(|ms| ms as f64 / 1000.0));
        }
    }
}
