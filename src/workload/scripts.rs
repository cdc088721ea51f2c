//! A workload as the scripts of its supervisor, each run by a shell of its own in the trial's folder: what one finds out
//! for another is in a file there.

use super::{boot, kmod, module, quote, stress_ng};
use crate::experiment::{Experiment, PlannedTrial, WorkloadKind};

/// Shell lines before the idle phase, for the workload phase, and after the settle phase. `restore` runs however the trial
/// ended; its lines on standard error that begin with `ktrial: ` are for the reader of the record.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scripts {
    /// Ends with another code than 0 when the trial cannot be, and the reason on standard error.
    pub(crate) prepare: String,
    pub(crate) command: String,
    pub(crate) restore: String,
}

/// How `prepare` ends when a check fails.
const FAULT: &str = "fault() { printf '%s\\n' \"$1\" >&2; exit 1; }\n";

/// What `restore` has to unload; written before anything is loaded.
const KEEP: &str = "printf '%s\\n' \"$modules_to_unload\" >modules || exit\n";

/// Unloads what `modules` names, in that order.
const UNLOAD: &str =
    "[ ! -f modules ] || for module in $(cat modules); do unload \"$module\"; done\n";

/// The scripts of a trial's workload.
pub(crate) fn scripts(trial: &PlannedTrial, experiment: &Experiment) -> Scripts {
    let argv = &trial.argv;
    let workload = &experiment.workload;
    match workload.kind {
        WorkloadKind::Command => Scripts {
            command: format!("{}\n", quote(argv)),
            ..Scripts::default()
        },
        WorkloadKind::Boot => Scripts {
            command: boot::questions(),
            ..Scripts::default()
        },
        WorkloadKind::StressNg => {
            let options = stress_ng::options(workload.duration);
            let command = format!("{} {options}\n", quote(argv));
            match module::prepared(argv, FAULT, KEEP) {
                None => Scripts {
                    command,
                    ..Scripts::default()
                },
                Some(prepare) => Scripts {
                    prepare,
                    command: format!("{}{command}", module::ENTER),
                    restore: unload(),
                },
            }
        }
        WorkloadKind::Kmod => Scripts {
            prepare: kmod::prepared(argv, FAULT, KEEP),
            command: kmod::entered(argv),
            restore: unload(),
        },
    }
}

fn unload() -> String {
    format!("{}{UNLOAD}", module::FUNCTIONS)
}
