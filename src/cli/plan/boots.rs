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
        checks.push("/proc/cmdline has every word asked for, and none of the host's other boots");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn plan(boot: &str) -> Plan {
        let text = format!(
            "question: q\nprimary: a.service\nhosts: [h]\nconditions: {{before: {{k: '6.1'}}, after: {{k: '6.12'}}}}\n\
             workload: {{boot: [a.service]}}\ndesign: {{trials: 1}}\n{boot}"
        );
        Experiment::parse(&text, "e.yaml").unwrap().plan().unwrap()
    }

    #[test]
    fn what_a_hook_is_asked_for_and_what_is_checked_is_shown() {
        let plan = plan("boot: {kernel: '{k}', command_line: [quiet, 'x={k}']}\n");
        assert_eq!(row(&plan.trials[1]), "boot 6.12 quiet x=6.12");
        let (text, scripts) = texts(&plan).unwrap();
        assert!(text.contains("`uname -r` is the kernel") && text.contains("needs the hook"));
        // Nothing else than the hook can boot that.
        assert!(
            scripts
                .iter()
                .all(|(_, script)| !script.contains("systemctl reboot"))
        );
        let page = super::super::text::render(&plan, true);
        assert!(
            page.contains("systemctl is-system-running --wait"),
            "{page}"
        );
        assert!(page.contains("systemd-analyze --no-pager blame"), "{page}");
    }

    #[test]
    fn a_host_s_own_choice_has_its_script() {
        let mut plan = plan("boot: {command_line: ['{k}']}\n");
        assert_eq!(row(&plan.trials[0]), "boot - 6.1");
        for trial in &mut plan.trials {
            trial.boot.as_mut().unwrap().command_line.clear();
        }
        assert_eq!(row(&plan.trials[0]), "boot");
        let (text, scripts) = texts(&plan).unwrap();
        assert!(text.contains("by the host itself") && !text.contains("uname"));
        assert!(
            scripts
                .iter()
                .any(|(_, script)| script.contains("systemctl reboot"))
        );
        for trial in &mut plan.trials {
            trial.boot = None;
        }
        assert!(texts(&plan).is_none());
    }
}
