//! Where trials are on a host, and what supervises them: the agent where it can run, and the shell elsewhere.

use std::time::Duration;

use ktrial_agent::BASE;

use crate::error::{Error, ErrorKind, Result};
use crate::host::Host;
use crate::supervisor::{self, Agent, Kind, PROGRAMS};

use super::said;

/// The agent is some hundred KiB, over lines that may be slow.
const DEADLINE: Duration = Duration::from_secs(120);

/// The longest path of a folder for trials, in bytes.
const LONGEST_BASE: usize = 1024;

/// A host that can take trials.
#[derive(Debug, PartialEq)]
pub(super) struct Ready {
    pub(super) kind: Kind,
    /// The folder that has the trials' folders.
    pub(super) base: String,
    /// The agent's file there.
    pub(super) program: String,
    /// Why it is not the agent, when nobody chose the shell.
    pub(super) note: Option<String>,
}

/// Sees to the folder for trials and to the supervisor on the host: sends the agent unless it is there, whole, and runs.
///
/// # Errors
/// As [`Host::exec_fed`]; `HostStable` when the agent was chosen and cannot run there, or the folder for trials is
/// somebody else's.
pub(super) fn ready(host: &dyn Host, chosen: Option<Kind>) -> Result<Ready> {
    let base = base(host)?;
    let hash = supervisor::agent().map_or("", |agent| &agent.sha256);
    let name: String = hash.chars().take(16).collect();
    let program = format!("{base}/agent-{name}");
    let of = |kind, note| Ready {
        kind,
        program: program.clone(),
        base: base.clone(),
        note,
    };
    if chosen == Some(Kind::Shell) {
        check_shell(host)?;
        return Ok(of(Kind::Shell, None));
    }
    let why_not = match supervisor::agent() {
        Some(built) => agent(host, &program, built)?,
        None => Some("this ktrial was built without it".to_owned()),
    };
    match (why_not, chosen) {
        (None, _) => Ok(of(Kind::Agent, None)),
        (Some(why), None) => {
            check_shell(host)?;
            let why = format!(
                "supervised by the shell, with at most one sample a second, as the agent does not run there: {why}"
            );
            Ok(of(Kind::Shell, Some(why)))
        }
        (Some(why), Some(_)) => Err(Error::new(
            ErrorKind::HostStable,
            format!("{}: the agent does not run there: {why}", host.name()),
        )
        .next("leave --supervisor out: the shell does it then")),
    }
}

/// Sees whether the shell's supervisor has its programs.
fn check_shell(host: &dyn Host) -> Result<()> {
    let script = format!(
        "# the shell's programs\nfor program in {}; do command -v \"$program\" >/dev/null || echo \"$program\"; done\n",
        PROGRAMS.join(" ")
    );
    let output = host.exec(&script, DEADLINE)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let missing: Vec<String> = text.lines().map(|line| said::escaped(line, 20)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::HostStable,
        format!(
            "{}: it lacks programs that the shell needs to supervise a trial: {}",
            host.name(),
            missing.join(", ")
        ),
    )
    .next("install them"))
}

/// The folder for trials, made when it is not there.
pub(super) fn base(host: &dyn Host) -> Result<String> {
    let output = host.exec(&place_script(), DEADLINE)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let base = text.lines().next_back().unwrap_or_default();
    if output.exit.ok() && is_base(base) {
        return Ok(base.to_owned());
    }
    let said =
        said::last_line(&output.stderr).unwrap_or_else(|| said::escaped(base, said::MESSAGE));
    Err(Error::new(
        ErrorKind::HostStable,
        format!("{}: it has no place for trials: {said}", host.name()),
    )
    .next(format!(
        "make {BASE}-UID a folder that belongs to this user alone, on a disk with room, or name another by KTRIAL_BASE there"
    )))
}

/// Whether a host's answer can be the folder for trials. It is a part of scripts and is never a path here, so it has
/// characters that mean nothing to a shell.
fn is_base(path: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-".contains(&b);
    let user = path.rsplit_once('-').map(|(_, user)| user);
    path.len() <= LONGEST_BASE
        && path.starts_with('/')
        && path.bytes().all(is_plain)
        && !path.split('/').any(|name| name == "..")
        && user.is_some_and(|user| user.parse::<u32>().is_ok())
}

