//! Control groups of a trial: one for its agent, one for its workload, where the host lets have them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::folder;

/// How often a removal is tried, and how long is waited after each.
const REMOVALS: usize = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// A control group (version 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// The one at a path.
    pub fn at(path: impl Into<PathBuf>) -> Cgroup {
        Cgroup { path: path.into() }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves this process there. Whether it could be done.
    pub fn enter(&self) -> bool {
        fs::write(
            self.path.join("cgroup.procs"),
            std::process::id().to_string(),
        )
        .is_ok()
    }

    /// The processes in it and below it.
    pub fn members(&self) -> Vec<i32> {
        let mut members = Vec::new();
        self.walk(&mut |path| {
            let text = folder::read(&path.join("cgroup.procs"), 16 << 20).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            members.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
        });
        members
    }

    /// Ends all processes in it at once, also those that begin meanwhile (since Linux 5.14).
    pub fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
    }

    /// Removes it with what is below; what still has processes stays. One that ended may be in its group for a while.
    pub fn remove(&self) {
        for _ in 0..REMOVALS {
            self.walk(&mut |path| drop(fs::remove_dir(path)));
            if !self.path.exists() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Calls for every group below it, deepest first, and for itself.
    fn walk(&self, call: &mut dyn FnMut(&Path)) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                Cgroup::at(entry.path()).walk(call);
            }
        }
        call(&self.path);
    }
}

/// Removes a trial's groups, given its workload's, for a supervisor that did not live to do so; this process may be in
/// one of them. What an init system made is left to it.
pub fn remove_of(trial: &str, workload: &Cgroup) {
    let Some(both) = workload.path.parent() else {
        return;
    };
    if both
        .file_name()
        .is_some_and(|name| *name == *group_name(trial).as_str())
    {
        let is_in = mount().and_then(|mount| own(&mount));
        let is_in = is_in.is_some_and(|path| path.starts_with(both));
        if let Some(root) = both.parent().filter(|_| is_in) {
            Cgroup::at(root).enter();
        }
        Cgroup::at(both).remove();
    }
}

fn group_name(trial: &str) -> String {
    format!("ktrial-{trial}")
}

/// A trial's two groups, and where its supervisor came from.
#[derive(Debug)]
pub struct Groups {
    /// Holds the two others.
    own: Cgroup,
    /// Where the workload runs.
    pub workload: Cgroup,
    /// Where the supervisor was before.
    origin: Cgroup,
    /// Whether an init system made the group that holds the others, and removes it.
    delegated: bool,
}

impl Groups {
    /// Makes the groups and moves this process into its own; none where it is not allowed.
    ///
    /// `delegated`: an init system gave this process's group away, so the two are made in it; otherwise below the root.
    pub fn make(trial: &str, delegated: bool) -> Option<Groups> {
        let mount = mount()?;
        let origin = Cgroup::at(own(&mount)?);
        let path = match delegated {
            true => origin.path.clone(),
            false => mount.join(group_name(trial)),
        };
        let groups = Groups {
            workload: Cgroup::at(path.join("workload")),
            own: Cgroup::at(path),
            origin,
            delegated,
        };
        let agent = Cgroup::at(groups.own.path.join("agent"));
        let made = fs::create_dir_all(&agent.path).and(fs::create_dir_all(&groups.workload.path));
        if made.is_err() || !agent.enter() {
            groups.own_removed();
            return None;
        }
        Some(groups)
    }

    /// Goes back to where this process came from and removes the groups.
    pub fn leave(&self) {
        if self.delegated {
            return;
        }
        // A session that is over has no group any more.
        if !self.origin.enter() {
            let root = self.own.path.parent().unwrap_or(&self.own.path);
            Cgroup::at(root).enter();
        }
        self.own.remove();
    }

    fn own_removed(&self) {
        if !self.delegated {
            self.own.remove();
        }
    }
}

/// Where version 2 is mounted; beside version 1 it is elsewhere.
fn mount() -> Option<PathBuf> {
    let mounts = folder::read(Path::new("/proc/self/mounts"), 4 << 20).ok()?;
    let mounts = String::from_utf8_lossy(&mounts).into_owned();
    let mut lines = mounts.lines().map(|line| line.split(' '));
    lines.find_map(|mut words| {
        let path = words.nth(1)?;
        (words.next()? == "cgroup2").then(|| PathBuf::from(path))
    })
}

fn own(mount: &Path) -> Option<PathBuf> {
    let text = folder::read(Path::new("/proc/self/cgroup"), 1 << 20).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(mount.join(path))
}
