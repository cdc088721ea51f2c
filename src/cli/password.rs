//! A password typed on the terminal, without being shown.
//!
//! Not by a crate: those wait in one read for the line's end, and a run has to end by Ctrl-C meanwhile, with the
//! terminal as it was.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind, Result};
use crate::host::Password;
use crate::process::wait_ready;
use crate::run::Cancel;

/// How soon a wish to end the run is seen.
const LOOK: Duration = Duration::from_millis(100);

/// More than a password may have; no reallocation leaves a part of it behind.
const LONGEST: usize = 4096;

/// The terminal that ktrial was started from.
pub(super) struct Terminal(File);

impl Terminal {
    /// None when there is none, or ktrial is not in its foreground: reading it would stop ktrial.
    pub(super) fn open() -> Option<Terminal> {
        let mut options = File::options();
        let tty = options.read(true).write(true).open("/dev/tty").ok()?;
        let foreground = tcgetpgrp(&tty).ok()?;
        (foreground == getpgrp()).then_some(Terminal(tty))
    }

    /// Asks for the password of the login on a host.
    ///
    /// # Errors
    /// `Interrupted` when the run is to end; `Usage` when nothing or no password is typed; `Io` when the terminal fails.
    pub(super) fn ask(&self, host: &str, cancel: &Cancel) -> Result<Password> {
        let failed = |error: io::Error| {
            Error::new(ErrorKind::Io, "cannot ask on the terminal for a password").because(error)
        };
        let typed = {
            let _hidden = Hidden::on(&self.0).map_err(failed)?;
            let host = crate::ascii::escaped(host);
            let question = format!(
                "password for sudo on {host}, and on each other host of the run that asks: "
            );
            (&self.0).write_all(question.as_bytes()).map_err(failed)?;
            self.line(cancel).map_err(failed)?
        };
        (&self.0).write_all(b"\n").map_err(failed)?;
        let Some(typed) = typed else {
            return Err(Error::new(
                ErrorKind::Interrupted,
                format!("{host}: the run was ended when it asked for a password"),
            ));
        };
        Password::new(typed)
    }

    /// A line without its end; none when the run is to end.
    fn line(&self, cancel: &Cancel) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut typed = Zeroizing::new(Vec::with_capacity(LONGEST));
        let mut byte = Zeroizing::new([0; 1]);
        while !cancel.is_cancelled() {
            let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
            wait_ready(&mut fds, LOOK)?;
            if fds.iter().all(|fd| fd.revents().is_empty()) {
                continue;
            }
            match (&self.0).read(byte.as_mut_slice()) {
                Ok(0) => return Ok(Some(typed)),
                Ok(_) if *byte == *b"\n" || typed.len() == LONGEST => return Ok(Some(typed)),
                Ok(_) => typed.extend_from_slice(byte.as_slice()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// While it lives, what is typed is not shown, and Ctrl-Z does not stop ktrial with a terminal that shows nothing.
struct Hidden<'a> {
    tty: &'a File,
    before: Termios,
}

impl Hidden<'_> {
    fn on(tty: &File) -> io::Result<Hidden<'_>> {
        let before = tcgetattr(tty)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // The value that switches a special character off; termios(3), _POSIX_VDISABLE.
        hidden.special_codes[SpecialCodeIndex::VSUSP] = 0;
        // What was typed before the question is no answer to it.
        tcsetattr(tty, OptionalActions::Flush, &hidden)?;
        Ok(Hidden { tty, before })
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.tty, OptionalActions::Flush, &self.before);
    }
}
