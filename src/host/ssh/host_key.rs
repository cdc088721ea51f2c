//! Host keys, checked against the user's known-hosts files. `ssh-keygen -F` reads them, so that hashed names,
//! patterns and markers mean what they mean to ssh; sshd(8), SSH_KNOWN_HOSTS FILE FORMAT.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::inventory::Target;
use crate::process::{left, run, shown};

/// What known-hosts files say of one host.
pub(super) struct KnownKeys {
    /// The name that was looked up, as `ssh-keygen -R` takes it.
    lookup: String,
    keys: Vec<KnownKey>,
}

struct KnownKey {
    file: PathBuf,
    marker: Marker,
    key_type: String,
    key: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    None,
    Revoked,
    Authority,
}

impl KnownKeys {
    /// Looks a host up in all its known-hosts files.
    ///
    /// # Errors
    /// `HostStable` when `ssh-keygen` is missing, `HostTransient` when it does not end in time.
    pub(super) fn look_up(target: &Target, deadline: Instant) -> Result<KnownKeys> {
        let host = target.hostname.to_lowercase();
        let lookup = match (&target.host_key_alias, target.port) {
            (Some(alias), _) => alias.to_lowercase(),
            (None, 22) => host.clone(),
            (None, port) => format!("[{host}]:{port}"),
        };
        let mut keys = find(target, &lookup, deadline)?;
        // As ssh does: a host on another port may be known by the name alone.
        if keys.is_empty() && target.host_key_alias.is_none() && target.port != 22 {
            keys = find(target, &host, deadline)?;
        }
        Ok(KnownKeys { lookup, keys })
    }

    /// The host-key algorithms in the order to ask for: first those under which the host is known, since a host
    /// with several keys shows only one.
    pub(super) fn preference(&self, supported: &[&str]) -> String {
        let known = |algorithm: &str| {
            self.plain().any(|known| {
                known.key_type == algorithm
                    || known.key_type == "ssh-rsa" && algorithm.starts_with("rsa-sha2-")
            })
        };
        let (mut order, others): (Vec<&str>, Vec<&str>) =
            supported.iter().copied().partition(|a| known(a));
        order.extend(others);
        order.join(",")
    }

    /// Compares with the key that the host has just proved to hold.
    ///
    /// # Errors
    /// `HostStable` for a revoked key, and, when keys are checked, for a changed or unknown one.
    pub(super) fn check(&self, target: &Target, key: &[u8]) -> Result<()> {
        let (name, ssh) = (&target.name, target.ssh_command());
        let offered = described(key);
        if let Some(revoked) = self
            .keys
            .iter()
            .find(|known| known.marker == Marker::Revoked && known.key == key)
        {
            return Err(Error::new(
                ErrorKind::HostStable,
                format!("{name}: its host key {offered} is revoked"),
            )
            .at(&revoked.file)
            .next("do not use this host until its owner has given it a new key"));
        }
        if !target.host_key_checked || self.plain().any(|known| known.key == key) {
            return Ok(());
        }
        let Some(first) = self.plain().next() else {
            let authority = self
                .keys
                .iter()
                .any(|known| known.marker == Marker::Authority);
            let why = if authority {
                " (a certificate authority is known, but certificates are not supported)"
            } else {
                ""
            };
            return Err(Error::new(
                ErrorKind::HostStable,
                format!("{name}: its host key {offered} is not known{why}"),
            )
            .next(format!(
                "compare the fingerprint with the host's own, then run `{ssh} true` once to add it"
            )));
        };
        let known: Vec<String> = self.plain().map(|known| described(&known.key)).collect();
        Err(Error::new(
            ErrorKind::HostStable,
            format!(
                "{name}: its host key has changed: it shows {offered}, known is {}",
                known.join(", ")
            ),
        )
        .at(&first.file)
        .next(format!(
            "somebody may be in between; if the host was installed anew, run `ssh-keygen -R '{}' -f '{}'`, \
             then `{ssh} true` once",
            self.lookup,
            first.file.display()
        )))
    }

