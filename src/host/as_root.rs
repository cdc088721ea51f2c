//! Root on a host whose login is another user's: by sudo(8), or by sudo and su(1) where sudoers allows nothing else.

mod rooted;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zeroize::Zeroizing;

use super::fence::{Fence, SH_FED, fed, sentinel};
use super::root_refused::{Refused, may_want_password};
use super::{Event, Host, INPUT_LIMIT, Output, Password, Running, SCRIPT_LIMIT};
use super::{check_input_length, check_script};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{after, collect, left, shown};
use rooted::Rooted;

/// The script that says the way to root that asks nothing: `root` when the login is root's, else `sudo` or `su`.
pub const CHECK: &str = r#"# root, or the way to it
# when it says none: sudo, then sudo and su, with a password
if [ "$(id -u)" = 0 ]; then echo root
elif [ "$(sudo -n env LC_ALL=C id -u)" = 0 ]; then echo sudo
elif sudo -n su - -c "exec env LC_ALL=C sh -c 'echo; id -u'" | grep -qx 0; then echo su; fi
"#;

/// Most bytes that are put before a script's input.
pub(super) const ADDS: usize = SCRIPT_LIMIT + 1024;

/// How long sudo may take, for [`CHECK`] and before each script: some ask a directory server first.
const DEADLINE: Duration = Duration::from_secs(30);

/// Most bytes that sudo may say before a script.
const SAID_LIMIT: usize = 1 << 20;

/// The way to root on a host, once it was found.
#[derive(Debug, Clone)]
pub struct Way {
    door: Door,
    password: Option<Password>,
    /// The password was refused: it is not tried again, since tries may lock an account.
    is_refused: Arc<AtomicBool>,
}

impl Way {
    fn new(door: Door, password: Option<Password>) -> Way {
        Way {
            door,
            password,
            is_refused: Arc::default(),
        }
    }
}

/// What makes a script root's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// The login is root's.
    Login,
    /// sudo runs any command.
    Sudo,
    /// sudo runs su. The login shell's files of root may print: what comes before the fence is cut off.
    Su,
}

impl Door {
    /// The command that runs a sh of root's, which reads what [`fed`] gives. Nothing of a script is in it: arguments
    /// stand in sudo's log and, as SUDO_COMMAND, in the environment of everything below it, where processes are
    /// looked for by their own.
    fn command(self, sudo: &str, sh: &str) -> Result<String> {
        Ok(match self {
            Door::Login => sh.to_owned(),
            // Not `-s` or `-i`: sudo would start the login shell's files.
            Door::Sudo => format!("exec sudo {sudo} {}", sh.trim_start_matches("exec ")),
            Door::Su => {
                let quoted = shlex::try_quote(sh);
                let sh =
                    quoted.map_err(|e| Error::usage("a command holds a NUL byte").because(e))?;
                format!("exec sudo {sudo} su - -c {sh}")
            }
        })
    }
}

/// Asks the user for the password of the login on this host.
pub type AskPassword<'a> = dyn Fn(&str) -> Result<Password> + 'a;

/// The host as it is when its login is root's, else with sudo(8) before every script; and the way, to be `kept` for the
/// next connection to it. What asks nothing is tried first; `ask` is called when only a password can help.
///
/// # Errors
/// As [`Host::exec`] and those of `ask`; `HostStable` when no way works, with what sudo says.
pub fn as_root(
    host: Box<dyn Host>,
    kept: Option<&Way>,
    ask: Option<&AskPassword<'_>>,
) -> Result<(Box<dyn Host>, Way)> {
    if let Some(way) = kept.filter(|way| way.door != Door::Login) {
        let rooted = AsRoot {
            host,
            way: way.clone(),
        };
        return match rooted.is_root()? {
            Ok(()) => Ok((Box::new(rooted), way.clone())),
            Err(refused) => Err(refused.error(rooted.name())),
        };
    }
    let output = host.exec(CHECK, DEADLINE)?;
    let door = match String::from_utf8_lossy(&output.stdout).trim() {
        "root" => return Ok((host, Way::new(Door::Login, None))),
        "sudo" => Some(Door::Sudo),
        "su" => Some(Door::Su),
        _ => None,
    };
    if let Some(door) = door {
        let way = Way::new(door, None);
        let rooted = AsRoot {
            host,
            way: way.clone(),
        };
        return Ok((Box::new(rooted), way));
    }
    let refused = Refused::saying(output.stderr);
    let Some(ask) = ask.filter(|_| may_want_password(&refused.said)) else {
        return Err(refused.error(host.name()));
    };
    with_password(host, ask)
}

