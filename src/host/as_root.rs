//! Root on a host whose login is another user's: everything goes through sudo(8), which must not ask anything.

use std::collections::VecDeque;
use std::time::Duration;

use super::fence::{FENCED, Fence, LEAD, sentinel};
use super::{Event, Host, Output, Running, SCRIPT_LIMIT, check_length};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{after, left, shown};

/// The script that says `root` for a login of root's and `0` where sudo makes it root.
pub const CHECK: &str = "# root, or the way to it\n\
    if [ \"$(id -u)\" = 0 ]; then echo root; else sudo -n env LC_ALL=C id -u; fi\n";

/// What comes before each script. Not `-s` or `-i`: sudo would quote the script and start the login shell's files.
const SUDO: &str = "sudo -n env LC_ALL=C";

/// Most bytes that are put around a script.
pub(super) const ADDS: usize = 1024;

/// How long sudo may take, for [`CHECK`] and before each script: some ask a directory server first.
const DEADLINE: Duration = Duration::from_secs(30);

/// The host as it is when its login is root's, else with sudo(8) before every script.
///
/// # Errors
/// As [`Host::exec`]; `HostStable` when neither works, with what sudo says.
pub fn as_root(host: Box<dyn Host>) -> Result<Box<dyn Host>> {
    let output = host.exec(CHECK, DEADLINE)?;
    match String::from_utf8_lossy(&output.stdout).trim() {
        "root" => Ok(host),
        "0" => Ok(Box::new(AsRoot { host, sudo: SUDO })),
        _ => Err(Error::new(
            ErrorKind::HostStable,
            format!(
                "{}: the experiment needs root, the login is another user's, and `sudo -n` does not work: {}",
                host.name(),
                shown(&output.stderr)
            ),
        )
        .next("log in as root (`User root` in the ssh config), or let the login use sudo without a password")),
    }
}

/// A host on which every script runs as root, in a process group of its own below sudo's: sudo itself stays outside,
/// so that no signal meets it and it ends with the script. Such a group is the same with sudo's `use_pty` and without.
struct AsRoot {
    host: Box<dyn Host>,
    sudo: &'static str,
}

impl AsRoot {
    /// The script that runs another one through sudo. It goes to standard input: arguments stand in sudo's log and,
    /// as SUDO_COMMAND, in the environment of everything below it, where processes are looked for by their own.
    fn wrapped(&self, script: &str, sentinel: &str) -> Result<String> {
        check_length(self.name(), script, SCRIPT_LIMIT)?;
        let quoted = |text: &str| {
            let quoted = shlex::try_quote(text).map(std::borrow::Cow::into_owned);
            quoted.map_err(|e| Error::usage("a script holds a NUL byte").because(e))
        };
        let lead = format!(
            "script=$(cat)\n{LEAD} {} \"$0\" \"$script\" </dev/null",
            quoted(FENCED)?
        );
        Ok(format!(
            "exec {} sh -c {} {sentinel} <<'{sentinel}'\n{script}\n{sentinel}\n",
            self.sudo,
            quoted(&lead)?
        ))
    }

    fn refused(&self, said: &[u8]) -> Error {
        let said = shown(said);
        Error::new(
            ErrorKind::HostStable,
            format!("{}: sudo did not run a script; it said: {said}", self.name()),
        )
        .next("log in as root (`User root` in the ssh config), or let the login use sudo without a password")
    }
}

impl Host for AsRoot {
    fn name(&self) -> &str {
        self.host.name()
    }

    fn exec(&self, script: &str, deadline: Duration) -> Result<Output> {
        let sentinel = sentinel();
        let output = self
            .host
            .exec(&self.wrapped(script, &sentinel)?, deadline)?;
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        let own = |bytes| match Fence::new(&sentinel).last(bytes) {
            Some(own) => Ok(own),
            None => Err(self.refused(&said)),
        };
        Ok(Output {
            exit: output.exit,
            stdout: own(output.stdout)?,
            stderr: own(output.stderr)?,
        })
    }

    fn spawn(&self, script: &str) -> Result<Box<dyn Running>> {
        let sentinel = sentinel();
        let mut rooted = Rooted {
            running: self.host.spawn(&self.wrapped(script, &sentinel)?)?,
            stdout: Fence::new(&sentinel),
            stderr: Fence::new(&sentinel),
            group: 0,
            waiting: VecDeque::new(),
        };
        let deadline = after(DEADLINE);
        while rooted.group == 0 {
            match rooted.receive(left(deadline))? {
                Some(Event::Ended(_)) | None => return Err(self.refused(&rooted.noise())),
                Some(Event::Quiet) if left(deadline).is_zero() => {
                    return Err(Error::new(
                        ErrorKind::HostTransient,
                        format!("{}: sudo did not start a script in time", self.name()),
                    ));
                }
                Some(Event::Quiet) => {}
                Some(event) => rooted.waiting.push_back(event),
            }
            rooted.group = rooted.stdout.group().unwrap_or(0);
        }
        Ok(Box::new(rooted))
    }
}

