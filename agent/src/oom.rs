//! Memory that runs out: the supervisor is spared, and what the kernel ended is told.

use std::fs;
use std::path::Path;

use crate::folder;

/// Keeps the kernel from ending this process and what it starts for memory that a workload took. Gives what was before.
pub fn spare() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let file = Path::new("/proc/self/oom_score_adj");
    let before = folder::read(file, 64).ok()?;
    fs::write(file, "-1000").ok()?;
    Some(String::from_utf8_lossy(&before).trim().to_owned())
}

/// How many processes the kernel ended for want of memory since the host's boot, also by a control group's limit;
/// none where it does not say (before Linux 4.13).
pub fn kills() -> Option<u64> {
    let text = folder::read(Path::new("/proc/vmstat"), 1 << 20).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count?.trim().parse().ok()
}
