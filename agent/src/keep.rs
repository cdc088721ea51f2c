//! Starting a trial, and keeping what takes it through its phases: a process that only waits, and sees to it that
//! everything is put back when the other dies.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper, setsid};

use crate::attention::Attention;
use crate::cgroup::{Cgroup, Groups};
use crate::clock::{ms, now_ns};
use crate::event::Events;
use crate::folder::{self, Folder};
use crate::identity::Identity;
use crate::{lock, oom, recover, remains};

/// This program, also when its file is gone.
const OWN: &str = "/proc/self/exe";

/// How long a supervisor may take to say that it is under way: it may have to put back what another left.
const ANSWER_NS: u64 = ms(180_000);

const PAUSE: Duration = Duration::from_millis(10);

/// The environment that a workload gets from whoever starts the trial, also below an init system.
const ENVIRONMENT: [&str; 7] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM"];

/// Seconds that an init system gives a trial to end gently.
const STOP_S: u32 = 300;

/// Starts a supervisor for a trial and leaves it to itself. Gives its process' number.
///
/// # Errors
/// Why the trial is refused.
pub fn start(folder: &Folder) -> Result<i32, String> {
    folder.spec()?;
    let token = std::process::id().to_string();
    let mut child = match below_init(folder, &token) {
        true => None,
        false => Some(plainly(folder, &token)?),
    };
    let answer = folder.file(&answer_name(&token));
    let until_ns = now_ns() + ANSWER_NS;
    loop {
        let has_ended = match &mut child {
            Some(child) => child.try_wait().is_ok_and(|status| status.is_some()),
            None => false,
        };
        if let Ok(text) = folder::read(&answer, 4096) {
            let _ = fs::remove_file(&answer);
            let text = String::from_utf8_lossy(&text).into_owned();
            return match text.split_once(' ') {
                Some(("started", pid)) => pid.trim().parse().map_err(|_| text.clone()),
                Some((_, why)) => Err(why.trim().to_owned()),
                None => Err(text),
            };
        }
        if has_ended {
            return Err("the supervisor ended at once".to_owned());
        }
        if now_ns() > until_ns {
            return Err("the supervisor does not say that it is under way".to_owned());
        }
        std::thread::sleep(PAUSE);
    }
}

