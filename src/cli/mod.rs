//! The command line: one file a subcommand, each an `Args` and a `run`.

mod columns;
mod compare;
mod import;
mod password;
mod plan;
mod plot;
mod reach;
mod resume;
mod run;
mod run_progress;
mod show;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use std::io::Write;

use crate::error::{Error, ErrorKind, Result};

/// Reproducible before/after experiments on Linux kernels.
#[derive(Debug, Parser)]
#[command(name = "ktrial", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str =
    "Exit codes: 0 done, 1 the experiment or comparison failed, 2 usage or input error.";

#[derive(Debug, Subcommand)]
enum Command {
    Compare(compare::Args),
    Import(import::Args),
    Plan(plan::Args),
    Run(run::Args),
    Resume(resume::Args),
    Show(show::Args),
    Plot(plot::Args),
}

/// Parses the command line, runs it, prints an error's report on stderr.
pub fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("KTRIAL_LOG")
                .unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        // It would panic when standard error cannot be written.
        .log_internal_errors(false)
        .init();
    match dispatch(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            tell(&error.report());
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Compare(args) => compare::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Plot(args) => plot::run(&args),
    }
}

/// Prints a line to stderr. When that cannot be written nobody can be told so: the exit code still says it.
fn tell(line: &str) {
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}

/// Prints to stdout. A reader that went away (`| head`) is no error.
///
/// # Errors
/// When stdout cannot be written for another reason.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, "cannot write to the standard output").because(e))
        }
        _ => Ok(()),
    }
}
