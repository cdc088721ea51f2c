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
    /// Whose they are.
    pub(super) trial: String,
    pub(super) boot_id: Option<String>,
    pub(super) groups: Vec<i32>,
    /// How long the groups have to end after a signal.
    pub(super) grace: Duration,
    pub(super) workload: Option<i32>,
    pub(super) report: Option<String>,
    /// The values that files of the kernel had before.
    pub(super) guard: Option<Guard>,
    /// What could not be ended or put back; nothing can be measured beside it.
    pub(super) running: Option<String>,
    /// What [`Remains::clear`] has to tell the trial's record.
    pub(super) notes: Vec<String>,
}

impl Remains {
    /// Whether anything is to be ended or looked at yet.
    pub(super) fn are_left(&self) -> bool {
        !self.groups.is_empty() || self.workload.is_some() || self.guard.is_some()
    }

    /// Ends, restores and removes what a trial left, over a new connection. What is done is not done again when it is
    /// called once more.
    pub(super) fn clear(&mut self, host: &dyn Host, clock: &dyn Clock) -> Result<()> {
        if self.boot_id.is_none() || Identity::read(host)?.boot_id != self.boot_id {
            // Another boot: nothing is left, and the numbers may be others' by now.
            self.running = None;
            return Ok(());
        }
        self.end_groups(host, clock)?;
        if let Some(group) = self.workload {
            let survivors = survivors::end(host, clock, group)?;
            self.workload = None;
            self.notes.extend(survivors.note());
            if let Some(running) = survivors.running(&self.trial) {
                self.running.get_or_insert(running);
            }
        }
        if let Some(report) = &self.report {
            host.exec(&remove(report), SHORT)?;
        }
        // Last, when nothing is left that could change a file again.
        if let Some(guard) = &self.guard {
            let found = guard.check(host)?;
            self.guard = None;
            self.notes.extend(found.notes);
            self.leaves(found.left);
        }
        Ok(())
    }

    /// Takes what could not be put back.
    pub(super) fn leaves(&mut self, left: Option<String>) {
        if let Some(left) = left {
            let id = &self.trial;
            self.running
                .get_or_insert_with(|| format!("{left} after trial {id}"));
        }
    }

    fn end_groups(&mut self, host: &dyn Host, clock: &dyn Clock) -> Result<()> {
        if self.groups.is_empty() {
            return Ok(());
        }
        for signal in ["INT", "TERM", "KILL"] {
            for &group in &self.groups {
                host::signal_group(host, group, signal)?;
            }
            let begun = clock.now();
            while clock.now() - begun < self.grace && !self.alive(host)?.is_empty() {
                clock.sleep(GRACE / 10);
            }
        }
        let alive = self.alive(host)?;
        if !alive.is_empty() {
            let (groups, id) = (alive.join(", "), &self.trial);
            let running = format!("a process of trial {id} still runs, in group {groups}");
            self.notes.push(format!("{running}: KILL did not end it"));
            self.running.get_or_insert(running);
        }
        self.groups.clear();
        Ok(())
    }

    /// The groups that still have a process.
    fn alive(&self, host: &dyn Host) -> Result<Vec<String>> {
        let groups: Vec<String> = self.groups.iter().map(i32::to_string).collect();
        let output = host.exec(&looking(&groups), SHORT)?;
        let found = String::from_utf8_lossy(&output.stdout);
        let is_found = |group: &String| found.lines().any(|line| line == group);
        Ok(groups.into_iter().filter(is_found).collect())
    }
}

/// Prints the groups that have a process. Not zombies, which nobody may ever ask for: fields 3 and 5 of
/// /proc/PID/stat, after a name that may hold anything; proc(5).
fn looking(groups: &[String]) -> String {
    format!(
        r#"# groups that run
for file in /proc/[0-9]*/stat; do
  read -r line <"$file" || continue
  set -- ${{line##*) }}
  case $1 in Z | X) continue ;; esac
  case " {} " in *" $3 "*) echo "$3" ;; esac
done 2>/dev/null
"#,
        groups.join(" ")
    )
}

/// The script that removes a workload's report.
pub(super) fn remove(report: &str) -> String {
    format!("rm -f {}", workload::quote(&[report.to_owned()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Local;

    #[test]
    fn a_group_is_alive_until_it_is_killed_and_a_zombie_is_not() {
        let running = Local.spawn("exec sleep 60").unwrap();
        let group = running.group();
        let remains = Remains {
            groups: vec![group, i32::MAX],
            ..Remains::default()
        };
        assert_eq!(remains.alive(&Local).unwrap(), [group.to_string()]);
        // Nobody waits for it: it stays as a zombie.
        host::signal_group(&Local, group, "KILL").unwrap();
        let is_gone = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            remains.alive(&Local).unwrap().is_empty()
        });
        assert!(is_gone);
        drop(running);
    }
}