/// A script below sudo. On the controller itself, dropping it cannot end it: it is root's.
struct Rooted {
    running: Box<dyn Running>,
    stdout: Fence,
    stderr: Fence,
    group: i32,
    waiting: VecDeque<Event>,
}

impl Rooted {
    /// The next event of the script's own; none when no fence comes.
    fn receive(&mut self, timeout: Duration) -> Result<Option<Event>> {
        let event = match self.running.next(timeout)? {
            Event::Stdout(bytes) => self.stdout.pass(bytes).map(Event::Stdout),
            Event::Stderr(bytes) => self.stderr.pass(bytes).map(Event::Stderr),
            other => Ok(other),
        };
        Ok(event.ok().map(|event| match event {
            // What came was not the script's.
            Event::Stdout(bytes) | Event::Stderr(bytes) if bytes.is_empty() => Event::Quiet,
            event => event,
        }))
    }

    fn noise(&self) -> Vec<u8> {
        [self.stdout.noise(), self.stderr.noise()].concat()
    }
}

impl Running for Rooted {
    fn group(&self) -> i32 {
        self.group
    }

    fn next(&mut self, timeout: Duration) -> Result<Event> {
        if let Some(event) = self.waiting.pop_front() {
            return Ok(event);
        }
        let event = self.receive(timeout)?;
        event.ok_or_else(|| {
            let said = shown(&self.noise());
            Error::new(
                ErrorKind::HostStable,
                format!("sudo says too much before a script: {said}"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::scripted::{ScriptedClock, ScriptedHost};
    use crate::host::{Exit, Local, signal_group};
    use crate::run::Cancel;

    /// The way through sudo, but for sudo itself.
    fn rooted() -> AsRoot {
        AsRoot {
            host: Box::new(Local),
            sudo: "sh -c 'echo a lecture; echo a warning >&2; exec \"$@\"' sudo env LC_ALL=C",
        }
    }

    #[test]
    fn a_script_comes_through_as_it_is() {
        let text = "it's \"$HOME\" `id` \\ <<'E'\nE\n\t$(x) é";
        let script = format!(
            "printf %s {}; echo no >&2; read -r x || exit 7",
            shlex::try_quote(text).unwrap()
        );
        let output = rooted().exec(&script, Duration::from_secs(60)).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), text);
        assert_eq!(output.stderr, b"no\n");
        assert_eq!(output.exit, Exit::Code(7));
    }

    #[test]
    fn the_longest_script_passes_and_a_longer_one_is_refused() {
        let script = |size: usize| format!("echo {}", "'".repeat(2) + &"x".repeat(size - 7));
        let run = |script: &str| rooted().exec(script, Duration::from_secs(60));
        let output = run(&script(SCRIPT_LIMIT)).unwrap();
        assert_eq!(output.stdout.len(), SCRIPT_LIMIT - 6);
        let error = run(&script(SCRIPT_LIMIT + 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(run("echo \0").is_err());
    }

    #[test]
    fn the_group_that_is_told_is_the_script_s_own_and_ends_by_a_signal() {
        let rooted = rooted();
        let mut running = rooted.spawn("echo $$; sleep 1000 & wait").unwrap();
        let group = running.group();
        let end = after(Duration::from_secs(60));
        let mut said = Vec::new();
        while said.is_empty() && !left(end).is_zero() {
            if let Event::Stdout(bytes) = running.next(left(end)).unwrap() {
                said = bytes;
            }
        }
        assert_eq!(String::from_utf8_lossy(&said), format!("{group}\n"));
        signal_group(&rooted, group, "TERM").unwrap();
        loop {
            match running.next(left(end)).unwrap() {
                Event::Ended(exit) => break assert_ne!(exit, Exit::Code(0)),
                _ => assert!(!left(end).is_zero()),
            }
        }
        // Gone by now, which is no error.
        signal_group(&rooted, group, "KILL").unwrap();
    }

    #[test]
    fn sudo_that_runs_nothing_is_told_with_its_words() {
        let refusing = AsRoot {
            host: Box::new(Local),
            sudo: "sh -c 'echo sudo: a password is required >&2; exit 1' sudo",
        };
        let error = refusing.exec("true", Duration::from_secs(60)).unwrap_err();
        assert!(
            error.report().contains("a password is required"),
            "{error:?}"
        );
        let error = refusing.spawn("true").err().unwrap();
        assert!(
            error.report().contains("a password is required"),
            "{error:?}"
        );
        assert_eq!(error.kind(), ErrorKind::HostStable);
    }

    #[test]
    fn a_login_of_root_s_stays_as_it_is_and_another_needs_sudo() {
        let said = |answer: &str| {
            let host = ScriptedHost::new("h", &ScriptedClock::default(), &Cancel::default());
            host.answer("# root, or the way to it", answer, 0);
            let rooted = as_root(Box::new(host.clone()));
            rooted.map(|rooted| {
                // The scripted host says no fence: what goes through sudo fails here.
                rooted.exec("true", DEADLINE).is_ok()
            })
        };
        assert!(said("root\n").unwrap());
        assert!(!said("0\n").unwrap());
        for answer in ["", "1000\n"] {
            let error = said(answer).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::HostStable);
            assert!(error.report().contains("User root"), "{error:?}");
        }
    }
}