/// Tries the ways with a password, the next one only when sudo took the password and refused the command.
fn with_password(host: Box<dyn Host>, ask: &AskPassword<'_>) -> Result<(Box<dyn Host>, Way)> {
    let password = ask(host.name())?;
    let mut rooted = AsRoot {
        host,
        way: Way::new(Door::Sudo, Some(password)),
    };
    let mut found = rooted.is_root()?;
    if found.as_ref().is_err_and(Refused::is_of_command) {
        rooted.way.door = Door::Su;
        found = rooted.is_root()?;
    }
    match found {
        Ok(()) => {
            let way = rooted.way.clone();
            Ok((Box::new(rooted), way))
        }
        Err(refused) => Err(refused.error(rooted.name())),
    }
}

/// A host on which every script runs as root, in a process group of its own below sudo's: sudo itself stays outside,
/// so that no signal meets it and it ends with the script. Such a group is the same with sudo's `use_pty` and without.
struct AsRoot {
    host: Box<dyn Host>,
    way: Way,
}

impl AsRoot {
    /// Whether a script becomes root's.
    fn is_root(&self) -> Result<Result<(), Refused>> {
        let mut rooted = match self.begin("id -u", Some(&[]))? {
            Ok(rooted) => rooted,
            Err(refused) => return Ok(Err(refused)),
        };
        let output = collect(self.name(), DEADLINE, |timeout| rooted.next(timeout))?;
        Ok(match output.stdout.as_slice() {
            b"0\n" => Ok(()),
            _ => Err(Refused::saying(output.stderr)),
        })
    }

    /// Starts a script, without `input` one whose input comes later. The inner result is sudo's own.
    fn begin(&self, script: &str, input: Option<&[u8]>) -> Result<Result<Rooted, Refused>> {
        let sentinel = sentinel();
        let all = self.fed(&sentinel, script, input)?;
        let (running, early) = match &self.way.password {
            Some(password) => match self.pass(password)? {
                Ok(passed) => passed,
                Err(refused) => return Ok(Err(refused)),
            },
            None => (self.host.spawn_open(&self.command()?)?, Vec::new()),
        };
        let mut rooted = Rooted::new(running, &sentinel);
        rooted.running.feed(&all);
        if input.is_some() {
            rooted.running.end_input();
        }
        let mut next = Some(Event::Stdout(early));
        let deadline = after(DEADLINE);
        while rooted.group == 0 {
            let event = match next.take() {
                Some(event) => rooted.own(event),
                None => rooted.receive(left(deadline))?,
            };
            match event {
                Some(Event::Ended(_)) | None => {
                    return Ok(Err(Refused::saying(rooted.noise())));
                }
                Some(Event::Quiet) if left(deadline).is_zero() => {
                    return Err(self.late(&rooted.noise()));
                }
                Some(Event::Quiet) => {}
                Some(event) => rooted.waiting.push_back(event),
            }
            rooted.group = rooted.stdout.group().unwrap_or(0);
        }
        Ok(Ok(rooted))
    }

