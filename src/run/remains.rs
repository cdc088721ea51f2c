//! What a trial has on its host, and how it is cleared away after a connection broke.

use std::time::Duration;

use crate::error::Result;
use crate::host::{self, Host};
use crate::workload::{self, GRACE};

use super::clock::Clock;
use super::identity::Identity;
use super::settings::Guard;
use super::survivors;
use super::trial::SHORT;

/// What a trial has on its host while it runs; what is left there when the connection breaks.
#[derive(Debug, Default)]
pub(super) struct Remains {
    pub(super) boot_id: Option<String>,
    pub(super) groups: Vec<i32>,
    /// How long the groups have to end after a signal.
    pub(super) grace: Duration,
    pub(super) workload: Option<i32>,
    pub(super) report: Option<String>,
    /// The values that files of the kernel had before.
    pub(super) guard: Option<Guard>,
    /// What could not be ended; nothing can be measured beside it.
    pub(super) running: Option<String>,
}

impl Remains {
    /// Whether anything is to be ended or looked at yet.
    pub(super) fn are_left(&self) -> bool {
        !self.groups.is_empty() || self.workload.is_some() || self.guard.is_some()
    }

    /// Ends, restores and removes what a trial left, over a new connection. Gives notes of what was restored.
    pub(super) fn clear(&self, host: &dyn Host, clock: &dyn Clock) -> Result<Vec<String>> {
        if self.boot_id.is_none() || Identity::read(host)?.boot_id != self.boot_id {
            // Another boot: nothing is left, and the numbers may be others' by now.
            return Ok(Vec::new());
        }
        for signal in ["INT", "TERM", "KILL"] {
            for &group in &self.groups {
                host::signal_group(host, group, signal)?;
            }
            let begun = clock.now();
            while clock.now() - begun < self.grace && self.any_runs(host)? {
                clock.sleep(GRACE / 10);
            }
        }
        if let Some(group) = self.workload {
            survivors::end(host, clock, group)?;
        }
        if let Some(report) = &self.report {
            host.exec(&remove(report), SHORT)?;
        }
        // Last, when nothing is left that could change a file again.
        self.guard
            .as_ref()
            .map_or(Ok(Vec::new()), |g| g.check(host))
    }

    fn any_runs(&self, host: &dyn Host) -> Result<bool> {
        let groups = self.groups.iter().map(|group| format!("-{group}"));
        let groups: Vec<String> = groups.collect();
        let script = format!(
            "for group in {}; do kill -0 \"$group\" 2>/dev/null && echo \"$group\"; done",
            groups.join(" ")
        );
        Ok(!host.exec(&script, SHORT)?.stdout.is_empty())
    }
}

/// The script that removes a workload's report.
pub(super) fn remove(report: &str) -> String {
    format!("rm -f {}", workload::quote(&[report.to_owned()]))
}