/// As a unit of its own, so that the end of a login takes nothing along. Whether it is under way.
fn below_init(folder: &Folder, token: &str) -> bool {
    let is_there = fs::exists("/run/systemd/system").unwrap_or(false);
    if !is_there || !rustix::process::geteuid().is_root() {
        return false;
    }
    // It has no way to this process' /proc/self.
    let Ok(program) = fs::read_link(OWN).and_then(fs::canonicalize) else {
        return false;
    };
    let mut command = Command::new("systemd-run");
    command
        .args(["--quiet", "--collect"])
        .arg(format!("--unit=ktrial-{}", folder.name()))
        // It is known whether the program could be run.
        .arg("--property=Type=exec")
        .arg("--property=Delegate=yes")
        // TERM reaches the keeper alone, and the worker ends the rest in its order; when the keeper dies, the worker
        // goes on.
        .arg("--property=KillMode=process")
        .arg(format!("--property=TimeoutStopSec={STOP_S}"))
        // A workload that the kernel ended for its memory is a result, not the trial's end.
        .arg("--property=OOMPolicy=continue")
        .arg("--property=TasksMax=infinity")
        .arg("--property=LimitMEMLOCK=infinity");
    for name in ENVIRONMENT {
        if let Some(value) = std::env::var_os(name) {
            let mut argument = std::ffi::OsString::from(format!("--setenv={name}="));
            argument.push(value);
            command.arg(argument);
        }
    }
    command
        .arg("--")
        .arg(program)
        .arg("supervise")
        .arg(folder.path());
    command.args([token, "delegated"]);
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn plainly(folder: &Folder, token: &str) -> Result<Child, String> {
    let mut command = Command::new(OWN);
    command
        .arg("supervise")
        .arg(folder.path())
        .args([token, "plain"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .spawn()
        .map_err(|e| format!("the supervisor cannot be started: {e}"))
}

/// Is the supervisor of a trial.
///
/// # Errors
/// Why the trial is refused; it was answered already.
pub fn supervise(folder: &Folder, token: &str, delegated: bool) -> Result<(), String> {
    // A session of its own: nothing that is sent to the login's group reaches it. Below an init system it has one.
    if let Err(e) = setsid()
        && !delegated
    {
        return Err(format!("it cannot have a session: {e}"));
    }
    let begun = begin(folder);
    let answer = match &begun {
        Ok(Begun::Now(identity)) => format!("started {}\n", identity.pid),
        Ok(Begun::Before(pid)) => format!("started {pid}\n"),
        Err(why) => format!("refused {why}\n"),
    };
    let answered = folder.write(&answer_name(token), answer.as_bytes());
    let Begun::Now(identity) = begun? else {
        return Ok(());
    };
    if let Err(e) = answered {
        lock::release(folder);
        return Err(e.to_string());
    }
    let mut events = Events::open(folder)?;
    events.say("begun", &identity.pid.to_string());
    drop(events);
    let groups = match rustix::process::geteuid().is_root() {
        true => Groups::make(folder.name(), delegated),
        false => None,
    };
    let oom = oom::spare();
    let kept = keep(
        folder,
        oom.as_deref(),
        groups.as_ref().map(|groups| &groups.workload),
    );
    // A worker that took this process for dead has the lock, and sees to the rest.
    if !folder.has("result") && lock::is_held_by(folder, &identity) {
        let root = getpid().as_raw_nonzero().get();
        let recovered = recover::after(folder, Some(root), oom);
        lock::release(folder);
        recovered?;
    }
    if lock::is_held_by(folder, &identity) {
        lock::release(folder);
    }
    if let Some(groups) = groups {
        groups.leave();
    }
    kept
}

/// How a trial came to its supervisor.
enum Begun {
    /// It is this process.
    Now(Identity),
    /// It is the process with this number, which an earlier start of the same trial made.
    Before(i32),
}

/// Takes the lock for a trial that was not begun before, and puts right what others left.
fn begin(folder: &Folder) -> Result<Begun, String> {
    folder.spec()?;
    let identity = Identity::own()?;
    if let lock::Taken::Before(holder) = lock::take(folder, &identity)? {
        return begun_by(folder, &holder).map(Begun::Before);
    }
    let begun = || -> Result<(), String> {
        if folder.has("pid") || folder.has("result") {
            return Err("this trial was begun before".to_owned());
        }
        remains::put_right(folder, &identity)?;
        folder
            .keep("spec.json")
            .map_err(|e| format!("spec.json: {e}"))?;
        let written = folder.write("pid", format!("{identity}\n").as_bytes());
        let written = written.and_then(|()| folder.keep("pid"));
        written.map_err(|e| format!("pid: {e}"))
    };
    match begun() {
        Ok(()) => Ok(Begun::Now(identity)),
        Err(why) => {
            if lock::is_held_by(folder, &identity) {
                lock::release(folder);
            }
            Err(why)
        }
    }
}

/// Waits for what another process, which has the lock for this same trial, makes of it. Gives its number.
fn begun_by(folder: &Folder, holder: &Identity) -> Result<i32, String> {
    let until_ns = now_ns() + ANSWER_NS;
    loop {
        match recover::supervisor(folder) {
            Some(supervisor) if supervisor.lives() => return Ok(supervisor.pid),
            Some(_) => return Err("this trial was begun before".to_owned()),
            None if !holder.lives() => {
                return Err(format!("process {} did not begin this trial", holder.pid));
            }
            None if now_ns() > until_ns => {
                return Err(format!("process {} still begins this trial", holder.pid));
            }
            None => std::thread::sleep(PAUSE),
        }
    }
}

/// Starts what works and waits for its end.
fn keep(folder: &Folder, oom: Option<&str>, cgroup: Option<&Cgroup>) -> Result<(), String> {
    let mut attention = Attention::new().map_err(|e| e.to_string())?;
    // When the worker dies, all that it has left is given to this process.
    set_child_subreaper(Some(getpid())).map_err(|e| e.to_string())?;
    let mut command = Command::new(OWN);
    command
        .arg("work")
        .arg(folder.path())
        .arg(oom.unwrap_or(""));
    command.arg(cgroup.map(Cgroup::path).unwrap_or("".as_ref()));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().map_err(|e| e.to_string())?;
    let worker = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let worker = worker.ok_or("the worker has no process")?;
    let mut told = false;
    while attention.exit(worker).is_none() {
        attention.pause(u64::MAX);
        if attention.is_told_to_end() && !told {
            told = kill_process(worker, Signal::TERM).is_ok();
        }
    }
    Ok(())
}

fn answer_name(token: &str) -> String {
    format!("answer.{token}")
}
