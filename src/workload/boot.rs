//! Boots: what runs on a host to start it anew, to see which boot it is, and to ask what the boot took.

use crate::experiment::{Plan, PlannedBoot, WorkloadKind};

/// Starts the host anew when nothing outside of it does.
pub(crate) const REBOOT: &str = "# the host starts itself anew\nsystemctl reboot\n";

/// Prints boot_id, kernel and command line, a line each: before and after each boot, and in each trial.
pub const IDENTITY: &str = "cat /proc/sys/kernel/random/boot_id\nuname -r\ncat /proc/cmdline\n";

/// Waits for the end of the boot; prints systemd's word for it, then a line for each unit that failed.
pub(crate) const AWAIT: &str = "# whether the boot is over\n\
    command -v systemctl >/dev/null 2>&1 || { echo none; exit 0; }\n\
    systemctl is-system-running --wait\n\
    systemctl list-units --failed --plain --no-legend --no-pager\n";

/// What is asked after a boot that is the workload: the monitor's name, the raw file's, the script.
pub(crate) const QUESTIONS: [(&str, &str, &str); 3] = [
    (
        "systemd-analyze-time",
        "time.txt",
        "LC_ALL=C COLUMNS=400 systemd-analyze --no-pager time",
    ),
    (
        "systemd-analyze-blame",
        "blame.txt",
        "LC_ALL=C COLUMNS=400 systemd-analyze --no-pager blame",
    ),
    (
        "systemd-analyze-critical-chain",
        "critical-chain.txt",
        "LC_ALL=C COLUMNS=400 systemd-analyze --no-pager critical-chain",
    ),
];

/// The scripts of a boot in the order in which they run on the host, each with what it is for, besides [`IDENTITY`];
/// none when the plan has no boots.
///
/// That by which a host starts itself anew is among them where a host's own choice will do; a boot hook takes its place.
pub fn scripts(plan: &Plan) -> Vec<(&'static str, &'static str)> {
    let mut boots = plan
        .trials
        .iter()
        .filter_map(|t| t.boot.as_ref())
        .peekable();
    if boots.peek().is_none() {
        return Vec::new();
    }
    let mut scripts = Vec::new();
    if !boots.any(PlannedBoot::is_chosen) {
        scripts.push(("to start the host anew, without a hook", REBOOT));
    }
    scripts.push(("to wait for its end", AWAIT));
    scripts
}

/// What stands for the workload's script where the boot is the workload.
pub fn questions() -> String {
    let scripts = QUESTIONS.map(|(_, _, script)| format!("{script}\n"));
    format!("# what the boot took\n{}", scripts.concat())
}

/// Whether the plan's trials are boots and nothing else.
pub(crate) fn is_workload(plan: &Plan) -> bool {
    plan.experiment.workload.kind == WorkloadKind::Boot
}
