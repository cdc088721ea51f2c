//! A script that runs over a session, and its output as it comes.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use ssh2::Channel;

use super::session::{AGAIN, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::host::fence::{Fence, SH, SH_FED, fed, sentinel, unfed};
use crate::host::{Event, Exit, Running};
use crate::process::{after, shown};
use crate::unsent::Unsent;

/// A running script. Dropping it closes the connection.
pub(super) struct Stream {
    // Before the session: the library frees a channel while its session is open.
    channel: Channel,
    session: Session,
    unsent: Unsent,
    /// The host was told that nothing more comes.
    is_told: bool,
    stdout: Fence,
    stderr: Fence,
    group: i32,
    waiting: VecDeque<Event>,
    exit: Option<Exit>,
}

impl Stream {
    /// Starts a script and waits until it runs. Without `input` it comes by [`Running::feed`].
    ///
    /// # Errors
    /// `HostTransient` when the connection breaks or the deadline passes, `HostStable` when the host runs no sh.
    pub(super) fn start(
        mut session: Session,
        mut channel: Channel,
        script: &str,
        input: Option<&[u8]>,
        deadline: Instant,
    ) -> Result<Stream> {
        let sentinel = sentinel();
        let (command, lead) = match input {
            Some([]) => (SH, unfed(&sentinel, script)),
            _ => (SH_FED, fed(&sentinel, script, true)),
        };
        let lead = lead.map_err(|e| Error::usage("a script holds a NUL byte").because(e))?;
        session.call("run a command", deadline, || channel.exec(command))?;
        let mut unsent = Unsent::default();
        unsent.push(lead.as_bytes());
        if let Some(input) = input {
            unsent.push(input);
            unsent.end();
        }
        let mut stream = Stream {
            channel,
            session,
            unsent,
            is_told: false,
            stdout: Fence::new(&sentinel),
            stderr: Fence::new(&sentinel),
            group: 0,
            waiting: VecDeque::new(),
            exit: None,
        };
        while stream.group == 0 {
            let event = stream.receive(deadline)?;
            stream.group = stream.stdout.group().unwrap_or(0);
            match event {
                Event::Ended(_) if stream.group == 0 => return Err(stream.no_fence()),
                Event::Quiet if stream.group != 0 => {}
                Event::Quiet => {
                    return Err(Error::new(
                        ErrorKind::HostTransient,
                        format!(
                            "{}: it did not start a command in time",
                            stream.session.name()
                        ),
                    ));
                }
                event => stream.waiting.push_back(event),
            }
        }
        Ok(stream)
    }

    /// The session, for another script; none when the library may still hold a part of a packet.
    pub(super) fn into_session(self) -> Option<Session> {
        self.is_told.then_some(self.session)
    }

    /// Sends what the host takes now; false when there is nothing that could be sent at once.
    fn send(&mut self) -> Result<bool> {
        if self.is_told {
            return Ok(false);
        }
        let doing = "send a script and its input";
        match self.unsent.rest() {
            [] if self.unsent.is_over() => match self.channel.send_eof() {
                Ok(()) => self.is_told = true,
                Err(error) if error.code() == AGAIN => {}
                Err(error) => return Err(self.session.failure(doing, error)),
            },
            [] => {}
            rest => match self.channel.write(rest) {
                Ok(sent) => {
                    self.unsent.advance(sent);
                    return Ok(sent > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.session.broken(doing, error)),
            },
        }
        Ok(false)
    }

    /// The next event from the connection.
    fn receive(&mut self, deadline: Instant) -> Result<Event> {
        if let Some(exit) = self.exit {
            return Ok(Event::Ended(exit));
        }
        loop {
            self.session.listen()?;
            // In turn with reading: a host that waits for its output to be taken takes no input.
            let has_sent = self.send()?;
            let stdout = self.read(0)?;
            let stderr = self.read(1)?;
            let own = self.stdout.pass(stdout);
            let err = self.stderr.pass(stderr);
            let (Ok(own), Ok(err)) = (own, err) else {
                return Err(self.no_fence());
            };
            match (own.is_empty(), err.is_empty()) {
                (false, false) => {
                    self.waiting.push_back(Event::Stderr(err));
                    return Ok(Event::Stdout(own));
                }
                (false, true) => return Ok(Event::Stdout(own)),
                (true, false) => return Ok(Event::Stderr(err)),
                // It runs, and may say nothing for long.
                (true, true) if self.group == 0 && self.stdout.group().is_some() => {
                    return Ok(Event::Quiet);
                }
                (true, true) => {}
            }
            if self.channel.eof() {
                return self.end(deadline);
            }
            if Instant::now() >= deadline {
                return Ok(Event::Quiet);
            }
            // Sending and the second read may have taken in packets for the first.
            if !has_sent && self.channel.read_window().available == 0 {
                self.session.wait(deadline)?;
            }
        }
    }

    /// What has come on one output; empty when nothing has.
    fn read(&mut self, output: i32) -> Result<Vec<u8>> {
        let mut bytes = vec![0; 64 << 10];
        match self.channel.stream(output).read(&mut bytes) {
            Ok(n) => {
                bytes.truncate(n);
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Vec::new()),
            Err(error) => Err(self.session.broken("read what the command says", error)),
        }
    }

    /// Both outputs are at their end; the exit comes with the channel's close.
    fn end(&mut self, deadline: Instant) -> Result<Event> {
        loop {
            match self.channel.wait_close() {
                Ok(()) => break,
                Err(error) if error.code() == AGAIN => {}
                Err(error) => {
                    return Err(self.session.failure("learn how the command ended", error));
                }
            }
            if Instant::now() >= deadline {
                return Ok(Event::Quiet);
            }
            // It may have closed its outputs and go on reading.
            if !self.send()? {
                self.session.wait(deadline)?;
            }
        }
        let signal = self.channel.exit_signal().ok().and_then(|s| s.exit_signal);
        let exit = match (signal, self.channel.exit_status()) {
            (Some(name), _) => Exit::Signal(signal_number(&name)),
            (None, Ok(code)) => Exit::Code(code),
            (None, Err(error)) => {
                return Err(self.session.failure("learn how the command ended", error));
            }
        };
        self.exit = Some(exit);
        Ok(Event::Ended(exit))
    }

    fn no_fence(&self) -> Error {
        let noise = [self.stdout.noise(), self.stderr.noise()].concat();
        let said = match shown(&noise) {
            empty if empty.is_empty() => "nothing".to_owned(),
            said => format!("`{said}`"),
        };
        Error::new(
            ErrorKind::HostStable,
            format!(
                "{}: its login shell did not run `{SH}`; it said {said}",
                self.session.name()
            ),
        )
        .next("ktrial needs an account whose login shell or forced command runs what it is given")
    }
}

impl Running for Stream {
    fn group(&self) -> i32 {
        self.group
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.unsent.push(bytes);
    }

    fn end_input(&mut self) {
        self.unsent.end();
    }

    fn next(&mut self, timeout: Duration) -> Result<Event> {
        match self.waiting.pop_front() {
            Some(event) => Ok(event),
            None => self.receive(after(timeout)),
        }
    }
}

/// The number of a signal by its SSH name (RFC 4254, 6.10; OpenSSH adds others with `@openssh.com`); 0 when unknown.
fn signal_number(name: &str) -> i32 {
    match name.split('@').next().unwrap_or(name) {
        "HUP" => libc::SIGHUP,
        "INT" => libc::SIGINT,
        "QUIT" => libc::SIGQUIT,
        "ILL" => libc::SIGILL,
        "TRAP" => libc::SIGTRAP,
        "ABRT" => libc::SIGABRT,
        "BUS" => libc::SIGBUS,
        "FPE" => libc::SIGFPE,
        "KILL" => libc::SIGKILL,
        "USR1" => libc::SIGUSR1,
        "SEGV" => libc::SIGSEGV,
        "USR2" => libc::SIGUSR2,
        "PIPE" => libc::SIGPIPE,
        "ALRM" => libc::SIGALRM,
        "TERM" => libc::SIGTERM,
        "XCPU" => libc::SIGXCPU,
        "XFSZ" => libc::SIGXFSZ,
        "SYS" => libc::SIGSYS,
        _ => 0,
    }
}
