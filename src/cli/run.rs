//! `ktrial run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use super::run_progress::{Bars, Lines};
use super::tell;
use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Experiment;
use crate::experiment::PlannedBoot;
use crate::host;
use crate::run::{self, Cancel, Destination, Hook, Progress, Restart, Ways};

/// Run an experiment and write its record.
///
/// Ctrl-C (or Ctrl-\, HUP, TERM) ends the running trials gently and keeps what was sampled; a second one changes nothing,
/// a third one leaves at once and may leave a workload running on a host.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The experiment's file; `ktrial plan` shows what it runs.
    experiment: PathBuf,

    /// How to reach hosts, as `ssh -F` takes it; your own ssh configuration counts without it.
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,

    /// The folder that the record's folder is made in.
    #[arg(short, long, value_name = "DIR", default_value = "data/runs")]
    output: PathBuf,

    /// Run on this host instead of the experiment's; may be given again.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// Run this many trials of each condition instead of the experiment's number.
    #[arg(long, value_name = "N")]
    trials: Option<u32>,

    /// What boots a host into a kernel: a program with its arguments, run here as `PROGRAM ARGS... HOST KERNEL WORD...`;
    /// docs/hosts.md has its contract. Without it hosts reboot themselves, into a kernel of their own choice.
    #[arg(long, value_name = "COMMAND")]
    boot_hook: Option<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut experiment = Experiment::read(&args.experiment)?;
    if !args.hosts.is_empty() {
        experiment = experiment.on_hosts(&args.hosts)?;
    }
    if let Some(trials) = args.trials {
        experiment = experiment.with_trials(trials)?;
    }
    let plan = experiment.plan()?;
    if let Some(file) = &args.ssh_config {
        check_ssh_config(file)?;
    }
    let source = std::fs::read(&args.experiment)
        .map_err(|e| Error::io("read the experiment", &args.experiment, e))?;
    let destination = Destination {
        folder: args.output.clone(),
        experiment: Some(source),
    };
    let connect = |name: &str| host::connect(name, args.ssh_config.as_deref());
    let hook = args.boot_hook.as_deref().map(Hook::parse).transpose()?;
    let restart = hook.map(|hook| {
        move |name: &str, boot: &PlannedBoot, cancel: &Cancel| hook.restart(name, boot, cancel)
    });
    let ways = Ways {
        restart: restart.as_ref().map(|restart| restart as &Restart),
        ..Ways::new(&connect)
    };
    let cancel = Cancel::default();
    let signals = listen(&cancel)?;
    let progress = progress();
    let record = run::run(&plan, &destination, &ways, &cancel, progress.as_ref());
    // Bars go before anything is printed below them.
    drop(progress);
    signals.close();
    let record = record?;
    run::check(&record)?;
    let path = shell_word(&record.dir());
    super::print(&format!("record: {path}\ncompare: ktrial compare {path}\n"))?;
    Ok(ExitCode::SUCCESS)
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
        Box::new(Lines)
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

/// A path as it can be pasted into a shell.
fn shell_word(path: &Path) -> String {
    crate::workload::quote(&[path.to_string_lossy().into_owned()])
}
