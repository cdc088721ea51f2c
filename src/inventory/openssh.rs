//! What the user's OpenSSH would do to reach a name: `ssh -G NAME`, so that Include, Match, Host patterns and
//! ProxyJump mean what they mean to `ssh` itself. Format: ssh_config(5); one `keyword value` a line.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::process::{run, shown};

/// How long `ssh -G` may take: `Match exec` may run programs and canonical names may ask the resolver.
const RESOLVE_DEADLINE: Duration = Duration::from_secs(30);

/// How long a connection may take to stand when the config has no ConnectTimeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Keepalives when the config has no ServerAliveInterval. A host under memory pressure may be silent for long.
const KEEPALIVE: Keepalive = Keepalive {
    interval: Duration::from_secs(10),
    count: 6,
};

/// How one host is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The name that the user knows it by.
    pub name: String,
    /// The file that `ssh -F` read, when not the user's own.
    pub ssh_config: Option<PathBuf>,
    /// User on the host.
    pub user: String,
    /// Name or address to connect to.
    pub hostname: String,
    /// TCP port.
    pub port: u16,
    /// The way to it, when not straight.
    pub proxy: Option<Proxy>,
    /// The name under which known-hosts files have its key, when not the host's own.
    pub host_key_alias: Option<String>,
    /// Known-hosts files, the user's and the machine's.
    pub known_hosts: Vec<PathBuf>,
    /// False only under `StrictHostKeyChecking no`.
    pub host_key_checked: bool,
    /// Private keys to offer, in order; they need not exist.
    pub identity_files: Vec<PathBuf>,
    /// Offer no other key of the agent than those of `identity_files`.
    pub identities_only: bool,
    /// The agent's socket.
    pub agent: Option<PathBuf>,
    /// How long a connection may take to stand.
    pub connect_timeout: Duration,
    /// When silence means that the connection is dead.
    pub keepalive: Keepalive,
}

/// A way to a host other than a TCP connection of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// `ProxyCommand`, with its % tokens filled in.
    Command {
        /// For `sh -c`.
        command: String,
        /// `ProxyUseFdpass`: it hands over a connected socket and ends.
        passes_socket: bool,
    },
    /// `ProxyJump`: hosts, comma-separated, the nearest to the controller first.
    Jump(String),
}

/// A question to the host every `interval`; after `count` without an answer the connection counts as broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// `ServerAliveInterval`.
    pub interval: Duration,
    /// `ServerAliveCountMax`.
    pub count: u32,
}

impl Target {
    /// Asks `ssh -G` how it would reach a name.
    ///
    /// # Errors
    /// `Usage` for a name that ssh would take for an option or a shell for more than a name;
    /// `HostStable` when ssh is missing, refuses its config, or the config uses something that ktrial cannot follow.
    pub fn resolve(name: &str, ssh_config: Option<&Path>) -> Result<Target> {
        check_name(name)?;
        let mut command = Command::new("ssh");
        if let Some(file) = ssh_config {
            command.arg("-F").arg(file);
        }
        command.args(["-T", "-G", "--", name]);
        let output = run(&mut command, RESOLVE_DEADLINE)?;
        if !output.exit.ok() {
            return Err(Error::new(
                ErrorKind::HostStable,
                format!("{name}: ssh refuses: {}", shown(&output.stderr)),
            )
            .next(format!("see what `ssh -G {name}` says")));
        }
        Self::parse(name, ssh_config, &String::from_utf8_lossy(&output.stdout))
    }

    /// What a person types to reach it by hand, for messages.
    pub fn ssh_command(&self) -> String {
        let mut words = vec!["ssh".to_owned()];
        if let Some(file) = &self.ssh_config {
            words.extend(["-F".to_owned(), file.display().to_string()]);
        }
        words.push(self.name.clone());
        // A name or path cannot hold NUL, the one thing that a shell cannot be told.
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
    }

