//! Hosts over SSH. One session a stream: a stream that stalls holds up nobody else.

mod authentication;
mod host_key;
mod session;
mod socket;
mod stream;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::host::{Host, Output, Running, check_input, check_script};
use crate::inventory::Target;
use crate::process::{after, collect, left};
use session::Session;
use stream::Stream;

/// How long an open session that [`Host::exec`] uses again may take to answer before a new one is opened.
const REUSE_DEADLINE: Duration = Duration::from_secs(5);

/// Sessions that are kept open for the next [`Host::exec`].
const IDLE_SESSIONS: usize = 2;

/// A host over SSH, with keys only (no passwords), its host key always checked unless the user's config says otherwise.
/// docs/hosts.md has the rules and what each error means.
pub struct Ssh {
    target: Target,
    idle: Mutex<Vec<Session>>,
}

impl std::fmt::Debug for Ssh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ssh").field(&self.target.name).finish()
    }
}

impl Ssh {
    /// Connects, checks the host key and authenticates within the target's `connect_timeout`.
    ///
    /// # Errors
    /// `HostTransient` when the host does not answer or the connection breaks; `HostStable` when the name, the
    /// port, the host key or every key of the user is refused.
    pub fn connect(target: Target) -> Result<Ssh> {
        let session = open(&target, after(target.connect_timeout))?;
        Ok(Ssh {
            target,
            idle: Mutex::new(vec![session]),
        })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        // A list of whole sessions cannot be left half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a script, without `input` one whose input comes later, in an idle session when one still answers, else in a new one.
    fn start(&self, script: &str, input: Option<&[u8]>, deadline: Instant) -> Result<Stream> {
        let reused = loop {
            // Not in the `match`: the lock would be held while the host is asked.
            let idle = self.idle().pop();
            match idle {
                None => break None,
                Some(mut session) => {
                    // Only opening a channel may fail and be tried again: nothing has run yet.
                    if let Ok(channel) = session.channel(deadline.min(after(REUSE_DEADLINE))) {
                        break Some((session, channel));
                    }
                }
            }
        };
        let (session, channel) = match reused {
            Some(reused) => reused,
            None => {
                tracing::debug!(host = self.name(), "opening a session");
                let mut session = open(&self.target, deadline)?;
                let channel = session.channel(deadline)?;
                (session, channel)
            }
        };
        tracing::trace!(host = self.name(), script, "starting a script");
        Stream::start(session, channel, script, input, deadline)
    }
}

impl Host for Ssh {
    fn name(&self) -> &str {
        &self.target.name
    }

    fn exec_fed(&self, script: &str, input: &[u8], deadline: Duration) -> Result<Output> {
        check_script(self.name(), script)?;
        check_input(self.name(), input)?;
        let end = after(deadline);
        let mut stream = self.start(script, Some(input), end)?;
        let output = collect(self.name(), left(end), |timeout| stream.next(timeout))?;
        tracing::debug!(host = self.name(), exit = ?output.exit, "a script ended");
        let mut idle = self.idle();
        if let Some(session) = stream.into_session()
            && idle.len() < IDLE_SESSIONS
        {
            idle.push(session);
        }
        Ok(output)
    }

    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>> {
        check_script(self.name(), script)?;
        check_input(self.name(), input)?;
        let stream = self.start(script, Some(input), after(self.target.connect_timeout))?;
        Ok(Box::new(stream))
    }

    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>> {
        check_script(self.name(), script)?;
        let stream = self.start(script, None, after(self.target.connect_timeout))?;
        Ok(Box::new(stream))
    }
}

/// Opens a session in a thread of its own: the resolver, the agent and the ssh library may each wait longer than
/// they are told to. A thread that comes too late closes what it opened.
fn open(target: &Target, deadline: Instant) -> Result<Session> {
    let (sender, receiver) = channel();
    let this = target.clone();
    std::thread::spawn(move || {
        let _ = sender.send(Session::open(&this, deadline));
    });
    receiver
        .recv_timeout(left(deadline))
        .unwrap_or_else(|why| match why {
            RecvTimeoutError::Timeout => Err(Error::new(
                ErrorKind::HostTransient,
                format!("{}: no session within the time given", target.name),
            )
            .next(format!("see whether `{}` answers", target.ssh_command()))),
            RecvTimeoutError::Disconnected => Err(Error::new(
                ErrorKind::HostStable,
                format!("{}: the ssh library failed", target.name),
            )),
        })
}