    fn plain(&self) -> impl Iterator<Item = &KnownKey> {
        self.keys
            .iter()
            .filter(|known| known.marker == Marker::None)
    }
}

fn find(target: &Target, lookup: &str, deadline: Instant) -> Result<Vec<KnownKey>> {
    let mut keys = Vec::new();
    for file in target.known_hosts.iter().filter(|file| file.is_file()) {
        let mut command = Command::new("ssh-keygen");
        command.arg("-F").arg(lookup).arg("-f").arg(file);
        // Code 1: not in this file. A file that cannot be read makes nobody known.
        let output = run(&mut command, left(deadline))?;
        let text = String::from_utf8_lossy(&output.stdout);
        keys.extend(
            text.lines()
                .filter_map(parse)
                .map(|(marker, key_type, key)| KnownKey {
                    file: file.clone(),
                    marker,
                    key_type: key_type.to_owned(),
                    key,
                }),
        );
    }
    Ok(keys)
}

/// One line: `[@marker] names type key [comment]`.
fn parse(line: &str) -> Option<(Marker, &str, Vec<u8>)> {
    if line.starts_with('#') {
        return None;
    }
    let mut words = line.split_whitespace().peekable();
    let marker = match words.peek()? {
        &"@revoked" => Marker::Revoked,
        &"@cert-authority" => Marker::Authority,
        word if word.starts_with('@') => return None,
        _ => Marker::None,
    };
    if marker != Marker::None {
        words.next();
    }
    let (_names, key_type, key) = (words.next()?, words.next()?, words.next()?);
    Some((marker, key_type, STANDARD.decode(key).ok()?))
}

/// A key's type, which the key itself begins with (RFC 4253, 6.6), and its fingerprint as ssh writes it.
fn described(key: &[u8]) -> String {
    let print = STANDARD_NO_PAD.encode(Sha256::digest(key));
    let kind = key.split_first_chunk().and_then(|(length, rest)| {
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        rest.get(..length)
    });
    format!("{} SHA256:{print}", shown(kind.unwrap_or(b"unknown")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(marker: Marker, key_type: &str, key: &[u8]) -> KnownKey {
        KnownKey {
            file: "/kh".into(),
            marker,
            key_type: key_type.into(),
            key: key.into(),
        }
    }

    #[test]
    fn lines_with_and_without_markers() {
        assert_eq!(
            parse("[h]:22 ssh-ed25519 QUJD comment"),
            Some((Marker::None, "ssh-ed25519", b"ABC".to_vec()))
        );
        assert_eq!(
            parse("@revoked * ssh-rsa QUJD"),
            Some((Marker::Revoked, "ssh-rsa", b"ABC".to_vec()))
        );
        for line in [
            "# Host h found: line 1",
            "",
            "h",
            "h ssh-rsa",
            "h ssh-rsa !!",
            "@x h ssh-rsa QUJD",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn known_kinds_are_asked_for_first() {
        let keys = KnownKeys {
            lookup: "h".into(),
            keys: vec![
                known(Marker::None, "ssh-rsa", b"r"),
                known(Marker::Authority, "ssh-ed25519", b"e"),
            ],
        };
        assert_eq!(
            keys.preference(&[
                "ssh-ed25519",
                "rsa-sha2-512",
                "ecdsa-sha2-nistp256",
                "ssh-rsa"
            ]),
            "rsa-sha2-512,ssh-rsa,ssh-ed25519,ecdsa-sha2-nistp256"
        );
    }

    #[test]
    fn a_fingerprint_is_written_as_ssh_does() {
        // printf '\0\0\0\3abc' | openssl dgst -sha256 -binary | base64
        assert_eq!(
            described(b"\0\0\0\x03abc"),
            "abc SHA256:0EtyplDOD4zkljMwpT7igycz0rrv//PB2OJWzKCW0SA"
        );
        assert!(described(b"\xff\xff\xff\xffabc").starts_with("unknown SHA256:"));
    }
}
