//! The socket under a session: a TCP connection, or what a proxy gives.

use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::error::{Error, ErrorKind, Result};
use crate::inventory::{Proxy, Target};
use crate::process::{Child, after, left, shown};

/// What is kept of a proxy's standard error.
const SAID_LIMIT: usize = 4 << 10;

/// How long an error waits for what the proxy says about it.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Connects; the second part is the proxy's process, which lives as long as the session.
///
/// # Errors
/// `HostTransient` when nothing answers in time, `HostStable` when name or port is refused or the proxy cannot start.
pub(super) fn connect(
    target: &Target,
    deadline: Instant,
) -> Result<(OwnedFd, Option<ProxyProcess>)> {
    match &target.proxy {
        None => Ok((tcp(target, deadline)?, None)),
        Some(Proxy::Command {
            command,
            passes_socket,
        }) => {
            let mut sh = Command::new("sh");
            sh.arg("-c").arg(format!("exec {command}"));
            let (socket, process) = start(target, sh)?;
            if *passes_socket {
                let passed = receive(&socket, deadline).map_err(|source| {
                    Error::new(
                        ErrorKind::HostStable,
                        format!(
                            "{}: its ProxyCommand passed no socket{}",
                            target.name,
                            process.said()
                        ),
                    )
                    .because(source)
                    .next("with ProxyUseFdpass the command has to pass a connected socket")
                })?;
                return Ok((passed, None));
            }
            Ok((socket.into(), Some(process)))
        }
        Some(Proxy::Jump(hosts)) => {
            let (socket, process) = start(target, jump(target, hosts))?;
            Ok((socket.into(), Some(process)))
        }
    }
}

fn tcp(target: &Target, deadline: Instant) -> Result<OwnedFd> {
    let (name, host, port) = (&target.name, &target.hostname, target.port);
    let addresses = (host.as_str(), port).to_socket_addrs().map_err(|source| {
        Error::new(
            ErrorKind::HostStable,
            format!("{name}: the name `{host}` does not resolve"),
        )
        .because(source)
        .next(format!(
            "see which name `ssh -G {name}` gives, and set HostName in the ssh config"
        ))
    })?;
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        let timeout = left(deadline);
        if timeout.is_zero() {
            last = io::ErrorKind::TimedOut.into();
            break;
        }
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                // Small packets at once; without it they are only late.
                let _ = stream.set_nodelay(true);
                return Ok(stream.into());
            }
            Err(error) => last = error,
        }
    }
    let kind = match last.kind() {
        io::ErrorKind::ConnectionRefused => ErrorKind::HostStable,
        _ => ErrorKind::HostTransient,
    };
    Err(Error::new(
        kind,
        format!("{name}: cannot connect to {host} port {port}"),
    )
    .because(last)
    .next(format!(
        "see whether the host is up and its sshd listens there: `ssh {name}`"
    )))
}

/// The last of the jump hosts opens the way; ssh itself goes through the others.
fn jump(target: &Target, hosts: &str) -> Command {
    let (through, last) = match hosts.rsplit_once(',') {
        Some((through, last)) => (Some(through), last),
        None => (None, hosts),
    };
    let mut ssh = Command::new("ssh");
    if let Some(file) = &target.ssh_config {
        ssh.arg("-F").arg(file);
    }
    if let Some(through) = through {
        ssh.arg("-J").arg(through);
    }
    // Without a terminal nobody could answer a question.
    ssh.args(["-o", "BatchMode=yes", "-W"]);
    ssh.arg(format!("[{}]:{}", target.hostname, target.port));
    // `[user@]host[:port]` becomes an address that ssh takes as one word.
    let scheme = if last.starts_with("ssh://") {
        ""
    } else {
        "ssh://"
    };
    ssh.arg("--").arg(format!("{scheme}{last}"));
    ssh
}

/// A proxy's process and what it says; ended when dropped.
pub(super) struct ProxyProcess {
    _child: Child,
    said: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl ProxyProcess {
    /// What it said on standard error, as the end of a message; empty when nothing.
    pub(super) fn said(&self) -> String {
        // A proxy that has just ended may have said why; its last words are a moment behind.
        let end = after(LAST_WORDS);
        let reading = || {
            self.reader
                .as_ref()
                .is_some_and(|reader| !reader.is_finished())
        };
        while reading() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() {
            return String::new();
        }
        format!("; it said: {}", shown(&said))
    }
}

/// Starts a proxy with one end of a socket pair as its input and output.
fn start(target: &Target, mut command: Command) -> Result<(UnixStream, ProxyProcess)> {
    let failed = |source: io::Error| {
        Error::new(
            ErrorKind::HostStable,
            format!("{}: cannot start its proxy", target.name),
        )
        .because(source)
    };
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let input = OwnedFd::from(theirs.try_clone().map_err(failed)?);
    command
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::piped());
    let mut child = Child::spawn(&mut command).map_err(failed)?;
    // The command holds our copies of its end; while it lives we would not see the proxy hang up.
    drop(command);
    let said = Arc::new(Mutex::new(Vec::new()));
    let reader = child.take_stderr().map(|mut stderr| {
        let said = Arc::clone(&said);
        // Read to the end, whatever is kept: a full pipe would stop the proxy.
        std::thread::spawn(move || {
            let mut bytes = [0; 1024];
            while let Ok(n @ 1..) = stderr.read(&mut bytes) {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                said.extend(bytes.get(..n).unwrap_or_default());
                let excess = said.len().saturating_sub(SAID_LIMIT);
                said.drain(..excess);
            }
        })
    });
    let process = ProxyProcess {
        _child: child,
        said,
        reader,
    };
    Ok((ours, process))
}

/// Receives one descriptor by SCM_RIGHTS; unix(7).
fn receive(socket: &UnixStream, deadline: Instant) -> io::Result<OwnedFd> {
    // Zero would mean to wait for ever.
    socket.set_read_timeout(Some(left(deadline).max(Duration::from_millis(1))))?;
    let mut byte = [0; 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    control
        .drain()
        .find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        })
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