    fn parse(name: &str, ssh_config: Option<&Path>, text: &str) -> Result<Target> {
        let mut target = Target {
            name: name.to_owned(),
            ssh_config: ssh_config.map(Path::to_owned),
            user: String::new(),
            hostname: String::new(),
            port: 22,
            proxy: None,
            host_key_alias: None,
            known_hosts: Vec::new(),
            host_key_checked: true,
            identity_files: Vec::new(),
            identities_only: false,
            agent: None,
            connect_timeout: CONNECT_TIMEOUT,
            keepalive: KEEPALIVE,
        };
        let settings: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .collect();
        // What tokens stand for comes first, then what may hold tokens.
        for (key, value) in &settings {
            match *key {
                "user" => target.user = (*value).to_owned(),
                "hostname" => target.hostname = (*value).to_owned(),
                "port" => target.port = number(name, key, value)?,
                "hostkeyalias" => target.host_key_alias = Some((*value).to_owned()),
                "stricthostkeychecking" => {
                    target.host_key_checked = !matches!(*value, "false" | "no" | "off");
                }
                "identitiesonly" => target.identities_only = *value == "yes",
                "connecttimeout" if *value != "none" => {
                    target.connect_timeout = Duration::from_secs(number(name, key, value)?);
                }
                "serveraliveinterval" if *value != "0" => {
                    target.keepalive.interval = Duration::from_secs(number(name, key, value)?);
                }
                _ => {}
            }
        }
        if target.user.is_empty() || target.hostname.is_empty() {
            return Err(Error::new(
                ErrorKind::HostStable,
                format!("{name}: `ssh -G` gave no user or hostname"),
            )
            .next("ktrial needs OpenSSH 6.8 or later"));
        }
        let has_interval = target.keepalive != KEEPALIVE;
        let passes_socket = settings.contains(&("proxyusefdpass", "yes"));
        let mut agent = "SSH_AUTH_SOCK";
        for (key, value) in settings {
            match key {
                "identityfile" if value != "none" => {
                    let file = target.expand(value)?;
                    target.identity_files.push(file.into());
                }
                "userknownhostsfile" | "globalknownhostsfile" if value != "none" => {
                    target.known_hosts.extend(split_paths(value));
                }
                "identityagent" => agent = value,
                "serveralivecountmax" if has_interval => {
                    target.keepalive.count = number(name, key, value)?;
                }
                "proxycommand" if value != "none" => {
                    let command = target.expand_tokens(value)?;
                    target.proxy = Some(Proxy::Command {
                        command,
                        passes_socket,
                    });
                }
                "proxyjump" if value != "none" => {
                    target.proxy = Some(Proxy::Jump(value.to_owned()))
                }
                _ => {}
            }
        }
        target.agent = match agent {
            "none" => None,
            "SSH_AUTH_SOCK" => std::env::var_os(agent).map(PathBuf::from),
            other => match other.strip_prefix('$') {
                Some(variable) if !variable.starts_with('{') => {
                    std::env::var_os(variable).map(PathBuf::from)
                }
                _ => Some(target.expand(other)?.into()),
            },
        }
        .filter(|path| !path.as_os_str().is_empty());
        Ok(target)
    }

    /// Fills in a leading `~/`, `${NAME}` and the % tokens of a path, which `ssh -G` leaves as they are.
    fn expand(&self, path: &str) -> Result<String> {
        let mut text = String::new();
        let mut rest = path;
        if let Some(below) = path.strip_prefix("~/") {
            text = format!("{}/", home());
            rest = below;
        }
        while let Some((before, after)) = rest.split_once("${") {
            let value = after
                .split_once('}')
                .and_then(|(variable, after)| Some((std::env::var(variable).ok()?, after)));
            let Some((value, after)) = value else {
                return Err(self.unusable(path, "names an environment variable that is not set"));
            };
            text.push_str(&self.expand_tokens(before)?);
            text.push_str(&value);
            rest = after;
        }
        text.push_str(&self.expand_tokens(rest)?);
        Ok(text)
    }

    /// Fills in % tokens; ssh_config(5), TOKENS.
    fn expand_tokens(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            match chars.next() {
                Some('%') => out.push('%'),
                Some('d') => out.push_str(&home()),
                Some('h') => out.push_str(&self.hostname),
                Some('k') => out.push_str(self.host_key_alias.as_deref().unwrap_or(&self.name)),
                Some('n') => out.push_str(&self.name),
                Some('p') => out.push_str(&self.port.to_string()),
                Some('r') => out.push_str(&self.user),
                Some('u') => out.push_str(&std::env::var("USER").unwrap_or_default()),
                Some('i') => out.push_str(&rustix::process::getuid().as_raw().to_string()),
                _ => return Err(self.unusable(text, "has a % token that ktrial does not know")),
            }
        }
        Ok(out)
    }

    fn unusable(&self, value: &str, why: &str) -> Error {
        Error::new(
            ErrorKind::HostStable,
            format!(
                "{}: the ssh config's `{}` {why}",
                self.name,
                shown(value.as_bytes())
            ),
        )
        .next("write it out in the ssh config; known tokens are %% %d %h %i %k %n %p %r %u")
    }
}

