//! What runs, and what is sampled.

use std::time::Duration;

use super::{Checker, DAY};
use crate::error::Result;
use crate::experiment::draft::{MonitorsDraft, WorkloadDraft};
use crate::experiment::keys::takes;
use crate::experiment::metrics::is_unit_name;
use crate::experiment::words::shown;
use crate::experiment::{
    BOOT_TAKES, Monitor, MonitorKind, Workload, WorkloadKind, duration, fits, template,
};

const MILLISECOND: Duration = Duration::from_millis(1);
/// Times between samples of a file of the kernel, 1 kHz to 0.1 Hz.
const FILE_PERIODS: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(10)];
/// `free` takes no less.
const FREE_PERIODS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(600)];

impl Checker<'_> {
    pub(super) fn workload(&self, mut workload: WorkloadDraft) -> Result<Workload> {
        let mut given: Vec<(WorkloadKind, Vec<String>)> = Vec::new();
        for kind in WorkloadKind::ALL {
            given.extend(workload.arguments(kind).take().map(|list| (kind, list)));
        }
        let mut given = given.into_iter();
        let (kind, arguments) = match (given.next(), given.next()) {
            (Some(only), None) => only,
            (Some((one, _)), Some((other, _))) => {
                let (one, other) = (one.word(), other.word());
                return Err(self
                    .sources
                    .at_key(
                        &["workload", other],
                        format!("`workload` has both `{one}` and `{other}`"),
                    )
                    .next("keep one of them"));
            }
            (None, _) => {
                let words = WorkloadKind::ALL.map(|kind| format!("`{}`", kind.word()));
                return Err(self
                    .sources
                    .at_key(
                        &["workload"],
                        format!("`workload` has none of {}", words.join(", ")),
                    )
                    .next(format!("give {}", takes(&["workload"]))));
            }
        };
        let path = fits::workload_path(kind);
        if arguments.is_empty() {
            return Err(self
                .at(&path, "is empty")
                .next(format!("give {}", takes(&path))));
        }
        for (index, argument) in arguments.iter().enumerate() {
            let path = [path[0], path[1], &index.to_string()];
            if argument.contains('\0') {
                return Err(self
                    .sources
                    .at_value(&path, "an argument cannot hold a NUL"));
            }
            template::pieces(argument).map_err(|why| {
                self.sources
                    .at_value(&path, format!("argument {} {why}", shown(argument)))
                    .next("write `{{` and `}}` for braces that the program shall see")
            })?;
        }
        if kind == WorkloadKind::Boot {
            self.units(&arguments)?;
        }
        let path = ["workload", "duration"];
        let text = match (kind, workload.duration) {
            (WorkloadKind::Boot, None) => duration::show(BOOT_TAKES),
            (_, given) => self.given_at(&path, given)?,
        };
        let length = self.duration(&path, Some(text), MILLISECOND, DAY)?;
        if kind == WorkloadKind::StressNg && length.subsec_nanos() != 0 {
            return Err(self
                .wrong(&path, "stress-ng runs for whole seconds only")
                .next("give whole seconds, such as 3s"));
        }
        Ok(Workload {
            kind,
            arguments,
            duration: length,
        })
    }

    /// The units whose times a boot is asked for, each once.
    fn units(&self, units: &[String]) -> Result<()> {
        for (index, unit) in units.iter().enumerate() {
            let path = ["workload", "boot", &index.to_string()];
            let why = match unit {
                unit if !is_unit_name(unit) => "is no name of a systemd unit",
                unit if units.iter().take(index).any(|other| other == unit) => "stands twice",
                _ => continue,
            };
            return Err(self
                .sources
                .at_value(&path, format!("{} {why}", shown(unit)))
                .next(format!("give {}", takes(&["workload", "boot"]))));
        }
        Ok(())
    }

    pub(super) fn monitors(
        &self,
        monitors: Option<MonitorsDraft>,
        workload: WorkloadKind,
    ) -> Result<Vec<Monitor>> {
        let monitors = match (workload, monitors) {
            (WorkloadKind::Boot, None) => return Ok(Vec::new()),
            (WorkloadKind::Boot, Some(_)) => return Err(self.not_for_boots("monitors")),
            (_, given) => self.given("monitors", given)?,
        };
        let drafts = [
            (MonitorKind::Meminfo, monitors.meminfo, FILE_PERIODS),
            (MonitorKind::Vmstat, monitors.vmstat, FILE_PERIODS),
            (MonitorKind::Free, monitors.free, FREE_PERIODS),
        ];
        let mut chosen = Vec::new();
        for (kind, draft, [least, most]) in drafts {
            let Some(draft) = draft else { continue };
            let path = ["monitors", kind.name(), "every"];
            let period = self.duration(&path, draft.every, least, most)?;
            if kind == MonitorKind::Free && period.subsec_millis() % 10 != 0 {
                return Err(self
                    .wrong(&path, "`free` is run in steps of 10ms")
                    .next("give a multiple of 10ms"));
            }
            chosen.push(Monitor { kind, period });
        }
        if chosen.is_empty() {
            return Err(self
                .at(&["monitors"], "has none, so nothing would be measured")
                .next(format!("give {}", takes(&["monitors"]))));
        }
        Ok(chosen)
    }
}
