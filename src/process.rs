//! Child processes on the controller: what they say, how they end, and never longer than a deadline.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::error::{Error, ErrorKind, Result};
use crate::unsent::Unsent;

/// Most bytes, standard output and standard error together, that a finished command may have said.
pub(crate) const OUTPUT_LIMIT: usize = 16 << 20;

/// How long a process that is told to end (TERM) may take before it is killed.
const GRACE: Duration = Duration::from_secs(1);

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
    /// It ended and its outputs are closed; nothing comes after.
    Ended(Exit),
}

/// A child in a session and process group of its own; ended and reaped when dropped.
pub(crate) struct Child {
    process: std::process::Child,
    stdin: Option<ChildStdin>,
    unsent: Unsent,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    stderr_first: bool,
    exit: Option<Exit>,
}

impl Child {
    /// Starts a command in a session of its own (the terminal's Ctrl-C is not for it), with HUP, INT and QUIT at
    /// their defaults: nohup and a shell's background job pass them on ignored, and an ignored INT cannot end a workload.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
        // SAFETY: between fork and exec only async-signal-safe functions run: signal and setsid.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::signal(libc::SIGQUIT, libc::SIG_DFL);
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                rustix::process::setsid()?;
                Ok(())
            });
        }
        let mut process = command.spawn()?;
        let stdin = process.stdin.take();
        if let Some(stdin) = &stdin {
            // A write must not wait for a child that waits for its output to be read.
            fcntl_setfl(stdin, fcntl_getfl(stdin)? | OFlags::NONBLOCK)?;
        }
        Ok(Child {
            stdin,
            unsent: Unsent::default(),
            stdout: process.stdout.take(),
            stderr: process.stderr.take(),
            process,
            stderr_first: false,
            exit: None,
        })
    }

    /// Its process group, which is its process id.
    pub(crate) fn group(&self) -> i32 {
        self.process.id() as i32
    }

    /// What it is to read, sent by [`Child::next`]. For a child whose standard input is piped.
    pub(crate) fn input(&mut self) -> &mut Unsent {
        &mut self.unsent
    }

    /// Its standard error, for a caller who reads it in another way.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.stderr.take()
    }

    /// The next thing that it does; waits at most `timeout` for it.
    pub(crate) fn next(&mut self, timeout: Duration) -> io::Result<Event> {
        let deadline = after(timeout);
        loop {
            if let Some(exit) = self.exit {
                return Ok(Event::Ended(exit));
            }
            if self.unsent.is_over() {
                self.stdin = None;
            }
            if self.stdout.is_some() || self.stderr.is_some() {
                if let Some(event) = self.read(deadline)? {
                    return Ok(event);
                }
            } else if let Some(status) = self.process.try_wait()? {
                // The leader is reaped only now: until then its group's number cannot belong to another.
                self.exit = Some(exit_of(status));
                continue;
            } else {
                let moment = left(deadline).min(Duration::from_millis(5));
                if self.stdin.is_some() && !self.unsent.rest().is_empty() {
                    self.read(after(moment))?;
                } else {
                    std::thread::sleep(moment);
                }
            }
            if Instant::now() >= deadline {
                return Ok(Event::Quiet);
            }
        }
    }

    /// Waits for an output to have bytes and gives them, and sends input meanwhile; `None` when there were none, or one
    /// was closed.
    fn read(&mut self, deadline: Instant) -> io::Result<Option<Event>> {
        let (stdin, stdout, stderr) = {
            let input = self
                .stdin
                .as_ref()
                .filter(|_| !self.unsent.rest().is_empty());
            let mut fds = Vec::with_capacity(3);
            fds.extend(input.map(|s| PollFd::new(s, PollFlags::OUT)));
            fds.extend(self.stdout.iter().map(|s| PollFd::new(s, PollFlags::IN)));
            fds.extend(self.stderr.iter().map(|s| PollFd::new(s, PollFlags::IN)));
            wait_ready(&mut fds, left(deadline))?;
            let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
            let mut is_ready = |is_open: bool| is_open && ready.next().unwrap_or(false);
            (
                is_ready(input.is_some()),
                is_ready(self.stdout.is_some()),
                is_ready(self.stderr.is_some()),
            )
        };
        if stdin {
            self.send()?;
        }
        let mut bytes = vec![0; 64 << 10];
        // Turns, so that one busy output does not keep the other waiting.
        let from_stderr = stderr && (self.stderr_first || !stdout);
        if from_stderr {
            self.stderr_first = false;
            let n = read_some(&mut self.stderr, &mut bytes)?;
            bytes.truncate(n);
            return Ok((n > 0).then_some(Event::Stderr(bytes)));
        }
        if stdout {
            self.stderr_first = true;
            let n = read_some(&mut self.stdout, &mut bytes)?;
            bytes.truncate(n);
            return Ok((n > 0).then_some(Event::Stdout(bytes)));
        }
        Ok(None)
    }

    /// Sends what fits.
    fn send(&mut self) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        match stdin.write(self.unsent.rest()) {
            Ok(sent) => self.unsent.advance(sent),
            // It has closed its input: whether that was too early, its end tells.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.unsent.drop_rest(),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
        Ok(())
    }

    /// False when the group is another user's, such as sudo's.
    fn signal_group(&self, signal: Signal) -> bool {
        let Some(group) = Pid::from_raw(self.group()) else {
            return true;
        };
        // No such process: it has ended already.
        kill_process_group(group, signal) != Err(rustix::io::Errno::PERM)
    }

    /// Whether the leader has ended, without reaping it.
    fn has_ended(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.group()) else {
            return true;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.exit.is_some() {
            return;
        }
        if !self.signal_group(Signal::TERM) {
            // It cannot be ended, and waiting for it may take for ever.
            return;
        }
        let deadline = after(GRACE);
        while !self.has_ended() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.signal_group(Signal::KILL);
        let _ = self.process.wait();
    }
}

