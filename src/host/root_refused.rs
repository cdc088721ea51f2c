//! Why a login does not become root, in sudo's words and in ours.

use crate::error::{Error, ErrorKind};
use crate::process::shown;

/// What to do when nothing better is known.
const OTHERWISE: &str =
    "log in as root (`User root` in the ssh config), or let the login use sudo without a password";

/// sudo's words (sudo 1.8 and 1.9, sudo-rs, su, sh), what they mean, and what to do. The first that fits counts.
const MEANINGS: [(&str, &str, &str); 12] = [
    (
        "password is required",
        "sudo asks for a password",
        "run ktrial in a terminal, where it asks for the password once; or let the login use sudo without one \
         (NOPASSWD), or log in as root (`User root` in the ssh config)",
    ),
    (
        "authentication is required",
        "sudo asks for a password",
        "run ktrial in a terminal, where it asks for the password once; or let the login use sudo without one \
         (NOPASSWD), or log in as root (`User root` in the ssh config)",
    ),
    (
        "not in the sudoers",
        "the login is not in sudoers",
        "add it there with visudo, or log in as root",
    ),
    (
        "may not run sudo",
        "the login is not in sudoers",
        "add it there with visudo, or log in as root",
    ),
    (
        "must have a tty",
        "sudoers asks for a terminal",
        "switch it off for the login: `Defaults:LOGIN !requiretty`",
    ),
    (
        "no new privileges",
        "nothing may become root there, as in a container",
        "log in as root (`User root` in the ssh config)",
    ),
    (
        "expired",
        "the password or the account has expired",
        "log in by ssh, set a new password with passwd, and run again",
    ),
    (
        "su: ",
        "su does not make the login root",
        "see PAM's rules for su (/etc/pam.d/su) and root's login shell",
    ),
    (
        "nologin",
        "root has no login shell",
        "give root a shell, or allow the login any command with visudo",
    ),
    (
        "not available",
        "root has no login shell",
        "give root a shell, or allow the login any command with visudo",
    ),
    (
        "not allowed to",
        "sudoers allows the login neither any command nor `su -`",
        "allow one of them with visudo, or log in as root",
    ),
    (
        "not found",
        "sudo is not installed there",
        "install the package sudo, or log in as root (`User root` in the ssh config)",
    ),
];

/// A login did not become root.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// What sudo said.
    pub(super) said: Vec<u8>,
    /// It was the password.
    pub(super) is_of_password: bool,
    was_before: bool,
}

impl Refused {
    pub(super) fn saying(said: Vec<u8>) -> Refused {
        Refused {
            said,
            ..Refused::default()
        }
    }

    /// The password was refused before, and is not tried again.
    pub(super) fn before() -> Refused {
        Refused {
            is_of_password: true,
            was_before: true,
            ..Refused::default()
        }
    }

    /// The same without the prompt, which means nothing to a reader.
    pub(super) fn without(mut self, prompt: &str) -> Refused {
        let text = String::from_utf8_lossy(&self.said);
        self.said = text.replace(prompt, "").into_bytes();
        self
    }

    /// Whether sudo took the password and would not run the command.
    pub(super) fn is_of_command(&self) -> bool {
        !self.is_of_password && self.says("not allowed to")
    }

    /// Whether sudo says that the password is wrong.
    pub(super) fn blames_password(&self) -> bool {
        self.says("incorrect password") || self.says("incorrect authentication")
    }

    /// Whether these words are among what it said.
    pub(super) fn says(&self, words: &str) -> bool {
        String::from_utf8_lossy(&self.said).contains(words)
    }

    /// The error of a host that is not ready.
    pub(super) fn error(&self, host: &str) -> Error {
        self.told(host, "the experiment needs root, and ")
    }

    /// The error of a script that sudo did not run, where it did before.
    pub(super) fn error_of_script(&self, host: &str) -> Error {
        self.told(host, "sudo did not run a script: ")
    }

    fn told(&self, host: &str, what: &str) -> Error {
        let (meaning, next) = self.meaning();
        let said = match shown(&self.said) {
            none if none.is_empty() => String::new(),
            said => format!("; it said: {said}"),
        };
        Error::new(
            ErrorKind::HostStable,
            format!("{host}: {what}{meaning}{said}"),
        )
        .next(next)
    }

    fn meaning(&self) -> (&'static str, &'static str) {
        if self.was_before {
            return (
                "sudo has refused the password before: it is not tried again",
                "run again with the login's password on this host, and see that the account is not locked",
            );
        }
        if self.is_of_password {
            return (
                "sudo refused the password",
                "run again with the login's password on this host; one password serves all hosts of a run, \
                 and each host is asked once",
            );
        }
        let found = MEANINGS.iter().find(|(words, ..)| self.says(words));
        found.map_or(
            (
                "the login is another user's, and sudo does not make it root",
                OTHERWISE,
            ),
            |(_, meaning, next)| (meaning, next),
        )
    }
}

/// Whether a password may be all that is missing, by what `sudo -n` said.
pub(super) fn may_want_password(said: &[u8]) -> bool {
    let text = String::from_utf8_lossy(said);
    text.contains("password is required") || text.contains("authentication is required")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_s_words_are_explained_and_shown_escaped() {
        for (said, meaning) in [
            ("kd is not in the sudoers file.", "not in sudoers"),
            ("Sorry, user kd may not run sudo on h.", "not in sudoers"),
            (
                "sudo: sorry, you must have a tty to run sudo",
                "asks for a terminal",
            ),
            (
                "sudo: Account or password is expired, reset your password and try again",
                "has expired",
            ),
            (
                "Sorry, user kd is not allowed to execute '/usr/bin/env' as root on h.",
                "neither any command nor `su -`",
            ),
            ("su: Permission denied", "su does not make the login root"),
            ("sudo: a password is required", "asks for a password"),
            ("sh: 3: sudo: not found", "not installed"),
            ("\u{1b}[31m", "does not make it root"),
        ] {
            let report = Refused::saying(said.into()).error("h").report();
            assert!(report.contains(meaning), "{said}: {report}");
            assert!(report.contains("next: "), "{report}");
            assert!(!report.contains('\u{1b}'), "{report}");
        }
    }
}
