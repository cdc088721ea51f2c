//! Processes of a workload that left its process group and outlived its trial, such as daemons.

use std::time::Duration;

use crate::error::Result;
use crate::host::Host;
use crate::workload::{self, GRACE};

use super::clock::Clock;
use super::said;

const DEADLINE: Duration = Duration::from_secs(20);

/// How many are named.
const NAMED: usize = 5;

/// What a trial's workload left running.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    /// `PID COMMAND` of those that were found, escaped and bounded; empty when the trial left nothing.
    pub(super) found: Vec<String>,
    /// Whether some run on, in spite of KILL.
    pub(super) remain: bool,
}

impl Survivors {
    /// What a trial's reader has to know.
    pub(super) fn note(&self) -> Option<String> {
        let fate = match self.remain {
            true => "could not be ended",
            false => "was ended",
        };
        (!self.found.is_empty()).then(|| {
            format!(
                "the workload left its process group, outlived the trial and {fate}: process {}",
                self.found.join("; ")
            )
        })
    }

    /// Why nothing can be measured beside them, when some run on.
    pub(super) fn running(&self, trial: &str) -> Option<String> {
        self.remain.then(|| {
            let found = self.found.join("; ");
            format!("process {found} of trial {trial} still runs")
        })
    }
}

/// Looks for the processes that the workload of this group left, and ends them.
///
/// # Errors
/// As [`Host::exec`].
pub(super) fn end(host: &dyn Host, clock: &dyn Clock, group: i32) -> Result<Survivors> {
    let mut survivors = Survivors::default();
    for signal in ["TERM", "KILL", "0"] {
        let output = host.exec(&script(group, signal), DEADLINE)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let left: Vec<String> = text
            .lines()
            .take(NAMED)
            .map(|line| said::escaped(line.trim_end(), said::MESSAGE / 2))
            .collect();
        survivors.remain = !left.is_empty();
        if !survivors.remain {
            break;
        }
        if survivors.found.is_empty() {
            survivors.found = left;
        }
        if signal != "0" {
            clock.sleep(GRACE / 4);
        }
    }
    Ok(survivors)
}

/// Names the processes that have the group's variable, and sends each the signal.
fn script(group: i32, signal: &str) -> String {
    let variable = workload::group_variable(group);
    format!(
        r#"# what outlived the trial
for file in $(grep -lsF '{variable}' /proc/[0-9]*/environ); do
  pid=${{file#/proc/}}
  pid=${{pid%/environ}}
  command=$(tr '\0' ' ' <"/proc/$pid/cmdline") && kill -s {signal} "$pid" && printf '%s %s\n' "$pid" "$command"
done 2>/dev/null
"#
    )
}
