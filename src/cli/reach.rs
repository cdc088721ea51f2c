//! How hosts are reached, and a run is watched: what `ktrial run` and `ktrial resume` have in common.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use super::password::Terminal;
use super::run_progress::{Bars, Lines};
use super::tell;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{PlannedBoot, duration};
use crate::host;
use crate::record::Record;
use crate::run::{self, Ask, Cancel, Hook, Progress, Restart, Ways};
use crate::supervisor::Kind;
use crate::workload::quote;

/// The shortest lease.
const SHORTEST_LEASE: Duration = Duration::from_secs(15);

/// The options of everything that runs on hosts.
#[derive(Debug, clap::Args)]
pub struct Reach {
    /// How to reach hosts, as `ssh -F` takes it; your own ssh configuration counts without it.
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,

    /// What boots a host into a kernel: a program with its arguments, run here as `PROGRAM ARGS... HOST KERNEL WORD...`;
    /// docs/hosts.md has its contract. Without it hosts reboot themselves, into a kernel of their own choice.
    #[arg(long, value_name = "COMMAND")]
    boot_hook: Option<String>,

    /// Use at most N hosts at once; the others wait their turn. Without it all hosts run beside each other.
    #[arg(long, value_name = "N")]
    max_hosts: Option<NonZeroUsize>,

    /// Run on the hosts that are ready when others cannot be reached or fail their preflight; `ktrial resume` runs the
    /// others' trials later. Without it nothing is run then.
    #[arg(long)]
    go_without: bool,

    /// What takes trials through their phases on a host: the agent, a program that is sent there, or the shell, with
    /// at most one sample a second. Without it the agent where it can run, and the shell elsewhere.
    #[arg(long, value_name = "WHICH", value_parser = ["agent", "shell"])]
    supervisor: Option<String>,

    /// How long a host may be out of reach before its other trials are given up, such as 10min.
    #[arg(long, value_name = "TIME", value_parser = time)]
    patience: Option<Duration>,

    /// How long a trial goes on while nobody watches it: then its host ends it, and keeps what it has. Without it the
    /// planned time of a trial and ten minutes.
    #[arg(long, value_name = "TIME", value_parser = lease)]
    lease: Option<Duration>,
}

impl Reach {
    /// Checks what was given, before anything else is done.
    ///
    /// # Errors
    /// `Input` when a file cannot be read.
    pub(super) fn check(&self) -> Result<()> {
        self.ssh_config.as_deref().map_or(Ok(()), check_ssh_config)
    }

    /// Runs trials: with hosts reached as the options say, ended by signals, and progress on standard error. Prints
    /// where the record is, or how to go on.
    ///
    /// # Errors
    /// Those of `work`, and when not every trial is complete.
    pub(super) fn run(
        &self,
        work: impl FnOnce(&Ways<'_>, &Cancel, &dyn Progress) -> Result<Record>,
    ) -> Result<ExitCode> {
        let connect = |name: &str| host::connect(name, self.ssh_config.as_deref());
        let hook = self.boot_hook.as_deref().map(Hook::parse).transpose()?;
        let restart = hook.map(|hook| {
            move |name: &str, boot: &PlannedBoot, cancel: &Cancel| hook.restart(name, boot, cancel)
        });
        let cancel = Cancel::default();
        let terminal = Terminal::open();
        let ask = terminal
            .as_ref()
            .map(|terminal| |name: &str| terminal.ask(name, &cancel));
        let ways = Ways {
            restart: restart.as_ref().map(|restart| restart as &Restart),
            supervisor: self.supervisor.as_deref().and_then(Kind::from_word),
            patience: self.patience.unwrap_or(run::PATIENCE),
            lease: self.lease,
            password: ask.as_ref().map(|ask| ask as &Ask),
            max_hosts: self.max_hosts,
            go_without: self.go_without,
            ..Ways::new(&connect)
        };
        let signals = listen(&cancel)?;
        let progress = progress();
        let record = work(&ways, &cancel, progress.as_ref());
        // Bars go before anything is printed below them.
        drop(progress);
        signals.close();
        let record = record?;
        for line in run::summary(&record) {
            tell(&line);
        }
        let path = quote(&[text(&record.dir())]);
        run::check(&record).map_err(|error| {
            error.next(format!(
                "what was received is kept; this runs the trials that are not complete: {}",
                self.resume_command(&record.dir())
            ))
        })?;
        super::print(&format!("record: {path}\ncompare: ktrial compare {path}\n"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// The command that finishes a record, with the options as they were given; but for `--go-without`, since the hosts
    /// that were not ready are what it is for.
    fn resume_command(&self, record: &Path) -> String {
        let mut words = vec!["ktrial".to_owned(), "resume".to_owned(), text(record)];
        if let Some(file) = &self.ssh_config {
            words.extend(["--ssh-config".to_owned(), text(file)]);
        }
        if let Some(hook) = &self.boot_hook {
            words.extend(["--boot-hook".to_owned(), hook.clone()]);
        }
        if let Some(which) = &self.supervisor {
            words.extend(["--supervisor".to_owned(), which.clone()]);
        }
        for (option, time) in [("--patience", self.patience), ("--lease", self.lease)] {
            if let Some(time) = time {
                words.extend([option.to_owned(), format!("{}ms", time.as_millis())]);
            }
        }
        if let Some(n) = self.max_hosts {
            words.extend(["--max-hosts".to_owned(), n.to_string()]);
        }
        quote(&words)
    }
}

/// A time as experiments write it.
fn time(text: &str) -> std::result::Result<Duration, String> {
    duration::parse(text).map_err(|(wrong, right)| match right {
        Some(right) => format!("{wrong}; {right}"),
        None => format!("{wrong}; such as 90s, 10min or 2h"),
    })
}

/// A lease: whoever watches says so every five seconds, and may be late.
fn lease(text: &str) -> std::result::Result<Duration, String> {
    let lease = time(text)?;
    match lease >= SHORTEST_LEASE {
        true => Ok(lease),
        false => Err("it is at least 15s: who watches a trial says so every 5 s".to_owned()),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Whether ssh could read the file; `none` stands for no file, as for `ssh -F`.
fn check_ssh_config(file: &Path) -> Result<()> {
    if file == Path::new("none") {
        return Ok(());
    }
    std::fs::File::open(file).map(drop).map_err(|cause| {
        Error::input("cannot read the ssh configuration")
            .at(file)
            .next("check the file given with --ssh-config")
            .because(cause)
    })
}

fn progress() -> Box<dyn Progress> {
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        Box::new(Bars::default())
    } else {
        Box::new(Lines::default())
    }
}

/// Turns signals into the wish to end the run; the third one ends ktrial itself.
fn listen(cancel: &Cancel) -> Result<Handle> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        .map_err(|e| Error::new(ErrorKind::Io, "cannot listen for signals").because(e))?;
    let handle = signals.handle();
    let cancel = cancel.clone();
    std::thread::spawn(move || {
        for (_, count) in signals.forever().zip(1..) {
            match count {
                1 => {
                    cancel.cancel();
                    tell("ktrial: ending the running trials; what was sampled is kept");
                }
                2 => tell("ktrial: still cleaning up the hosts; once more leaves them as they are"),
                _ => std::process::exit(1),
            }
        }
    });
    Ok(handle)
}
