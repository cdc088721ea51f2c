//! Settings: the shell lines that give files of the kernel a value for a trial and their old value back after it.

use crate::experiment::{Experiment, PlannedTrial, Setting, WorkloadKind};

use super::module;

/// Shell functions for values of the kernel's files.
///
/// - `choice VALUE` prints it in one line; of choices, such as `always [madvise] never`, the one in brackets.
/// - `same VALUE OTHER` compares by meaning: numbers as numbers, `Y` and `N` as 1 and 0.
/// - `put FILE VALUE` writes it. Only what the shell itself can: a signal to the group cannot end a `restore` halfway.
pub(crate) const FUNCTIONS: &str = r#"choice() {
  set -f; set -- $1; set +f
  for word; do
    case $word in '['*']') word=${word#?}; set -- "${word%?}"; break ;; esac
  done
  printf '%s\n' "$*"
}
truth() { case $1 in [Yy]) echo 1 ;; [Nn]) echo 0 ;; *) printf '%s\n' "$1" ;; esac; }
same() {
  set -- "$(truth "$1")" "$(truth "$2")"
  [ "$1" = "$2" ] || [ "$1" -eq "$2" ]
} 2>/dev/null
put() { printf '%s\n' "$2" >"$1"; }
"#;

/// The sysctl that [`of`] adds.
const OOM_DUMP_TASKS: &str = "/proc/sys/vm/oom_dump_tasks";

/// What is set while a trial runs: the experiment's settings, and those that its workload needs. stress-ng's module
/// stressor may exhaust memory; `vm.oom_dump_tasks=0` keeps the list of all tasks out of the kernel's log then.
pub fn of(trial: &PlannedTrial, experiment: &Experiment) -> Vec<Setting> {
    let mut settings = trial.settings.clone();
    let is_set = |setting: &Setting| setting.file == OOM_DUMP_TASKS;
    if experiment.workload.kind == WorkloadKind::StressNg
        && module::is_stressed(&trial.argv)
        && !settings.iter().any(is_set)
    {
        settings.push(Setting {
            file: OOM_DUMP_TASKS.to_owned(),
            value: "0".to_owned(),
        });
    }
    settings
}

/// Files whose value a trial must leave as it was: those of [`of`], and what the workload itself changes for a while.
pub fn guarded(trial: &PlannedTrial, experiment: &Experiment) -> Vec<String> {
    let mut files: Vec<String> = of(trial, experiment).into_iter().map(|s| s.file).collect();
    // kmod.sh points it at a program of its own, and back again when it ends.
    let modprobe = "/proc/sys/kernel/modprobe".to_owned();
    if experiment.workload.kind == WorkloadKind::Kmod && !files.contains(&modprobe) {
        files.push(modprobe);
    }
    files
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::workload::quote;

    /// `sh`, and those of the others that are installed.
    fn shells() -> Vec<&'static [&'static str]> {
        let all: [&[&str]; 4] = [&["sh"], &["dash"], &["busybox", "sh"], &["bash", "--posix"]];
        let found = |shell: &&[&str]| {
            let (program, arguments) = shell.split_first().unwrap();
            let mut command = Command::new(program);
            command.args(arguments).args(["-c", ":"]);
            command.output().is_ok_and(|output| output.status.success())
        };
        all.into_iter().filter(found).collect()
    }

    #[test]
    fn values_are_compared_by_their_meaning() {
        let alike = [
            ("1", "Y"),
            ("N", "0"),
            ("y", "Y"),
            ("60", "060"),
            ("4096\t131072  9", "4096 131072 9"),
            ("always [madvise] never", "madvise"),
            ("[none] mq-deadline", "none"),
            ("", ""),
            ("*", "*"),
        ];
        let others = [
            ("1", "N"),
            ("60", "61"),
            ("always [madvise] never", "always"),
            ("", "0"),
            ("4096 1", "4096 2"),
            ("performance", "powersave"),
        ];
        for shell in shells() {
            let cases = alike
                .map(|c| (c, true))
                .into_iter()
                .chain(others.map(|c| (c, false)));
            for ((read, wanted), so) in cases {
                let words = quote(&[read.to_owned(), wanted.to_owned()]);
                let script = format!(
                    "{FUNCTIONS}set -- {words}\nsame \"$(choice \"$1\")\" \"$(choice \"$2\")\""
                );
                let (program, arguments) = shell.split_first().unwrap();
                let mut command = Command::new(program);
                let output = command
                    .args(arguments)
                    .args(["-c", &script])
                    .output()
                    .unwrap();
                assert_eq!(output.status.success(), so, "{shell:?} {read} {wanted}");
                assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell:?}");
            }
        }
    }

    #[test]
    fn a_module_stressor_has_its_setting_unless_the_experiment_says_another() {
        let settings = |workload: &str, set: &str| {
            let text = format!(
                "question: q\nprimary: free.used.peak\nhosts: [h]\nconditions: {{a: {{v: 1}}, b: {{v: 2}}}}\n\
                 workload: {{{workload}, duration: 3s}}\nmonitors: {{free: {{}}}}\ndesign: {{trials: 1}}\n\
                 settings: {{vm.swappiness: '{{v}}'{set}}}\n"
            );
            let plan = Experiment::parse(&text, "e.yaml").unwrap().plan().unwrap();
            let trial = &plan.trials[1];
            let all = of(trial, &plan.experiment).into_iter();
            let shown =
                all.map(|s| format!("{}={}", s.file.trim_start_matches("/proc/sys/vm/"), s.value));
            (
                shown.collect::<Vec<_>>().join(" "),
                guarded(trial, &plan.experiment).len(),
            )
        };
        let (module, vm) = ("stress-ng: [--module, 1]", "stress-ng: [--vm, 1]");
        assert_eq!(settings(vm, ""), ("swappiness=2".into(), 1));
        assert_eq!(
            settings(module, ""),
            ("swappiness=2 oom_dump_tasks=0".into(), 2)
        );
        let own = ", vm.oom_dump_tasks: 1";
        assert_eq!(
            settings(module, own),
            ("swappiness=2 oom_dump_tasks=1".into(), 2)
        );
        assert_eq!(
            settings("kmod: [-t, '0008']", ""),
            ("swappiness=2".into(), 2)
        );
    }
}
