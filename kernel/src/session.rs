//! A session: one evcxr context, in which a notebook's cells run one after the other.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use evcxr::{CommandContext, EvalContext, EvalContextOutputs, EvalOutputs};

use crate::relay::{self, Message};
use crate::workspace::Workspace;

/// The session; ends its processes when it is dropped.
pub struct Session {
    context: CommandContext,
    outputs: EvalContextOutputs,
    _workspace: Workspace,
}

/// What a cell gave.
pub struct Executed {
    /// What it printed and showed, in order.
    pub messages: Vec<Message>,
    /// What its commands (`:vars`) gave, or why it did not compile or run to its end.
    pub result: Result<EvalOutputs, evcxr::Error>,
}

impl Session {
    /// Starts one, with the notebook's folder as working directory of this process and of the cells.
    ///
    /// `timeout` is how long one cell may run; compiling does not count.
    pub fn start(notebook_folder: &Path, timeout: Option<Duration>) -> Result<Session> {
        let folder = notebook_folder
            .canonicalize()
            .with_context(|| format!("{}: no such folder", notebook_folder.display()))?;
        env::set_current_dir(&folder)
            .with_context(|| format!("{}: cannot enter the folder", folder.display()))?;
        let workspace = Workspace::open(&folder)?;
        set_environment(&workspace);
        if workspace.is_new() {
            eprintln!(
                "first run: what the notebook depends on is compiled once, which takes minutes"
            );
        }

        let program = env::current_exe().context("cannot tell the path of this program")?;
        let mut command = Command::new(program);
        relay::configure(&mut command, timeout);
        command.env("LD_LIBRARY_PATH", libraries()?);
        let (context, outputs) = EvalContext::with_subprocess_command(command)
            .map_err(|error| anyhow::anyhow!("cannot start a session: {error}"))?;
        let mut context = CommandContext::with_eval_context(context);
        // An error that leaves a cell through `?` is shown with its causes, which Display does not give.
        context
            .execute(":efmt {:?}")
            .map_err(|error| anyhow::anyhow!("cannot set up the session: {error}"))?;
        Ok(Session {
            context,
            outputs,
            _workspace: workspace,
        })
    }

    /// Runs one cell to its end.
    pub fn execute(&mut self, code: &str) -> Executed {
        let ended = AtomicBool::new(false);
        let stdout = &self.outputs.stdout;
        let context = &mut self.context;
        thread::scope(|scope| {
            // evcxr does not return before its output has been taken.
            let collector = scope.spawn(|| {
                let mut messages = Vec::new();
                loop {
                    match stdout.recv_timeout(Duration::from_millis(5)) {
                        Ok(line) => messages.extend(Message::of_line(&line)),
                        Err(_) if ended.load(Ordering::SeqCst) && stdout.is_empty() => {
                            return messages;
                        }
                        Err(_) => {}
                    }
                }
            });
            let result = context.execute(code);
            ended.store(true, Ordering::SeqCst);
            let messages = collector.join().unwrap_or_default();
            Executed { messages, result }
        })
    }
}

/// What evcxr and rust-analyzer take from the environment.
fn set_environment(workspace: &Workspace) {
    let mut variables = vec![
        ("EVCXR_TMPDIR", workspace.cell()),
        ("EVCXR_CONFIG_DIR", workspace.no_configuration()),
        // Without the standard library's source, rust-analyzer makes rustup download it unasked.
        (
            "RUSTUP_DIST_SERVER",
            PathBuf::from("http://nowhere.invalid"),
        ),
    ];
    match standard_library_source() {
        Some(source) => variables.push(("RUST_SRC_PATH", source)),
        None => eprintln!(
            "no source of Rust's standard library found: a `let` of a type from it, such as Vec, has to name the type.\n\
             Install it with `rustup component add rust-src`, or on Debian `apt-get install rust-web-src`."
        ),
    }
    for (name, value) in variables {
        // SAFETY: no other thread has been started yet.
        unsafe { env::set_var(name, value) };
    }
}

/// Where a compiled cell finds the standard library, which evcxr has it link dynamically, before what the user set.
fn libraries() -> Result<OsString> {
    let own = rustc("target-libdir").context("rustc does not tell where its libraries are")?;
    let set = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let set = env::split_paths(&set).filter(|path| !path.as_os_str().is_empty());
    Ok(env::join_paths([own].into_iter().chain(set))?)
}

/// What `rustc --print` says.
fn rustc(what: &str) -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", what]).output();
    let said = String::from_utf8(output.ok()?.stdout).ok()?;
    let path = said.trim();
    (!path.is_empty()).then(|| path.into())
}

/// The `library` folder of a Rust source tree: what the user set, the toolchain's own, or Debian's.
fn standard_library_source() -> Option<PathBuf> {
    let set = env::var_os("RUST_SRC_PATH").map(PathBuf::from);
    let own = rustc("sysroot").map(|sysroot| sysroot.join("lib/rustlib/src/rust/library"));
    let debian = || {
        let mut sources: Vec<_> = fs::read_dir("/usr/src")
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("rustc-"))
            .map(|entry| entry.path().join("library"))
            .collect();
        sources.sort();
        sources.into_iter()
    };
    set.into_iter()
        .chain(own)
        .chain(debian())
        .find(|source| source.join("core").is_dir())
}
