//! A script that runs over a session, and its output as it comes.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use ssh2::Channel;

use super::session::{AGAIN, SOCKET_SEND, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::host::fence::{FENCED, Fence, LEAD, sentinel};
use crate::host::{Event, Exit, Running};
use crate::process::{after, shown};

/// What the host's login shell is asked to run. Its words mean the same to every shell (sh, csh, fish); all that
/// needs quoting goes to this sh as input.
const COMMAND: &str = "exec env LC_ALL=C sh";

/// A running script. Dropping it closes the connection.
pub(super) struct Stream {
    // Before the session: the library frees a channel while its session is open.
    channel: Channel,
    session: Session,
    stdout: Fence,
    stderr: Fence,
    group: i32,
    waiting: VecDeque<Event>,
    exit: Option<Exit>,
}

impl Stream {
    /// Starts a script and waits until it runs.
    ///
    /// # Errors
    /// `HostTransient` when the connection breaks or the deadline passes, `HostStable` when the host runs no sh.
    pub(super) fn start(
        mut session: Session,
        mut channel: Channel,
        script: &str,
        deadline: Instant,
    ) -> Result<Stream> {
        let sentinel = sentinel();
        let input = input(&sentinel, script)
            .map_err(|error| Error::usage("a script holds a NUL byte").because(error))?;
        session.call("run a command", deadline, || channel.exec(COMMAND))?;
        let mut rest = input.as_bytes();
        while !rest.is_empty() {
            let n = session.call("send a script", deadline, || {
                channel.write(rest).map_err(library_error)
            })?;
            rest = rest.get(n..).unwrap_or_default();
        }
        session.call("send a script", deadline, || channel.send_eof())?;
        let mut stream = Stream {
            channel,
            session,
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

    /// The session, for another script.
    pub(super) fn into_session(self) -> Session {
        self.session
    }

    /// The next event from the connection.
    fn receive(&mut self, deadline: Instant) -> Result<Event> {
        if let Some(exit) = self.exit {
            return Ok(Event::Ended(exit));
        }
        loop {
            self.session.listen()?;
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
                (true, true) => {}
            }
            if self.channel.eof() {
                return self.end(deadline);
            }
            if Instant::now() >= deadline {
                return Ok(Event::Quiet);
            }
            // The second read may have taken in packets for the first.
            if self.channel.read_window().available == 0 {
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
            self.session.wait(deadline)?;
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
                "{}: its login shell did not run `{COMMAND}`; it said {said}",
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

    fn next(&mut self, timeout: Duration) -> Result<Event> {
        match self.waiting.pop_front() {
            Some(event) => Ok(event),
            None => self.receive(after(timeout)),
        }
    }
}

/// What [`COMMAND`] reads.
fn input(sentinel: &str, script: &str) -> Result<String, shlex::QuoteError> {
    let (fenced, script) = (shlex::try_quote(FENCED)?, shlex::try_quote(script)?);
    Ok(format!("{LEAD} {fenced} {sentinel} {script} </dev/null\n"))
}

/// Back from the form that [`Write`] needs.
fn library_error(error: io::Error) -> ssh2::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => ssh2::Error::from_errno(AGAIN),
        _ => ssh2::Error::from_errno(SOCKET_SEND),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Host, Local};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_script_comes_through_the_shell_as_it_is(text in "[^\0]{0,80}") {
            let script = format!("printf %s {}", shlex::try_quote(&text).unwrap());
            let input = input("S", &script).unwrap();
            let feed = format!("printf %s {} | sh", shlex::try_quote(&input).unwrap());
            let output = Local.exec(&feed, Duration::from_secs(60)).unwrap();
            let mut fence = Fence::new("S");
            let own = fence.pass(output.stdout).ok().unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&own), text);
            prop_assert!(fence.group().is_some_and(|group| group > 1));
        }
    }
}
