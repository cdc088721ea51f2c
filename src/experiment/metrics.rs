//! The metrics that monitors give, and the summaries that one trial's series has: the one list.

use crate::experiment::{MonitorKind, Workload, WorkloadKind};

/// A metric: a named number over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Such as `memory.used`.
    pub name: &'static str,
    /// The monitor that gives it.
    pub monitor: MonitorKind,
    /// How it is had from what the monitor reads; in KiB.
    pub from: &'static str,
}

/// Every metric that an experiment can name.
pub const METRICS: [Metric; 7] = [
    Metric {
        name: "memory.used",
        monitor: MonitorKind::Meminfo,
        from: "MemTotal - MemAvailable",
    },
    Metric {
        name: "memory.available",
        monitor: MonitorKind::Meminfo,
        from: "MemAvailable",
    },
    Metric {
        name: "memory.free",
        monitor: MonitorKind::Meminfo,
        from: "MemFree",
    },
    Metric {
        name: "memory.cached",
        monitor: MonitorKind::Meminfo,
        from: "Cached",
    },
    Metric {
        name: "memory.slab",
        monitor: MonitorKind::Meminfo,
        from: "Slab",
    },
    Metric {
        name: "memory.anon",
        monitor: MonitorKind::Meminfo,
        from: "AnonPages",
    },
    Metric {
        name: "free.used",
        monitor: MonitorKind::Free,
        from: "the column `used` of `free -k`, whose formula depends on the version of procps",
    },
];

/// A summary: one number of one trial's series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Such as `peak`; a metric's summary is `memory.used.peak`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// Every summary.
pub const SUMMARIES: [Summary; 6] = [
    Summary {
        name: "peak",
        about: "largest value while the workload runs",
    },
    Summary {
        name: "median",
        about: "median while the workload runs",
    },
    Summary {
        name: "p95",
        about: "95th percentile while the workload runs",
    },
    Summary {
        name: "mean",
        about: "mean while the workload runs",
    },
    Summary {
        name: "idle",
        about: "median of the idle phase",
    },
    Summary {
        name: "rise",
        about: "peak less idle",
    },
];

/// The metric of a name `metric.summary`, when both are in the lists.
pub fn find(name: &str) -> Option<Metric> {
    let (metric, summary) = name.rsplit_once('.')?;
    SUMMARIES.iter().find(|known| known.name == summary)?;
    METRICS.into_iter().find(|known| known.name == metric)
}

/// The names `metric.summary` that these monitors give, in the list's order.
///
/// ```
/// use ktrial::experiment::{MonitorKind, metrics};
/// let names = metrics::names(&[MonitorKind::Free]);
/// assert_eq!(names[0], "free.used.peak");
/// ```
pub fn names(monitors: &[MonitorKind]) -> Vec<String> {
    METRICS
        .iter()
        .filter(|metric| monitors.contains(&metric.monitor))
        .flat_map(|metric| {
            SUMMARIES
                .iter()
                .map(move |summary| format!("{}.{}", metric.name, summary.name))
        })
        .collect()
}

/// What a boot took as a whole, in seconds, as `systemd-analyze time` says it. Firmware and loader are left out: few
/// machines tell them.
pub const BOOT_METRICS: [&str; 4] = ["boot.kernel", "boot.initrd", "boot.userspace", "boot.total"];

/// The names of every number that a trial of this workload gives with these monitors.
pub fn given(workload: &Workload, monitors: &[MonitorKind]) -> Vec<String> {
    let mut all = match workload.kind {
        WorkloadKind::Boot => {
            let whole = BOOT_METRICS.map(str::to_owned);
            workload.arguments.iter().cloned().chain(whole).collect()
        }
        _ => names(monitors),
    };
    if workload.kind == WorkloadKind::StressNg {
        let stressors = workload.arguments.iter().filter_map(|word| {
            let name = word.strip_prefix("--")?.split('=').next()?;
            // A stressor's own options have a hyphen in them; no option of ours gives a rate.
            (!name.is_empty() && !name.contains('-'))
                .then(|| format!("stress-ng.{name}.bogo_ops_per_s"))
        });
        all.extend(stressors);
    }
    all
}

/// Whether a word can be a systemd unit's name, as systemd.unit(5) has it: what it consists of, and an ending.
pub fn is_unit_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b":-_.\\@".contains(&b);
    let parts = name.rsplit_once('.');
    name.len() <= 255
        && name.bytes().all(plain)
        && parts.is_some_and(|(stem, kind)| !stem.is_empty() && !kind.is_empty())
}

/// Every metric and every summary as Markdown tables.
pub fn tables() -> String {
    let mut text = String::from("| metric | monitor | KiB of |\n|---|---|---|\n");
    for metric in METRICS {
        let (name, monitor, from) = (metric.name, metric.monitor.name(), metric.from);
        text.push_str(&format!("| `{name}` | `{monitor}` | {from} |\n"));
    }
    text.push_str("\n| summary | meaning |\n|---|---|\n");
    for summary in SUMMARIES {
        text.push_str(&format!("| `.{}` | {} |\n", summary.name, summary.about));
    }
    text
}
