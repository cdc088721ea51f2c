//! Monitors: what samples a host during a trial. Each is a POSIX sh script that ends by itself.

mod free;
mod proc_file;

use std::time::Duration;

use crate::experiment::{Monitor, MonitorKind};

/// The programs that the monitor needs on the host, besides a POSIX shell.
pub fn programs(kind: MonitorKind) -> &'static [&'static str] {
    match kind {
        MonitorKind::Meminfo | MonitorKind::Vmstat => &["sleep"],
        MonitorKind::Free => &["free", "grep", "awk", "sleep"],
    }
}

/// The file of the kernel that the monitor reads again and again; none when it runs a program.
pub fn file(kind: MonitorKind) -> Option<&'static str> {
    match kind {
        MonitorKind::Meminfo => Some("/proc/meminfo"),
        MonitorKind::Vmstat => Some("/proc/vmstat"),
        MonitorKind::Free => None,
    }
}

/// Most that a record keeps of what one monitor writes in a trial, in bytes; the rest is only counted.
pub const MOST_BYTES: u64 = 256 << 20;

/// About how many bytes a sample takes on a busy host.
///
/// An estimate: docs/sampling.md says what it rests on. The whole file is written once a second, between that only
/// what changed, which is less the nearer samples are to each other.
pub fn bytes_a_sample(monitor: &Monitor) -> u64 {
    let period_ms = monitor.period.as_millis();
    match (monitor.kind, period_ms) {
        (MonitorKind::Meminfo, ..10) => 200,
        (MonitorKind::Meminfo, ..1000) => 600,
        (MonitorKind::Meminfo, _) => 1600,
        (MonitorKind::Vmstat, ..10) => 300,
        (MonitorKind::Vmstat, ..1000) => 1000,
        (MonitorKind::Vmstat, _) => 4000,
        (MonitorKind::Free, _) => 10,
    }
}

/// The script that samples, exactly as it runs on the host.
///
/// `planned` is the whole trial, idle and settle phases included. The trial ends the monitor when it is over;
/// when nobody is left to do so, the monitor ends by itself after half as long again and a minute.
pub fn script(monitor: &Monitor, planned: Duration) -> String {
    let limit = planned + planned / 2 + Duration::from_secs(60);
    match file(monitor.kind) {
        Some(path) => proc_file::script(monitor.kind.name(), path, monitor.period, limit),
        None => free::script(monitor.period, limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Runs a monitor for real and gives what it wrote.
    fn run(
        kind: MonitorKind,
        period_ms: u64,
        script: impl Fn(Duration, Duration) -> String,
    ) -> String {
        let period = Duration::from_millis(period_ms);
        let text = script(period, Duration::from_millis(300));
        let output = Command::new("sh")
            .args(["-c", &text])
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        assert!(output.status.success(), "{kind:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn files_of_the_kernel_give_stamped_blocks_and_ends_by_itself() {
        for (kind, first) in [
            (MonitorKind::Meminfo, "MemTotal:"),
            (MonitorKind::Vmstat, "nr_free_pages "),
        ] {
            let path = file(kind).unwrap();
            let text = run(kind, 50, |period, limit| {
                proc_file::script(kind.name(), path, period, limit)
            });
            let blocks = text.matches("@ ").count();
            assert!((2..=8).contains(&blocks), "{blocks} blocks");
            assert!(text.starts_with("@ "), "{text}");
            assert_eq!(text.matches(&format!("\n{first}")).count(), blocks);
            assert!(text.ends_with('\n'), "{text}");
        }
    }

    #[test]
    fn free_gives_a_stamp_and_one_number_a_line() {
        let text = run(MonitorKind::Free, 100, free::script);
        let mut lines = text.lines();
        assert!(lines.next().unwrap().starts_with("@ "), "{text}");
        let numbers: Vec<u64> = lines.map(|l| l.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 3);
    }

    #[test]
    fn the_literal_pipeline_is_what_the_plan_shows() {
        let monitor = Monitor {
            kind: MonitorKind::Free,
            period: Duration::from_secs(1),
        };
        let text = script(&monitor, Duration::from_secs(40));
        assert!(text.contains("free -k -s 1 -c 120 | grep"), "{text}");
        assert!(text.contains("'{print $3; fflush()}'"), "{text}");
    }
}
