//! What a boot took, as systemd-analyze(1) tells of it: the trial where the boot is the workload.

use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::Output;
use crate::parse::blame;
use crate::workload::boot::QUESTIONS;

use super::boot_over::pause;
use super::identity::Identity;
use super::link::Link;
use super::said;
use super::trial::{Ending, Setting};

/// How long one question may take; the first one after a boot reads programs from the disk.
const DEADLINE: Duration = Duration::from_secs(120);

/// How long systemd may say that the boot is not finished.
const FINISHED_WITHIN: Duration = Duration::from_secs(60);

/// Between two tries.
const PAUSE: Duration = Duration::from_secs(5);

/// Most that is kept of an answer.
const KEPT_BYTES: usize = 1 << 20;

/// Asks the host what its present boot took, and keeps the answers.
///
/// # Errors
/// As [`crate::host::Host::exec`], and when the record cannot be written.
pub(super) fn fetch(setting: &Setting<'_>, link: &mut Link<'_>) -> Result<Ending> {
    let slot = setting.slot;
    let before = link.again(Identity::read)?.boot_id;
    if let Some(ending) = setting.other_boot(before.as_deref()) {
        return Ok(ending);
    }
    for (monitor, file, script) in QUESTIONS {
        let Some(output) = ask(link, script)? else {
            return Ok(Ending::Interrupted);
        };
        let for_people = crate::parse::parser(monitor).is_none();
        if !output.exit.ok() {
            let said = said::last_line(&output.stderr).unwrap_or_default();
            let what = format!("{monitor} failed: {said}");
            if !for_people {
                return Ok(Ending::Failed(what));
            }
            slot.update(|trial| trial.notes.push(what))?;
        }
        let kept = output.stdout.get(..KEPT_BYTES).unwrap_or(&output.stdout);
        slot.open_raw(monitor, file)?
            .write_all(kept)
            .map_err(|e| Error::new(ErrorKind::Io, "cannot write what the host sent").because(e))?;
        let mut notes = Vec::new();
        if kept.len() < output.stdout.len() {
            let all = output.stdout.len();
            notes.push(format!(
                "{monitor}: the first {KEPT_BYTES} of {all} bytes are kept"
            ));
        }
        if monitor == blame::MONITOR {
            notes.extend(missing(&setting.experiment.workload.arguments, kept));
        }
        if !notes.is_empty() {
            slot.update(|trial| trial.notes.extend(notes))?;
        }
    }
    if link.again(Identity::read)?.boot_id != before {
        let what = "the host rebooted while it was asked what its boot took";
        return Ok(Ending::Failed(what.to_owned()));
    }
    Ok(Ending::Complete)
}

/// One answer; none when the run was cancelled. While the boot is not finished systemd is asked again.
fn ask(link: &mut Link<'_>, script: &str) -> Result<Option<Output>> {
    let (clock, cancel) = (link.shared.clock, link.shared.cancel);
    let begun = clock.now();
    loop {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let output = link.again(|host| host.exec(script, DEADLINE))?;
        let unfinished = String::from_utf8_lossy(&output.stderr).contains("not yet finished");
        if output.exit.ok() || !unfinished || clock.now() - begun >= FINISHED_WITHIN {
            return Ok(Some(output));
        }
        pause(clock, cancel, PAUSE);
    }
}

/// The units of the experiment that a blame list does not have, in a sentence each.
fn missing(units: &[String], list: &[u8]) -> Vec<String> {
    let parsed = blame::parse(list);
    let listed: HashSet<&str> = parsed.values.iter().map(|v| v.metric.as_str()).collect();
    let missing = units.iter().filter(|unit| !listed.contains(unit.as_str()));
    missing
        .map(|unit| {
            format!("missing: systemd-analyze blame does not list {unit}; it did not run in this boot, or the host has none")
        })
        .collect()
}
