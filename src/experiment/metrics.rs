//! The metrics that monitors give, and the summaries that one trial's series has: the one list.

use crate::experiment::{MonitorKind, Workload, WorkloadKind};
use crate::unit::Unit;

/// A metric: a named number over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Such as `memory.used`.
    pub name: &'static str,
    /// The monitor that gives it.
    pub monitor: MonitorKind,
    /// Symbol of its unit, see [`Metric::unit`].
    symbol: &'static str,
    /// How it changes.
    pub growth: Growth,
    /// How it is had from what the monitor reads.
    pub from: &'static str,
}

/// How a metric changes over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Up and down.
    Gauge,
    /// Only up: how much of something happened since the workload's start.
    Counter,
}

impl Metric {
    /// Its unit.
    pub fn unit(&self) -> Unit {
        self.symbol.parse().unwrap_or_default()
    }

    /// The summaries that it has: of a counter only the peak, which is how much happened while the workload ran.
    pub fn summaries(&self) -> &'static [Summary] {
        match self.growth {
            Growth::Gauge => &SUMMARIES,
            Growth::Counter => SUMMARIES.first_chunk::<1>().map_or(&[], |peak| peak),
        }
    }
}

const fn metric(
    monitor: MonitorKind,
    growth: Growth,
    name: &'static str,
    symbol: &'static str,
    from: &'static str,
) -> Metric {
    Metric {
        name,
        monitor,
        symbol,
        growth,
        from,
    }
}

const fn meminfo(name: &'static str, from: &'static str) -> Metric {
    metric(MonitorKind::Meminfo, Growth::Gauge, name, "KiB", from)
}

/// Pages are the kernel's own, 4 KiB on most machines but not on all.
const fn gauge(name: &'static str, from: &'static str) -> Metric {
    metric(MonitorKind::Vmstat, Growth::Gauge, name, "pages", from)
}

const fn pages(name: &'static str, from: &'static str) -> Metric {
    metric(MonitorKind::Vmstat, Growth::Counter, name, "pages", from)
}

const fn events(name: &'static str, from: &'static str) -> Metric {
    metric(MonitorKind::Vmstat, Growth::Counter, name, "count", from)
}

/// Every metric that an experiment can name.
pub const METRICS: [Metric; 21] = [
    meminfo("memory.used", "MemTotal - MemAvailable"),
    meminfo("memory.available", "MemAvailable"),
    meminfo("memory.free", "MemFree"),
    meminfo("memory.cached", "Cached"),
    meminfo("memory.slab", "Slab"),
    meminfo("memory.anon", "AnonPages"),
    events("vmstat.pgfault", "page faults"),
    events("vmstat.pgmajfault", "those that had to read from a disk"),
    pages("vmstat.pgalloc", "pages given out, sum of pgalloc_ZONE"),
    pages(
        "vmstat.pgscan",
        "pages that reclaim looked at, sum of pgscan_kswapd, _direct, _khugepaged, _proactive",
    ),
    pages(
        "vmstat.pgsteal",
        "pages that reclaim took back, sum of pgsteal_ likewise",
    ),
    events(
        "vmstat.allocstall",
        "allocations that had to reclaim by themselves, sum of allocstall_ZONE",
    ),
    events(
        "vmstat.compact_stall",
        "allocations that had to compact memory",
    ),
    pages("vmstat.pswpin", "pages read from swap"),
    pages("vmstat.pswpout", "pages written to swap"),
    events("vmstat.oom_kill", "processes killed for want of memory"),
    events(
        "vmstat.thp_fault_alloc",
        "page faults that were given a huge page",
    ),
    gauge("vmstat.nr_free_pages", "pages that are free"),
    gauge("vmstat.nr_dirty", "pages that are to be written to a disk"),
    gauge(
        "vmstat.nr_slab_unreclaimable",
        "slab pages that reclaim cannot take back",
    ),
    metric(
        MonitorKind::Free,
        Growth::Gauge,
        "free.used",
        "KiB",
        "the column `used` of `free -k`, whose formula depends on the version of procps",
    ),
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

/// The metric of a name `metric.summary`, when it is in the list and has that summary.
pub fn find(name: &str) -> Option<Metric> {
    let (metric, summary) = name.rsplit_once('.')?;
    let found = series(metric)?;
    let mut summaries = found.summaries().iter();
    summaries
        .any(|known| known.name == summary)
        .then_some(found)
}

/// The metric of a series' name.
pub fn series(name: &str) -> Option<Metric> {
    METRICS.into_iter().find(|known| known.name == name)
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
            metric
                .summaries()
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
    let mut text =
        String::from("| metric | monitor | unit | summaries | what |\n|---|---|---|---|---|\n");
    for metric in METRICS {
        let (name, monitor, from) = (metric.name, metric.monitor.name(), metric.from);
        let (unit, summaries) = match metric.growth {
            Growth::Gauge => (metric.symbol, "all"),
            Growth::Counter => (metric.symbol, "`.peak`"),
        };
        text.push_str(&format!(
            "| `{name}` | `{monitor}` | {unit} | {summaries} | {from} |\n"
        ));
    }
    text.push_str("\n| summary | meaning |\n|---|---|\n");
    for summary in SUMMARIES {
        text.push_str(&format!("| `.{}` | {} |\n", summary.name, summary.about));
    }
    text
}
