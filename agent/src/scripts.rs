//! Shell scripts of a trial, started as a user's own shell would.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::cgroup::Cgroup;
use crate::folder::Folder;

/// Where words go that cannot be kept.
const NOWHERE: &str = "/dev/null";

/// Gives back what the supervisor has for itself, joins the control group, and becomes the script.
const BEGIN: &str = r#"{
  [ -z "$1" ] || echo "$1" >/proc/self/oom_score_adj
  [ -z "$2" ] || echo $$ >"$2/cgroup.procs"
} 2>/dev/null
exec sh -c "$3""#;

/// What starts scripts.
#[derive(Debug, Clone)]
pub struct Scripts {
    folder: Folder,
    /// What scripts get as their oom_score_adj, when the supervisor's is another.
    oom_score_adj: Option<String>,
}

impl Scripts {
    /// For a trial.
    pub fn new(folder: &Folder, oom_score_adj: Option<String>) -> Scripts {
        Scripts {
            folder: folder.clone(),
            oom_score_adj,
        }
    }

    /// In the environment of the workload and all that it starts.
    pub fn variable(&self) -> String {
        format!("KTRIAL_TRIAL=[{}]", self.folder.name())
    }

    /// In the environment of all other scripts and what they start.
    pub fn beside_variable(&self) -> String {
        format!("KTRIAL_BESIDE=[{}]", self.folder.name())
    }

    /// Starts the workload.
    ///
    /// # Errors
    /// When there is no shell, or no process to have.
    pub fn workload(&self, script: &str, cgroup: Option<&Cgroup>) -> Result<Pid, String> {
        let (out, err) = ("workload.stdout", "workload.stderr");
        self.start(script, out, err, &self.variable(), cgroup)
    }

    /// Starts another script, with what it says going to these files.
    ///
    /// # Errors
    /// As [`Scripts::workload`].
    pub fn beside(&self, script: &str, out: &str, err: &str) -> Result<Pid, String> {
        self.start(script, out, err, &self.beside_variable(), None)
    }

    /// Starts `restore`. It has to run, so what it says is lost where it cannot be kept.
    ///
    /// # Errors
    /// As [`Scripts::workload`].
    pub fn restore(&self, script: &str) -> Result<Pid, String> {
        let (out, err) = ("workload.stdout", "workload.stderr");
        let name = |name: &'static str| match self.folder.append(name) {
            Ok(_) => name,
            Err(_) => NOWHERE,
        };
        self.beside(script, name(out), name(err))
    }

    fn start(
        &self,
        script: &str,
        out: &str,
        err: &str,
        variable: &str,
        cgroup: Option<&Cgroup>,
    ) -> Result<Pid, String> {
        let open = |name: &str| -> Result<File, String> {
            let file = match name {
                NOWHERE => File::options().write(true).open(name),
                _ => self.folder.append(name),
            };
            file.map_err(|e| format!("{name}: {e}"))
        };
        let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
        let mut command = Command::new("sh");
        command
            .args(["-c", BEGIN, "ktrial"])
            .arg(self.oom_score_adj.as_deref().unwrap_or(""))
            .arg(cgroup.map(Cgroup::path).unwrap_or("".as_ref()))
            .arg(script)
            .env_remove("KTRIAL_TRIAL")
            .env_remove("KTRIAL_BESIDE")
            .env("LC_ALL", "C")
            .env(name, value)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(open(out)?)
            .stderr(open(err)?)
            .process_group(0);
        let child = command.spawn().map_err(|e| format!("sh: {e}"))?;
        i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| "the script has no process".to_owned())
    }
}

/// Sends a signal to all of a script's process group. Only while nobody has asked for its leader's end: the number can be
/// another's then.
pub fn signal(script: Pid, signal: Signal) {
    let _ = kill_process_group(script, signal);
}
