//! The metrics that an experiment names before it runs.

use std::time::Duration;

use super::Checker;
use crate::error::Result;
use crate::experiment::words::{nearest, shown};
use crate::experiment::{Monitor, MonitorKind, Workload, metrics};

/// What there will be to choose from.
pub(super) struct Measured<'a> {
    pub(super) workload: &'a Workload,
    pub(super) monitors: &'a [Monitor],
    pub(super) idle: Duration,
}

impl Checker<'_> {
    /// Whether the trials will give the metric that stands at this path.
    pub(super) fn metric(&self, path: &[&str], name: &str, measured: &Measured<'_>) -> Result<()> {
        let monitors: Vec<MonitorKind> = measured.monitors.iter().map(|m| m.kind).collect();
        let names = metrics::given(measured.workload, &monitors);
        if names.iter().any(|known| known == name) {
            let needs_idle = name.ends_with(".idle") || name.ends_with(".rise");
            if needs_idle && !monitors.is_empty() && measured.idle.is_zero() {
                return Err(self
                    .wrong(
                        path,
                        format!("{} needs an idle phase, and `idle` is 0s", shown(name)),
                    )
                    .next("give `idle` a few seconds"));
            }
            return Ok(());
        }
        if let Some(metric) = metrics::find(name).filter(|_| !monitors.is_empty()) {
            let monitor = metric.monitor.name();
            return Err(self
                .wrong(
                    path,
                    format!("{} needs the monitor `{monitor}`", shown(name)),
                )
                .next(format!("add `{monitor}` to `monitors`")));
        }
        let every = metrics::names(&MonitorKind::ALL);
        let near = nearest(name, names.iter().chain(&every).map(String::as_str));
        let list = names.join(", ");
        Err(self
            .wrong(path, format!("nothing here gives {}", shown(name)))
            .next(match near {
                Some(near) => format!("did you mean `{near}`? metrics here: {list}"),
                None => format!("metrics here: {list}"),
            }))
    }

    /// Further metrics: each is given, and named once.
    pub(super) fn secondary(
        &self,
        secondary: &[String],
        primary: &str,
        measured: &Measured<'_>,
    ) -> Result<()> {
        for (index, name) in secondary.iter().enumerate() {
            let path = ["secondary", &index.to_string()];
            self.metric(&path, name, measured)?;
            if name == primary {
                return Err(self
                    .wrong(&path, format!("{} is the primary metric", shown(name)))
                    .next("name it once"));
            }
            if secondary.iter().take(index).any(|other| other == name) {
                return Err(self
                    .wrong(&path, format!("{} stands twice", shown(name)))
                    .next("name it once"));
            }
        }
        Ok(())
    }
}
