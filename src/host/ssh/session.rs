//! One authenticated session, whose every call has a deadline.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use ssh2::{BlockDirections, Channel, ErrorCode, MethodType};

use super::authentication::authenticate;
use super::host_key::KnownKeys;
use super::socket::{ProxyProcess, connect};
use crate::error::{Error, ErrorKind, Result};
use crate::inventory::{Keepalive, Target};
use crate::process::{left, wait_ready};

/// libssh2 sends keepalives no oftener than this.
const SHORTEST_KEEPALIVE: Duration = Duration::from_secs(2);

/// libssh2's `LIBSSH2_ERROR_EAGAIN`: nothing to do until the socket is ready.
pub(super) const AGAIN: ErrorCode = ErrorCode::Session(-37);

/// A session; the connection is closed when it is dropped.
pub(super) struct Session {
    name: String,
    ssh: ssh2::Session,
    socket: OwnedFd,
    keepalive: Keepalive,
    /// Time spent waiting since the host was last heard. Not the clock: whoever does not wait does not listen either.
    silent: Duration,
    proxy: Option<ProxyProcess>,
}

impl Session {
    /// Connects, checks the host key, authenticates. May wait past the deadline where a library does.
    pub(super) fn open(target: &Target, deadline: Instant) -> Result<Session> {
        let name = &target.name;
        let known = KnownKeys::look_up(target, deadline)?;
        let (socket, proxy) = connect(target, deadline)?;
        let said = || proxy.as_ref().map(ProxyProcess::said).unwrap_or_default();
        let setup = |error: ssh2::Error| failure(name, "set the session up", error);
        let ours = socket.try_clone().map_err(|source| {
            Error::new(
                ErrorKind::HostTransient,
                format!("{name}: no descriptor left"),
            )
            .because(source)
        })?;
        let mut ssh = ssh2::Session::new().map_err(setup)?;
        let order = known.preference(&ssh.supported_algs(MethodType::HostKey).map_err(setup)?);
        ssh.method_pref(MethodType::HostKey, &order)
            .map_err(setup)?;
        ssh.set_timeout(left(deadline).as_millis().clamp(1, u128::from(u32::MAX)) as u32);
        ssh.set_tcp_stream(socket);
        ssh.handshake()
            .map_err(|error| failure(name, &format!("agree on a session{}", said()), error))?;
        let Some((key, _)) = ssh.host_key() else {
            return Err(Error::new(
                ErrorKind::HostStable,
                format!("{name}: it has shown no host key"),
            ));
        };
        known.check(target, key)?;
        authenticate(&ssh, target, deadline)?;
        let mut keepalive = target.keepalive;
        keepalive.interval = keepalive.interval.max(SHORTEST_KEEPALIVE);
        keepalive.count = keepalive.count.max(1);
        ssh.set_keepalive(true, keepalive.interval.as_secs().min(3600) as u32);
        ssh.set_blocking(false);
        Ok(Session {
            name: name.clone(),
            ssh,
            socket: ours,
            keepalive,
            silent: Duration::ZERO,
            proxy,
        })
    }

    /// The host's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Opens a channel.
    pub(super) fn channel(&mut self, deadline: Instant) -> Result<Channel> {
        let ssh = self.ssh.clone();
        self.call("open a channel", deadline, || ssh.channel_session())
    }

    /// Does a call of the library again until it is done or the deadline passes. `doing` follows "cannot".
    pub(super) fn call<T>(
        &mut self,
        doing: &str,
        deadline: Instant,
        mut call: impl FnMut() -> Result<T, ssh2::Error>,
    ) -> Result<T> {
        loop {
            match call() {
                Ok(value) => return Ok(value),
                Err(error) if error.code() == AGAIN => {}
                Err(error) => return Err(self.failure(doing, error)),
            }
            if Instant::now() >= deadline {
                return Err(Error::new(
                    ErrorKind::HostTransient,
                    format!("{}: cannot {doing}: no answer in time", self.name),
                ));
            }
            self.wait(deadline)?;
        }
    }

