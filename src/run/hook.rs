//! The boot hook: a program of the controller's user that starts a host anew. docs/hosts.md has its contract.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::PlannedBoot;
use crate::process::{Child, Event, Exit, shown};

use super::Cancel;

/// How long a hook may take.
const DEADLINE: Duration = Duration::from_secs(600);

/// How often it is seen whether the run was cancelled.
const POLL: Duration = Duration::from_millis(100);

/// How much of its last words is kept.
const TAIL_BYTES: usize = 4 << 10;

/// A program and its arguments, to which the host's name and what to boot are added.
///
/// ```
/// use ktrial::run::Hook;
/// assert!(Hook::parse("testbed/boot '/tmp/my guests'").is_ok());
/// assert!(Hook::parse("testbed/boot 'no end").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    program: String,
    arguments: Vec<String>,
}

impl Hook {
    /// Reads a program and its arguments, split and quoted as in a shell; nothing else of a shell has a meaning.
    ///
    /// # Errors
    /// `Usage` when a quote has no end or there is no program.
    pub fn parse(text: &str) -> Result<Hook> {
        let mut words = shlex::split(text).unwrap_or_default();
        if words.first().is_none_or(String::is_empty) {
            return Err(Error::usage(format!("`{text}` is no boot hook"))
                .next("give a program and its arguments, with an end to each quote"));
        }
        let program = words.remove(0);
        Ok(Hook {
            program,
            arguments: words,
        })
    }

    /// Runs `PROGRAM ARGUMENTS... HOST KERNEL WORD...` to its end; KERNEL is `-` where none is asked for.
    ///
    /// It runs in a session of its own, without input, for at most ten minutes; when it is late or the run is cancelled,
    /// its process group gets TERM and a second later KILL.
    ///
    /// # Errors
    /// `HostStable` when it cannot be started or fails, with its last words; `HostTransient` when it is late;
    /// `Interrupted` when the run was cancelled.
    pub fn restart(&self, host: &str, boot: &PlannedBoot, cancel: &Cancel) -> Result<()> {
        let stable = |what: String| Error::new(ErrorKind::HostStable, what);
        // Without its folder: the words go into records, which are published.
        let name = Path::new(&self.program).file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg(host)
            .arg(boot.kernel.as_deref().unwrap_or("-"))
            .args(&boot.command_line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = Child::spawn(&mut command).map_err(|e| {
            stable(format!("cannot start the boot hook `{name}`"))
                .because(e)
                .next("check the program given with --boot-hook")
        })?;
        let begun = Instant::now();
        let mut tail: Vec<u8> = Vec::new();
        loop {
            if cancel.is_cancelled() {
                return Err(Error::new(ErrorKind::Interrupted, "ended by the user"));
            }
            if begun.elapsed() > DEADLINE {
                let seconds = DEADLINE.as_secs();
                let what = format!(
                    "the boot hook `{name}` did not end within {seconds} s{}",
                    words(&tail)
                );
                return Err(Error::new(ErrorKind::HostTransient, what));
            }
            let event = child.next(POLL).map_err(|e| {
                stable(format!("cannot read from the boot hook `{name}`")).because(e)
            })?;
            let how = match event {
                Event::Stdout(bytes) | Event::Stderr(bytes) => {
                    tail.extend(bytes);
                    tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
                    continue;
                }
                Event::Quiet => continue,
                Event::Ended(exit) if exit.ok() => return Ok(()),
                Event::Ended(Exit::Code(code)) => format!("exit code {code}"),
                Event::Ended(Exit::Signal(signal)) => format!("signal {signal}"),
            };
            let what = format!("the boot hook `{name}` ended with {how}{}", words(&tail));
            return Err(stable(what));
        }
    }
}

fn words(tail: &[u8]) -> String {
    match shown(tail) {
        words if words.is_empty() => String::new(),
        words => format!("; it said: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(kernel: Option<&str>, words: &[&str]) -> PlannedBoot {
        PlannedBoot {
            kernel: kernel.map(str::to_owned),
            command_line: words.iter().map(|w| (*w).to_owned()).collect(),
        }
    }

    #[test]
    fn host_kernel_and_words_are_arguments_and_no_shell_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("said");
        let hook = format!(
            "sh -c 'printf \"[%s]\" \"$@\" >\"$0\"' '{}' 'a b'",
            file.display()
        );
        let hook = Hook::parse(&hook).unwrap();
        let said = |boot: &PlannedBoot| {
            hook.restart("h1", boot, &Cancel::default()).unwrap();
            std::fs::read_to_string(&file).unwrap()
        };
        assert_eq!(
            said(&boot(Some("6.1"), &["x=$(id)", "y"])),
            "[a b][h1][6.1][x=$(id)][y]"
        );
        assert_eq!(said(&boot(None, &[])), "[a b][h1][-]");
    }

    #[test]
    fn a_failure_has_its_last_words() {
        let hook = Hook::parse("sh -c 'echo no such guest >&2; exit 3'").unwrap();
        let error = hook.restart("h1", &boot(None, &[]), &Cancel::default());
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("exit code 3") && text.contains("no such guest"),
            "{text}"
        );
        let hook = Hook::parse("/nowhere/hook").unwrap();
        let error = hook.restart("h1", &boot(None, &[]), &Cancel::default());
        assert!(error.unwrap_err().report().contains("--boot-hook"));
    }

    #[test]
    fn a_cancel_ends_it() {
        let hook = Hook::parse("sh -c 'sleep 1000'").unwrap();
        let cancel = Cancel::default();
        let from_elsewhere = cancel.clone();
        std::thread::spawn(move || from_elsewhere.cancel());
        let error = hook.restart("h1", &boot(None, &[]), &cancel);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Interrupted);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for text in ["", "  ", "'a", "''"] {
            assert_eq!(Hook::parse(text).unwrap_err().kind(), ErrorKind::Usage);
        }
    }
}
