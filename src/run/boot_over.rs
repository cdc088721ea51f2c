//! Whether a boot is over, in systemd's own words.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::{self, Event, Host};
use crate::workload::boot::AWAIT;

use super::cancel::Cancel;
use super::clock::Clock;
use super::said;
use super::sequence::Shared;

/// How long units may take to start after a login works.
const OVER_WITHIN: Duration = Duration::from_secs(300);

/// How often it is seen whether the run was cancelled.
const POLL: Duration = Duration::from_millis(200);

/// How much is read of what the host says.
const SAID_BYTES: usize = 64 << 10;

/// How many failed units are named.
const NAMED: usize = 10;

/// Waits until systemd has started what belongs to the boot. Gives what a reader of the trial has to know.
///
/// # Errors
/// `Interrupted` when the run was cancelled, `HostTransient` when systemd cannot say yet, else as [`Host::spawn`].
pub(super) fn wait(host: &dyn Host, shared: &Shared<'_>) -> Result<Vec<String>> {
    let mut running = host.spawn(AWAIT)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let begun = shared.clock.now();
    loop {
        match running.next(POLL)? {
            Event::Stdout(bytes) => keep(&mut stdout, &bytes),
            Event::Stderr(bytes) => keep(&mut stderr, &bytes),
            Event::Quiet => {}
            Event::Ended(_) => return notes(&stdout, &stderr),
        }
        let late = shared.clock.now() - begun > OVER_WITHIN;
        if late || shared.cancel.is_cancelled() {
            host::signal_group(host, running.group(), "TERM")?;
        }
        if shared.cancel.is_cancelled() {
            return Err(Error::new(ErrorKind::Interrupted, "ended by the user"));
        }
        if late {
            let seconds = OVER_WITHIN.as_secs();
            return Ok(vec![format!(
                "systemd had not ended the boot {seconds} s after a login worked"
            )]);
        }
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = SAID_BYTES.saturating_sub(kept.len());
    kept.extend(bytes.iter().take(room));
}

fn notes(stdout: &[u8], stderr: &[u8]) -> Result<Vec<String>> {
    let text = String::from_utf8_lossy(stdout);
    let mut lines = text.lines();
    let state = said::escaped(lines.next().unwrap_or_default().trim(), said::MESSAGE);
    let failed: Vec<String> = lines
        .filter_map(|line| line.split_whitespace().next())
        .map(|unit| said::escaped(unit, said::MESSAGE))
        .collect();
    let mut note = match state.as_str() {
        "running" => return Ok(Vec::new()),
        "none" => "no systemd there: the boot counts as over since a login worked".to_owned(),
        // In spite of `--wait`: before its bus is up, or while it starts itself anew.
        "" | "offline" | "initializing" | "starting" => {
            let said = [state, said::last_line(stderr).unwrap_or_default()].join(" ");
            let what = format!(
                "systemd does not say that the boot is over: {}",
                said.trim()
            );
            return Err(Error::new(ErrorKind::HostTransient, what));
        }
        state => format!("systemd calls the boot {state}"),
    };
    if !failed.is_empty() {
        note.push_str("; failed units: ");
        note.push_str(&failed[..failed.len().min(NAMED)].join(", "));
        if failed.len() > NAMED {
            note.push_str(&format!(" and {} more", failed.len() - NAMED));
        }
    }
    Ok(vec![note])
}

/// Waits, but no longer than until the run is cancelled.
pub(super) fn pause(clock: &dyn Clock, cancel: &Cancel, time: Duration) {
    let begun = clock.now();
    while clock.now() - begun < time && !cancel.is_cancelled() {
        clock.sleep(POLL.min(time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemd_says_is_told_unless_all_is_well() {
        let said = |text: &str| notes(text.as_bytes(), b"\nFailed to connect to bus\n");
        let told = |text: &str| said(text).unwrap().join("; ");
        assert_eq!(told("running\n"), "");
        let degraded = "degraded\na.service loaded failed failed A\nb\x1b.service loaded x\n";
        assert_eq!(
            told(degraded),
            "systemd calls the boot degraded; failed units: a.service, b\\u{1b}.service"
        );
        assert!(told("none\n").starts_with("no systemd there"));
        for word in ["", "offline\n", "initializing\n", "starting\n"] {
            let error = said(word).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::HostTransient);
            assert!(
                error.to_string().ends_with("Failed to connect to bus"),
                "{error}"
            );
        }
        let many: String = (0..13).map(|i| format!("u{i}.mount x\n")).collect();
        assert!(told(&format!("degraded\n{many}")).ends_with("u9.mount and 3 more"));
    }
}