    /// Gives sudo the password when it asks, and only then: until root's sh says that it is there, nothing else is sent
    /// that could be taken for one. Returns what came after that word.
    fn pass(&self, password: &Password) -> Result<Result<Passed, Refused>> {
        if self.way.is_refused.load(Ordering::SeqCst) {
            return Ok(Err(Refused::before()));
        }
        let word = sentinel();
        let prompt = format!("{word}?");
        let there = SH_FED.replacen("read", &format!("echo; echo {word} $$; read"), 1);
        let command = self
            .way
            .door
            .command(&format!("-S -p '{prompt}'"), &there)?;
        let mut running = self.host.spawn_open(&command)?;
        let mut there = Fence::new(&word);
        let mut refused = Refused::default();
        let (mut asked, mut answered) = (0, 0);
        let deadline = after(DEADLINE);
        loop {
            match running.next(left(deadline))? {
                Event::Stdout(bytes) => match there.pass(bytes) {
                    Ok(own) if there.group().is_some() => return Ok(Ok((running, own))),
                    Ok(_) => {}
                    Err(_) => return Ok(Err(refused.without(&prompt))),
                },
                Event::Stderr(bytes) => {
                    refused.said.extend(bytes);
                    // It would go on to ask for a new password, in words that nobody here answers.
                    let is_expired = asked > 0 && refused.says("expired");
                    if is_expired || refused.said.len() > SAID_LIMIT {
                        return Ok(Err(refused.without(&prompt)));
                    }
                    let new = refused.said.get(answered..).unwrap_or_default();
                    if !is_prompt(new, &prompt) {
                        continue;
                    }
                    answered = refused.said.len();
                    asked += 1;
                    if asked == 1 {
                        running.feed(&line(password));
                    } else {
                        // Asked once more, it has refused: the end of the input is no try.
                        self.way.is_refused.store(true, Ordering::SeqCst);
                        refused.is_of_password = true;
                        running.end_input();
                    }
                }
                Event::Ended(_) => {
                    // Where it may be tried once only, sudo does not ask again.
                    if asked == 1 && refused.blames_password() {
                        self.way.is_refused.store(true, Ordering::SeqCst);
                        refused.is_of_password = true;
                    }
                    return Ok(Err(refused.without(&prompt)));
                }
                Event::Quiet if left(deadline).is_zero() => {
                    return Err(self.late(&refused.without(&prompt).said));
                }
                Event::Quiet => {}
            }
        }
    }

    /// The command for a way without a password.
    fn command(&self) -> Result<String> {
        self.way.door.command("-n", SH_FED)
    }

    /// What root's sh reads: the script and, with an end after it, its input.
    fn fed(
        &self,
        sentinel: &str,
        script: &str,
        input: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        check_script(self.name(), script)?;
        let input_now = input.unwrap_or_default();
        check_input_length(self.name(), input_now, INPUT_LIMIT)?;
        let has_input = input.is_none_or(|input| !input.is_empty());
        let lead = fed(sentinel, script, has_input)
            .map_err(|e| Error::usage("a script holds a NUL byte").because(e))?;
        let mut all = Zeroizing::new(Vec::with_capacity(lead.len() + input_now.len()));
        all.extend_from_slice(lead.as_bytes());
        all.extend_from_slice(input_now);
        Ok(all)
    }

    fn start(&self, script: &str, input: Option<&[u8]>) -> Result<Rooted> {
        let begun = self.begin(script, input)?;
        begun.map_err(|refused| refused.error_of_script(self.name()))
    }

    fn late(&self, said: &[u8]) -> Error {
        Error::new(
            ErrorKind::HostTransient,
            format!(
                "{}: sudo did not start a script in time; it said: {}",
                self.name(),
                shown(said)
            ),
        )
    }
}

/// A script of root's that is there and waits to be told what to do, and what it said already.
type Passed = (Box<dyn Running>, Vec<u8>);

/// Whether sudo asks for the password: with the prompt that it was told, or with one of PAM's own.
fn is_prompt(said: &[u8], prompt: &str) -> bool {
    let text = String::from_utf8_lossy(said);
    text.contains(prompt) || text.trim_end().to_ascii_lowercase().ends_with("password:")
}

/// The password as sudo reads it.
fn line(password: &Password) -> Zeroizing<Vec<u8>> {
    let mut line = Zeroizing::new(Vec::with_capacity(password.bytes().len() + 1));
    line.extend_from_slice(password.bytes());
    line.push(b'\n');
    line
}

impl Host for AsRoot {
    fn name(&self) -> &str {
        self.host.name()
    }

    fn exec_fed(&self, script: &str, input: &[u8], deadline: Duration) -> Result<Output> {
        if self.way.password.is_some() {
            let end = after(deadline);
            let mut rooted = self.start(script, Some(input))?;
            return collect(self.name(), left(end), |timeout| rooted.next(timeout));
        }
        let sentinel = sentinel();
        let all = self.fed(&sentinel, script, Some(input))?;
        let output = self.host.exec_fed(&self.command()?, &all, deadline)?;
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        let own = |bytes| match Fence::new(&sentinel).last(bytes) {
            Some(own) => Ok(own),
            None => Err(Refused::saying(said.clone()).error_of_script(self.name())),
        };
        Ok(Output {
            exit: output.exit,
            stdout: own(output.stdout)?,
            stderr: own(output.stderr)?,
        })
    }

    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>> {
        Ok(Box::new(self.start(script, Some(input))?))
    }

    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>> {
        Ok(Box::new(self.start(script, None)?))
    }
}

#[cfg(test)]
mod tests;
