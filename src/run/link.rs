//! The way to one host, which may break and is made again.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::Host;

use super::boot_over::pause;
use super::progress::Update;
use super::sequence::Shared;

/// The longest pause between two tries to reach a host again; the first is a second, and each doubles.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a host that refuses is tried: while one boots or its sshd starts anew, logins may be refused for a moment.
const REFUSED_WITHIN: Duration = Duration::from_secs(60);

/// A host by its name, and the connection to it when there is one.
pub(super) struct Link<'a> {
    pub(super) name: &'a str,
    pub(super) host: Option<Box<dyn Host>>,
    pub(super) shared: &'a Shared<'a>,
    /// Since when nothing has worked there, whatever a login says.
    broken_since: Option<Duration>,
}

impl<'a> Link<'a> {
    /// A host and its connection.
    pub(super) fn new(name: &'a str, host: Box<dyn Host>, shared: &'a Shared<'a>) -> Link<'a> {
        Link {
            name,
            host: Some(host),
            shared,
            broken_since: None,
        }
    }

    /// Takes note that the host does what it is asked to.
    pub(super) fn worked(&mut self) {
        self.broken_since = None;
    }

    /// The host.
    ///
    /// # Errors
    /// `HostTransient` while there is no connection.
    pub(super) fn host(&self) -> Result<&dyn Host> {
        self.host.as_deref().ok_or_else(|| {
            let what = format!("{}: there is no connection", self.name);
            Error::new(ErrorKind::HostTransient, what)
        })
    }

    /// Does something on the host, and again over a new connection as often as one breaks: something that may be done
    /// twice.
    ///
    /// # Errors
    /// As `work`, and [`Link::reconnect`].
    pub(super) fn again<T>(&mut self, mut work: impl FnMut(&dyn Host) -> Result<T>) -> Result<T> {
        loop {
            match self.host().and_then(&mut work) {
                Err(error) if error.kind() == ErrorKind::HostTransient => self.reconnect(error)?,
                done => {
                    self.worked();
                    return done;
                }
            }
        }
    }

    /// Reaches the host again, with longer and longer pauses, for as long as the run is patient.
    ///
    /// # Errors
    /// `HostTransient` when it did not come back, or the run is ended meanwhile; `HostStable` when it refuses. `why` is the first cause.
    pub(super) fn reconnect(&mut self, why: Error) -> Result<()> {
        self.host = None;
        let Shared {
            clock,
            cancel,
            progress,
            ways,
            ..
        } = self.shared;
        // A host that lets one in and then does nothing is not back.
        let is_again = self.broken_since.is_some();
        let begun = *self.broken_since.get_or_insert(clock.now());
        let (mut wait, mut last) = (Duration::from_secs(1), why);
        let mut refusing_since = None;
        tracing::debug!(host = self.name, %last, "the connection broke");
        for attempt in 1.. {
            progress.update(Update::Reconnecting {
                host: self.name,
                attempt,
            });
            pause(*clock, cancel, wait);
            if cancel.is_cancelled() && (attempt > 1 || is_again) {
                break;
            }
            wait = (2 * wait).min(LONGEST_PAUSE);
            if is_again && clock.now() - begun >= ways.patience {
                break;
            }
            match ways.to(self.name) {
                Ok(host) => {
                    self.host = Some(host);
                    progress.update(Update::Reconnected { host: self.name });
                    return Ok(());
                }
                Err(error) => last = error,
            }
            let now = clock.now();
            // A host may have been silent for minutes before its network is up, and its sshd not yet.
            refusing_since = match last.kind() {
                ErrorKind::HostTransient => None,
                _ => refusing_since.or(Some(now)),
            };
            let refused = refusing_since.is_some_and(|since| now - since >= REFUSED_WITHIN);
            if refused || now - begun >= ways.patience {
                break;
            }
        }
        let gone = (clock.now() - begun).as_secs();
        let kind = match last.kind() {
            ErrorKind::HostTransient => ErrorKind::HostTransient,
            _ => ErrorKind::HostStable,
        };
        Err(Error::new(kind, format!("out of reach for {gone} s")).because(last))
    }
}
