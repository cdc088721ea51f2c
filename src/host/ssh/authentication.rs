//! Authentication with keys: those of the agent, then identity files.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::session::{failure, is_broken, is_refusal};
use crate::error::{Error, ErrorKind, Result};
use crate::inventory::Target;
use crate::process::{left, run, shown};

/// Authenticates as the target's user.
///
/// # Errors
/// `HostStable` with everything that was tried when no key is accepted; `HostTransient` when the connection breaks.
pub(super) fn authenticate(ssh: &ssh2::Session, target: &Target, deadline: Instant) -> Result<()> {
    let mut attempts = Attempts::default();
    if with_agent(ssh, target, &mut attempts)? || with_files(ssh, target, deadline, &mut attempts)?
    {
        return Ok(());
    }
    Err(attempts.refused(target))
}

/// What was tried, for the message.
#[derive(Default)]
struct Attempts {
    /// One phrase each.
    tried: Vec<String>,
    /// Public keys, in base64, that the host has refused.
    offered: Vec<String>,
    /// The first key that needs its passphrase.
    encrypted: Option<PathBuf>,
}

impl Attempts {
    fn refused(self, target: &Target) -> Error {
        let next = match (self.encrypted, &target.agent) {
            (Some(file), Some(_)) => format!("run `ssh-add {}`", file.display()),
            (Some(file), None) => format!(
                "run ktrial under an agent: `eval $(ssh-agent)`, then `ssh-add {}`",
                file.display()
            ),
            (None, _) => format!(
                "put a key of yours on the host, such as with `ssh-copy-id {}`; passwords are not supported",
                target.name
            ),
        };
        let tried = match self.tried.join("; ") {
            none if none.is_empty() => "there is no agent and no identity file".to_owned(),
            tried => format!("tried {tried}"),
        };
        Error::new(
            ErrorKind::HostStable,
            format!(
                "{}: {} may not log in: {tried}",
                target.name,
                shown(target.user.as_bytes())
            ),
        )
        .next(next)
    }

    /// Takes the answer to one key. True when it was accepted.
    fn answer(
        &mut self,
        target: &Target,
        what: String,
        answer: Result<(), ssh2::Error>,
    ) -> Result<bool> {
        match answer {
            Ok(()) => return Ok(true),
            Err(error) if is_broken(&error) && self.offered.len() > 1 => {
                return Err(Error::new(
                    ErrorKind::HostStable,
                    format!(
                        "{}: it closed the connection after {} keys: tried {}; {what}",
                        target.name,
                        self.offered.len(),
                        self.tried.join("; ")
                    ),
                )
                .because(error)
                .next("set IdentityFile and `IdentitiesOnly yes` in the ssh config: hosts allow few tries"));
            }
            Err(error) if is_broken(&error) => {
                return Err(failure(&target.name, "authenticate", error));
            }
            Err(error) if is_refusal(&error) => self.tried.push(format!("{what} (refused)")),
            Err(error) => self
                .tried
                .push(format!("{what} ({})", shown(error.message().as_bytes()))),
        }
        Ok(false)
    }
}

fn with_agent(ssh: &ssh2::Session, target: &Target, attempts: &mut Attempts) -> Result<bool> {
    let Some(socket) = &target.agent else {
        return Ok(false);
    };
    let keys = || -> Result<_, ssh2::Error> {
        let mut agent = ssh.agent()?;
        agent.set_identity_path(socket)?;
        agent.connect()?;
        agent.list_identities()?;
        let keys = agent.identities()?;
        Ok((agent, keys))
    };
    let (agent, keys) = match keys() {
        Ok(found) => found,
        // As ssh does: an agent that is gone is no reason not to try the files.
        Err(error) => {
            let why = shown(error.message().as_bytes());
            attempts.tried.push(format!("the agent ({why})"));
            return Ok(false);
        }
    };
    let configured: Vec<String> = target
        .identity_files
        .iter()
        .flat_map(|f| public_keys(f))
        .collect();
    let mut keys: Vec<(usize, String, _)> = keys
        .into_iter()
        .map(|key| {
            let blob = STANDARD.encode(key.blob());
            let place = configured.iter().position(|c| *c == blob);
            (place.unwrap_or(usize::MAX), blob, key)
        })
        .filter(|(place, ..)| *place != usize::MAX || !target.identities_only)
        .collect();
    // As ssh does: keys that the config names come first, since hosts allow few tries.
    keys.sort_by_key(|(place, ..)| *place);
    for (_, blob, key) in keys {
        attempts.offered.push(blob);
        let what = format!("agent key `{}`", shown(key.comment().as_bytes()));
        let answer = agent.userauth(&target.user, &key);
        if attempts.answer(target, what, answer)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn with_files(
    ssh: &ssh2::Session,
    target: &Target,
    deadline: Instant,
    attempts: &mut Attempts,
) -> Result<bool> {
    for file in target.identity_files.iter().filter(|file| file.exists()) {
        let was_offered = |key: &String| attempts.offered.contains(key);
        if public_keys(file).iter().any(was_offered) {
            continue;
        }
        let what = file.display().to_string();
        // ssh-keygen tells what is wrong with a key (passphrase, permissions, format) better than the library.
        let mut command = Command::new("ssh-keygen");
        command.args(["-y", "-P", "", "-f"]).arg(file);
        let output = run(&mut command, left(deadline))?;
        if !output.exit.ok() {
            let why = shown(&output.stderr);
            if why.contains("incorrect passphrase") {
                attempts
                    .tried
                    .push(format!("{what} (has a passphrase and is not in the agent)"));
                attempts.encrypted.get_or_insert_with(|| file.clone());
            } else {
                attempts.tried.push(format!("{what} ({why})"));
            }
            continue;
        }
        let public = String::from_utf8_lossy(&output.stdout);
        attempts.offered.extend(key_field(&public));
        // The empty passphrase: the library may not ask for one.
        let answer = ssh.userauth_pubkey_file(&target.user, None, file, Some(""));
        if attempts.answer(target, what, answer)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The public keys, in base64, that stand beside an identity file or, for keys that only the agent holds, in it.
fn public_keys(file: &Path) -> Vec<String> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".pub");
    [Path::new(&beside), file]
        .into_iter()
        .filter_map(|path| {
            let mut text = String::new();
            let open = std::fs::File::open(path).ok()?;
            open.take(64 << 10).read_to_string(&mut text).ok()?;
            key_field(&text)
        })
        .collect()
}

/// The key of a line `type key comment`; none when it is something else, such as a private key.
fn key_field(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let kind = words.next()?;
    let key = words.next()?;
    let is_public = !kind.starts_with('-') && STANDARD.decode(key).is_ok();
    is_public.then(|| key.to_owned())
}
