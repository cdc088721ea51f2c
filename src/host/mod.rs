//! Hosts: where trials run. [`Host`] is all that later stages know of one.

mod as_root;
mod fence;
mod local;
mod password;
mod root_refused;
#[cfg(test)]
pub(crate) mod scripted;
mod ssh;

use std::path::Path;
use std::time::Duration;

pub use as_root::{AskPassword, CHECK as ROOT_CHECK, Way, as_root};
pub use local::Local;
pub use password::Password;
pub use ssh::Ssh;

pub use crate::process::{Event, Exit, Output};

use crate::error::{Error, ErrorKind, Result};
use crate::inventory::Target;
use crate::process::shown;

/// Most bytes of a script: the kernel passes at most 128 KiB as one argument.
const SCRIPT_LIMIT: usize = 100 << 10;

/// How long [`signal_group`] may take.
const SIGNAL_DEADLINE: Duration = Duration::from_secs(20);

/// Most bytes of input that a script may be given.
pub const INPUT_LIMIT: usize = 16 << 20;

/// A host reachable now.
///
/// Scripts are POSIX sh, run with `LC_ALL=C`, in a session and process group of their own; at most 100 KiB, without
/// NUL bytes. Input, at most [`INPUT_LIMIT`], is what a script reads on its standard input, with an end after it; a
/// script without input finds the end at once. A script has ended when its process ended and nothing holds its
/// outputs open, whether it read its input or not.
pub trait Host: Send + Sync {
    /// The name the user knows it by.
    fn name(&self) -> &str;

    /// Runs a script to its end.
    ///
    /// # Errors
    /// `HostTransient` when the connection breaks or `deadline` passes, `HostStable` when the host refuses.
    /// A script that ends with another code than 0 is not an error here. Output past 16 MiB is `HostStable`,
    /// a script or input that is too long, or a script with a NUL byte, `Usage`.
    fn exec_fed(&self, script: &str, input: &[u8], deadline: Duration) -> Result<Output>;

    /// Starts a script and gives its output as it comes. Input is sent while [`Running::next`] waits.
    ///
    /// # Errors
    /// As [`Host::exec_fed`].
    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>>;

    /// As [`Host::spawn_fed`], with input that comes later: [`Running::feed`], then [`Running::end_input`].
    ///
    /// # Errors
    /// As [`Host::exec_fed`].
    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>>;

    /// [`Host::exec_fed`] without input.
    ///
    /// # Errors
    /// As there.
    fn exec(&self, script: &str, deadline: Duration) -> Result<Output> {
        self.exec_fed(script, &[], deadline)
    }

    /// [`Host::spawn_fed`] without input.
    ///
    /// # Errors
    /// As there.
    fn spawn(&self, script: &str) -> Result<Box<dyn Running>> {
        self.spawn_fed(script, &[])
    }
}

/// A command that runs on a host. When it is dropped before its end the connection is closed and, on the
/// controller itself, its process group is ended; on another host a script has to bound itself.
pub trait Running: Send {
    /// Its process group on the host, for [`signal_group`].
    fn group(&self) -> i32;

    /// Gives it further input, after [`Host::spawn_open`]; sent while [`Running::next`] waits.
    fn feed(&mut self, bytes: &[u8]);

    /// Ends its input.
    fn end_input(&mut self);

    /// The next thing that it does; waits at most `timeout` for it.
    ///
    /// # Errors
    /// `HostTransient` when the connection broke.
    fn next(&mut self, timeout: Duration) -> Result<Event>;
}

/// Connects to a host by the name that the user's ssh knows; `local` is the controller itself.
///
/// `ssh_config` is for `ssh -F`; without it the user's own files count.
///
/// # Errors
/// `Usage` for a name that cannot be one, `HostTransient` and `HostStable` as docs/hosts.md says.
pub fn connect(name: &str, ssh_config: Option<&Path>) -> Result<Box<dyn Host>> {
    if name == Local::NAME {
        return Ok(Box::new(Local));
    }
    let target = Target::resolve(name, ssh_config)?;
    Ok(Box::new(Ssh::connect(target)?))
}

/// Sends a signal such as `INT` to a process group on a host. A group that is gone already is no error.
///
/// # Errors
/// As [`Host::exec`]; `Usage` when `group` or `signal` cannot be one; `HostStable` when the host refuses.
pub fn signal_group(host: &dyn Host, group: i32, signal: &str) -> Result<()> {
    let is_name = !signal.is_empty() && signal.bytes().all(|b| b.is_ascii_uppercase());
    // Group 1 is init's, and -1 would mean every process.
    if group <= 1 || !is_name {
        return Err(Error::usage(format!(
            "cannot send `{}` to process group {group}",
            shown(signal.as_bytes())
        )));
    }
    // Not `kill -s INT -- -GROUP`: busybox takes no `--`, and dash not without it.
    let script = format!("kill -{signal} -{group}");
    let output = host.exec(&script, SIGNAL_DEADLINE)?;
    let gone = output
        .stderr
        .windows(15)
        .any(|text| text == b"No such process");
    if output.exit.ok() || gone {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::HostStable,
        format!(
            "{}: cannot send {signal} to process group {group}: {}",
            host.name(),
            shown(&output.stderr)
        ),
    ))
}

/// Refuses what cannot be passed as one argument.
fn check_script(host: &str, script: &str) -> Result<()> {
    let fault = if script.len() > SCRIPT_LIMIT {
        format!("of {} bytes is longer than {SCRIPT_LIMIT}", script.len())
    } else if script.contains('\0') {
        "holds a NUL byte".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::usage(format!("{host}: a script {fault}"))
        .next("shorten the workload's arguments, or put them into a file on the host"))
}

/// Refuses more than [`INPUT_LIMIT`], and what [`as_root`] puts before it.
fn check_input(host: &str, input: &[u8]) -> Result<()> {
    check_input_length(host, input, INPUT_LIMIT + as_root::ADDS)
}

fn check_input_length(host: &str, input: &[u8], limit: usize) -> Result<()> {
    if input.len() <= limit {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{host}: input of {} bytes is longer than {INPUT_LIMIT}",
        input.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_group_and_a_signal_name_are_sent() {
        for (group, signal) in [
            (0, "INT"),
            (-1, "INT"),
            (1, "KILL"),
            (99, ""),
            (99, "INT; rm"),
        ] {
            let error = signal_group(&Local, group, signal).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{group} {signal}");
        }
    }

    #[test]
    fn a_script_that_no_shell_can_take_is_refused() {
        assert!(check_script("h", &"x".repeat(SCRIPT_LIMIT)).is_ok());
        assert!(check_script("h", &"x".repeat(SCRIPT_LIMIT + 1)).is_err());
        assert!(check_script("h", "echo \0").is_err());
    }
}
