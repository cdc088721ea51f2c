//! Hosts: where trials run. [`Host`] is all that later stages know of one.

#[cfg(test)]
pub(crate) mod scripted;

use std::time::Duration;

use crate::error::Result;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Exit {
    /// Code 0.
    pub fn ok(self) -> bool {
        self == Exit::Code(0)
    }
}

/// What a finished command gave.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output; what a login shell or banner printed before it is not part of it.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// What a running command did next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Bytes on standard output.
    Stdout(Vec<u8>),
    /// Bytes on standard error.
    Stderr(Vec<u8>),
    /// Nothing within the time waited.
    Quiet,
    /// It ended; nothing comes after.
    Ended(Exit),
}

/// A host reachable now. Scripts are POSIX sh, run with `LC_ALL=C` in a session and process group of their own.
pub trait Host: Send + Sync {
    /// The name the user knows it by.
    fn name(&self) -> &str;

    /// Runs a script to its end.
    ///
    /// # Errors
    /// `HostTransient` when the connection breaks or `deadline` passes, `HostStable` when the host refuses.
    /// A script that ends with another code than 0 is not an error here. Output past 16 MiB is an error.
    fn exec(&self, script: &str, deadline: Duration) -> Result<Output>;

    /// Starts a script and gives its output as it comes.
    ///
    /// # Errors
    /// As [`Host::exec`].
    fn spawn(&self, script: &str) -> Result<Box<dyn Running>>;
}

/// A command that runs on a host.
pub trait Running: Send {
    /// Its process group on the host, for [`signal_group`].
    fn group(&self) -> i32;

    /// The next thing that it does; waits at most `timeout` for it.
    ///
    /// # Errors
    /// `HostTransient` when the connection broke.
    fn next(&mut self, timeout: Duration) -> Result<Event>;
}

/// Sends a signal such as `INT` to a process group on a host. A group that is gone already is no error.
///
/// # Errors
/// As [`Host::exec`].
pub fn signal_group(host: &dyn Host, group: i32, signal: &str) -> Result<()> {
    host.exec(
        &format!("kill -s {signal} -- -{group}"),
        Duration::from_secs(20),
    )?;
    Ok(())
}