    /// Waits until the host has said something, a keepalive is due, or the deadline passes.
    ///
    /// # Errors
    /// `HostTransient` when the host has been silent for too many keepalives, or the connection broke.
    pub(super) fn wait(&mut self, deadline: Instant) -> Result<()> {
        let due = match self.ssh.keepalive_send() {
            Ok(seconds) => Duration::from_secs(seconds.max(1).into()),
            Err(error) => return Err(self.failure("ask whether it is there", error)),
        };
        let begin = Instant::now();
        if self.ready(left(deadline).min(due))? {
            return Ok(());
        }
        self.silent += begin.elapsed();
        let questions = self.keepalive.count.saturating_add(1);
        if self.silent > self.keepalive.interval.saturating_mul(questions) {
            return Err(Error::new(
                ErrorKind::HostTransient,
                format!(
                    "{}: it has not answered for {} s",
                    self.name,
                    self.silent.as_secs()
                ),
            )
            .next(
                "see whether it is up; ServerAliveInterval and ServerAliveCountMax say how long to wait",
            ));
        }
        Ok(())
    }

    /// Notes whether the host has said something, without waiting. To be called before the library reads, which
    /// takes answers to keepalives without a word.
    ///
    /// # Errors
    /// As [`Session::wait`].
    pub(super) fn listen(&mut self) -> Result<()> {
        self.ready(Duration::ZERO).map(drop)
    }

    /// Waits for the socket; true when there is something to read or to write.
    fn ready(&mut self, timeout: Duration) -> Result<bool> {
        let mut flags = PollFlags::IN;
        if matches!(
            self.ssh.block_directions(),
            BlockDirections::Outbound | BlockDirections::Both
        ) {
            flags |= PollFlags::OUT;
        }
        let mut fds = [PollFd::new(&self.socket, flags)];
        wait_ready(&mut fds, timeout).map_err(|source| self.broken("wait", source))?;
        let events = fds
            .iter()
            .fold(PollFlags::empty(), |all, fd| all | fd.revents());
        if events.intersects(!PollFlags::OUT) {
            self.silent = Duration::ZERO;
        }
        Ok(!events.is_empty())
    }

    /// The connection failed. `doing` follows "cannot".
    pub(super) fn broken(&self, doing: &str, source: std::io::Error) -> Error {
        let said = self.said();
        Error::new(
            ErrorKind::HostTransient,
            format!("{}: the connection broke: cannot {doing}{said}", self.name),
        )
        .because(source)
    }

    fn said(&self) -> String {
        self.proxy
            .as_ref()
            .map(ProxyProcess::said)
            .unwrap_or_default()
    }

    /// An error of ktrial for one of the library, with what the proxy said.
    pub(super) fn failure(&self, doing: &str, error: ssh2::Error) -> Error {
        failure(&self.name, &format!("{doing}{}", self.said()), error)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // First, so that freeing what the library holds cannot wait for the host.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }
}

/// Sorts the library's errors: what a retry may mend is transient.
pub(super) fn failure(name: &str, doing: &str, error: ssh2::Error) -> Error {
    let kind = if is_broken(&error) {
        ErrorKind::HostTransient
    } else {
        ErrorKind::HostStable
    };
    Error::new(kind, format!("{name}: cannot {doing}")).because(error)
}

/// Whether the connection itself failed; libssh2.h, `LIBSSH2_ERROR_*`.
pub(super) fn is_broken(error: &ssh2::Error) -> bool {
    let ErrorCode::Session(code) = error.code() else {
        return false;
    };
    // SOCKET_NONE, BANNER_RECV, BANNER_SEND, INVALID_MAC, SOCKET_SEND, TIMEOUT, DECRYPT, SOCKET_DISCONNECT,
    // CHANNEL_CLOSED, CHANNEL_EOF_SENT, SOCKET_TIMEOUT, SOCKET_RECV, BAD_SOCKET
    matches!(
        code,
        -1 | -2 | -3 | -4 | -7 | -9 | -12 | -13 | -26 | -27 | -30 | -43 | -45
    )
}

/// Whether the host refused a key; `LIBSSH2_ERROR_AUTHENTICATION_FAILED`, `LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED`.
pub(super) fn is_refusal(error: &ssh2::Error) -> bool {
    matches!(error.code(), ErrorCode::Session(-18 | -19))
}