/// Reads once; at the end of the stream, closes it.
fn read_some<R: Read>(stream: &mut Option<R>, bytes: &mut [u8]) -> io::Result<usize> {
    let Some(open) = stream else { return Ok(0) };
    match open.read(bytes) {
        Ok(0) => *stream = None,
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        other => return other,
    }
    Ok(0)
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Runs a tool of the controller, such as `ssh -G`, to its end.
///
/// # Errors
/// `HostStable` when it cannot be started, else as [`collect`].
pub(crate) fn run(command: &mut Command, deadline: Duration) -> Result<Output> {
    let tool = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = Child::spawn(command).map_err(|source| {
        Error::new(ErrorKind::HostStable, format!("cannot run `{tool}`"))
            .because(source)
            .next("install OpenSSH's client programs (package openssh-client)")
    })?;
    collect(&tool, deadline, |timeout| {
        child.next(timeout).map_err(|source| {
            Error::new(
                ErrorKind::HostTransient,
                format!("cannot read from `{tool}`"),
            )
            .because(source)
        })
    })
}

/// Gathers events until the command's end.
///
/// # Errors
/// Those of `next`; `HostTransient` when `deadline` passes first; `HostStable` past [`OUTPUT_LIMIT`].
pub(crate) fn collect(
    who: &str,
    deadline: Duration,
    mut next: impl FnMut(Duration) -> Result<Event>,
) -> Result<Output> {
    let end = after(deadline);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match next(left(end))? {
            Event::Stdout(bytes) => stdout.extend(bytes),
            Event::Stderr(bytes) => stderr.extend(bytes),
            Event::Quiet => {}
            Event::Ended(exit) => {
                return Ok(Output {
                    exit,
                    stdout,
                    stderr,
                });
            }
        }
        if stdout.len() + stderr.len() > OUTPUT_LIMIT {
            return Err(Error::new(
                ErrorKind::HostStable,
                format!(
                    "{who}: the command said more than {} MiB",
                    OUTPUT_LIMIT >> 20
                ),
            ));
        }
        if Instant::now() >= end {
            return Err(Error::new(
                ErrorKind::HostTransient,
                format!("{who}: the command did not end within {deadline:?}"),
            ));
        }
    }
}

/// The moment `timeout` from now; a year at most, so that any duration may be given.
pub(crate) fn after(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(Duration::from_secs(365 * 86400))
}

/// The time left until a moment.
pub(crate) fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Waits until a descriptor is ready or the time is over. A signal that interrupts it counts as nothing ready.
pub(crate) fn wait_ready(fds: &mut [PollFd<'_>], timeout: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match poll(fds, Some(&timeout)) {
        Ok(_) => Ok(()),
        Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Text from a host or a tool, made safe and short for a message: one line, escaped, the last 300 characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skip = line.chars().count().saturating_sub(300);
    let short: String = line.chars().skip(skip).collect();
    short
        .chars()
        .flat_map(|c| {
            let plain = c.is_ascii_graphic() || c == ' ';
            let escaped = (!plain).then(|| c.escape_default());
            plain
                .then_some(c)
                .into_iter()
                .chain(escaped.into_iter().flatten())
        })
        .collect()
}

#[cfg(test)]
mod tests;
