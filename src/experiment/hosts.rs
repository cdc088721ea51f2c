//! Which hosts: names that `ssh` knows, each once.

use crate::experiment::template;
use crate::experiment::words::shown;

/// What is wrong with a list of hosts.
pub(super) struct Fault {
    /// Which name, from 0; none when it is the list.
    pub(super) index: Option<usize>,
    pub(super) message: String,
    pub(super) next: &'static str,
}

const NAME: &str = "give a name that `ssh` knows, or `local` for this machine";
const ONCE: &str = "give each host once; `design.trials` says how often it runs";

/// The first thing wrong.
pub(super) fn fault(hosts: &[String]) -> Option<Fault> {
    let fault = |index, message, next| {
        Some(Fault {
            index,
            message,
            next,
        })
    };
    if hosts.is_empty() {
        return fault(None, "is empty".into(), NAME);
    }
    for (index, host) in hosts.iter().enumerate() {
        // A name with `{variable}` places is looked at again once they are filled in.
        let is_name = match template::pieces(host) {
            Ok(pieces)
                if pieces
                    .iter()
                    .any(|p| matches!(p, template::Piece::Variable(_))) =>
            {
                true
            }
            _ => is_name(host),
        };
        if !is_name {
            let message = format!("{} cannot be a host's name", shown(host));
            return fault(Some(index), message, NAME);
        }
        if hosts.iter().take(index).any(|other| other == host) {
            return fault(
                Some(index),
                format!("host {} stands twice", shown(host)),
                ONCE,
            );
        }
    }
    None
}

/// An option must not look like a name, nor a name like a path.
fn is_name(host: &str) -> bool {
    host.len() <= 255
        && host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == ':' || c == '_')
        && host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-%@:".contains(c))
}
