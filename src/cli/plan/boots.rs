//! The boots of a plan as text.

use crate::experiment::{Plan, PlannedBoot, PlannedTrial};
use crate::workload::boot;

/// What a trial's row says of its boot.
pub fn row(trial: &PlannedTrial) -> String {
    match &trial.boot {
        None => String::new(),
        Some(boot) => format!("boot {}", wanted(boot)).trim_end().to_owned(),
    }
}

/// `6.1 quiet`, `- quiet`, or nothing when any boot will do.
fn wanted(boot: &PlannedBoot) -> String {
    if !boot.is_chosen() {
        return String::new();
    }
    let kernel = boot.kernel.as_deref().unwrap_or("-");
    let words = boot.command_line.iter().map(String::as_str);
    let words: Vec<&str> = std::iter::once(kernel).chain(words).collect();
    words.join(" ")
}

/// How trials begin that have a boot: sentences, then the scripts with what they are for. None when the plan has no boots.
pub fn texts(plan: &Plan) -> Option<(String, Vec<(&'static str, &'static str)>)> {
    let boots = || plan.trials.iter().filter_map(|trial| trial.boot.as_ref());
    boots().next()?;
    let mut checks = vec!["the boot_id is another one, that no other trial has"];
    if boots().any(|boot| boot.kernel.is_some()) {
        checks.push("`uname -r` is the kernel asked for");
    }
    if boots().any(|boot| !boot.command_line.is_empty()) {
        checks.push("/proc/cmdline has every word asked for");
    }
    let hook = match boots().any(PlannedBoot::is_chosen) {
        true => "needs the hook",
        false => "is by the host itself, or by the hook",
    };
    let text = format!(
        "A boot {hook} of `ktrial run --boot-hook`, which runs on this machine as HOOK HOST KERNEL WORD... with what \
         stands after `boot` above (KERNEL is `-` when none is asked for). Checked afterwards: {}. A wrong one is \
         booted once more, then its trial has failed.",
        checks.join("; ")
    );
    Some((text, boot::scripts(plan)))
}