/// Refuses names that ssh would take for an option, or a ProxyCommand's shell for more than a name.
fn check_name(name: &str) -> Result<()> {
    let bad = |c: char| c.is_control() || c.is_whitespace() || "'`\"$\\;&<>|(){}".contains(c);
    if name.is_empty() || name.starts_with('-') || name.contains(bad) || name.len() > 1024 {
        return Err(Error::usage(format!(
            "`{}` cannot be a host's name",
            shown(name.as_bytes())
        ))
        .next("use a name that `ssh NAME` reaches, or `local`"));
    }
    Ok(())
}

fn number<T: std::str::FromStr>(name: &str, key: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| {
        Error::new(
            ErrorKind::HostStable,
            format!(
                "{name}: `ssh -G` gave `{}` for {key}, which is no number in range",
                shown(value.as_bytes())
            ),
        )
    })
}

fn home() -> String {
    std::env::home_dir()
        .map(|path| path.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// `ssh -G` writes several paths with spaces between and does not quote spaces within: the longest run of words
/// that is a file is taken for one path.
fn split_paths(value: &str) -> Vec<PathBuf> {
    let words: Vec<&str> = value.split(' ').collect();
    let mut paths = Vec::new();
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        let taken = (1..=rest.len())
            .rev()
            .find(|n| Path::new(&rest[..*n].join(" ")).is_file())
            .unwrap_or(1);
        let (path, after) = rest.split_at(taken);
        paths.push(PathBuf::from(path.join(" ")));
        rest = after;
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Target> {
        Target::parse(
            "web",
            None,
            &format!("user kdevops\nhostname h.example\n{text}"),
        )
    }

    #[test]
    fn settings_are_read_and_tokens_filled_in() {
        let target = parse(
            "port 2222\nidentityfile ~/.ssh/%h\nidentityfile /k/%r-%p%%\nidentitiesonly yes\n\
             proxycommand nc %h %p\nproxyusefdpass yes\nstricthostkeychecking accept-new\n\
             serveralivecountmax 3\nserveraliveinterval 7\nconnecttimeout 4\nhostkeyalias alias\n\
             identityagent none\n",
        )
        .unwrap();
        assert_eq!(target.port, 2222);
        assert_eq!(
            target.identity_files,
            [
                PathBuf::from(format!("{}/.ssh/h.example", home())),
                "/k/kdevops-2222%".into()
            ]
        );
        assert!(target.identities_only && target.host_key_checked);
        assert_eq!(
            target.proxy,
            Some(Proxy::Command {
                command: "nc h.example 2222".into(),
                passes_socket: true
            })
        );
        assert_eq!(target.keepalive.interval, Duration::from_secs(7));
        assert_eq!(target.keepalive.count, 3);
        assert_eq!(target.connect_timeout, Duration::from_secs(4));
        assert_eq!(target.host_key_alias.as_deref(), Some("alias"));
        assert_eq!(target.agent, None);
        let config = Some(Path::new("/my config"));
        let target = Target::parse("web", config, "user u\nhostname h").unwrap();
        assert_eq!(target.ssh_command(), "ssh -F '/my config' web");
    }

    #[test]
    fn without_an_interval_the_count_is_ours_too() {
        let target = parse("serveraliveinterval 0\nserveralivecountmax 3\n").unwrap();
        assert_eq!(target.keepalive, KEEPALIVE);
        assert_eq!(target.connect_timeout, CONNECT_TIMEOUT);
    }

    #[test]
    fn only_an_outright_no_leaves_host_keys_unchecked() {
        for (word, checked) in [
            ("true", true),
            ("ask", true),
            ("accept-new", true),
            ("false", false),
        ] {
            let target = parse(&format!("stricthostkeychecking {word}\n")).unwrap();
            assert_eq!(target.host_key_checked, checked, "{word}");
        }
    }

    #[test]
    fn unknown_tokens_and_unset_variables_are_said() {
        assert!(parse("identityfile /k/%C\n").is_err());
        assert!(parse("proxycommand x %\n").is_err());
        assert!(parse("identityfile /k/${KTRIAL_NOT_SET}\n").is_err());
        assert!(parse("port 70000\n").is_err());
    }

    #[test]
    fn a_path_with_a_space_is_one_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b");
        std::fs::write(&file, "").unwrap();
        let text = format!("/no/such {} /other", file.display());
        assert_eq!(
            split_paths(&text),
            [PathBuf::from("/no/such"), file, "/other".into()]
        );
    }

    #[test]
    fn a_name_is_never_an_option_or_a_shell_word() {
        for name in [
            "",
            "-oProxyCommand=x",
            "a b",
            "a;b",
            "$(x)",
            "a\nb",
            "a\u{1b}b",
        ] {
            let error = Target::resolve(name, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{name:?}");
        }
        assert!(check_name("virtme-ng%2222").is_ok());
        assert!(check_name("user@[::1]").is_ok());
    }
}