/// The script that takes the agent where it is absent; `BASE` and the agent itself on its input as in
/// [`agent_script`].
pub fn send_script() -> String {
    supervisor::agent().map_or(String::new(), |agent| {
        taking("BASE/agent-HASH", &agent.sha256)
    })
}

/// The script that looks for the agent before a trial, as it runs on the host but for the folder's name: `BASE` stands
/// for it. Empty when this ktrial has no agent.
pub fn agent_script() -> String {
    supervisor::agent().map_or(String::new(), |agent| {
        looking("BASE/agent-HASH", &agent.sha256)
    })
}

/// The script that makes the folder for trials and says where it is. A host whose /var/tmp is small, or in memory, has
/// another place in its environment.
pub fn place_script() -> String {
    format!(
        r#"# where trials are
base=${{KTRIAL_BASE:-{BASE}}}-$(id -u)
umask 077
[ -d "$base" ] || mkdir "$base" || exit
[ ! -L "$base" ] && [ -O "$base" ] || {{ echo "$base belongs to somebody else" >&2; exit 1; }}
chmod 700 "$base"
echo "$base"
"#
    )
}

/// Looks for the agent on the host and sends it when it is not there; gives the reason when it does not run.
fn agent(host: &dyn Host, program: &str, built: &Agent) -> Result<Option<String>> {
    let hash = &built.sha256;
    let look = |told: &str| -> Option<Option<String>> {
        let last = told.lines().next_back().unwrap_or_default();
        match last.split_once(' ').unwrap_or((last, "")) {
            ("ready", _) => Some(None),
            ("no", why) => Some(Some(said::escaped(why, said::MESSAGE))),
            _ => None,
        }
    };
    let output = host.exec(&looking(program, hash), DEADLINE)?;
    if let Some(found) = look(&String::from_utf8_lossy(&output.stdout)) {
        return Ok(found);
    }
    let output = host.exec_fed(&taking(program, hash), built.bytes, DEADLINE)?;
    Ok(
        look(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|| {
            Some(said::last_line(&output.stderr).unwrap_or_else(|| "it cannot be sent".to_owned()))
        }),
    )
}

/// The script that looks for the agent of this hash: it says `ready`, `absent`, or `no WHY` in its last line.
fn looking(program: &str, hash: &str) -> String {
    format!("# the agent on this host\n{}{LOOK}", begin(program, hash))
}

/// The script that takes the agent from its input, and looks for it then.
fn taking(program: &str, hash: &str) -> String {
    format!(
        "# the agent for this host\n{}{TAKE}{LOOK}",
        begin(program, hash)
    )
}

fn begin(program: &str, hash: &str) -> String {
    let machine = ktrial_agent::MACHINE;
    format!("agent={program} hash={hash} machine={machine}\n")
}

const LOOK: &str = r#"[ "$(uname -m)" = "$machine" ] || { echo "no it is for $machine, and this is $(uname -m)"; exit; }
[ -f "$agent" ] || { echo absent; exit; }
sum=$(sha256sum <"$agent" 2>/dev/null) || { echo 'no there is no sha256sum to check it by'; exit; }
[ "${sum%% *}" = "$hash" ] || { rm -f "$agent"; echo absent; exit; }
said=$("$agent" version 2>&1) && echo ready || echo "no $said"
"#;

const TAKE: &str = r#"umask 077
# Those of other versions, a month after they came.
find "${agent%/*}" -name 'agent-*' -mtime +30 -exec rm -f {} + 2>/dev/null
cat >"$agent.$$" && chmod 700 "$agent.$$" && mv "$agent.$$" "$agent" || { rm -f "$agent.$$"; echo "no $agent cannot be written"; exit; }
"#;

#[cfg(test)]
mod tests {
    use super::is_base;

    #[test]
    fn a_folder_for_trials_is_a_plain_path_of_a_user() {
        for good in ["/var/tmp/ktrial-0", "/mnt/disk.2/kt_a-1000"] {
            assert!(is_base(good), "{good}");
        }
        let long = format!("/{}-0", "a".repeat(2000));
        for bad in [
            "",
            "var/tmp/ktrial-0",
            "/var/tmp/ktrial",
            "/var/tmp/ktrial-x",
            "/a/../b-0",
            "/a b-0",
            "/$(id)-0",
            "/a;b-0",
            "/a\nb-0",
            &long,
        ] {
            assert!(!is_base(bad), "{bad}");
        }
    }
}
