//! Settings: the shell lines that give files of the kernel a value for a trial and their old value back after it.

use crate::experiment::{Experiment, PlannedTrial, Setting, WorkloadKind};

use super::{Around, module, quote};

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

/// Sets a file, and ends the trial when it does not hold the value.
const HOLD: &str = r#"# hold FILE OLD VALUE
hold() {
  put "$1" "$3"
  now=$(choice "$(cat "$1")")
  same "$now" "$(choice "$3")" && return
  refuse "$1 was to be $3, and after writing it reads $now (before it was $2)"
}
refuse() { echo "ktrial: setting $1" >&2; leave 1; }
# Whether a trial had the value to its end.
still() {
  read -r now <"$1" || :
  same "$(choice "$now")" "$(choice "$2")" || echo "ktrial: setting $1 was $2, and at the trial's end it reads $now" >&2
}
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

/// The lines around a trial's phases that hold its settings.
pub(super) fn around(settings: &[Setting]) -> Around {
    if settings.is_empty() {
        return Around::default();
    }
    let mut around = Around::default().and_prepare(&format!("# settings\n{FUNCTIONS}{HOLD}"));
    for (number, Setting { file, value }) in (1..).zip(settings) {
        let file = quote(std::slice::from_ref(file));
        let value = quote(std::slice::from_ref(value));
        around.prepare.push_str(&format!(
            "old{number}=$(cat {file}) || refuse {file}' cannot be read'\n\
             old{number}=$(choice \"$old{number}\")\n\
             held{number}=yes\n\
             hold {file} \"$old{number}\" {value}\n"
        ));
        // The last one set is the first one restored. Without a word: the last line said is the reason of a trial
        // that `refuse` ended, and the controller looks at the files again.
        around.restore.insert_str(
            0,
            &format!(
                "[ -z \"$code\" ] || still {file} {value}\n\
                 [ -z \"$held{number}\" ] || put {file} \"$old{number}\" 2>/dev/null\n"
            ),
        );
    }
    around
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Command, Output};

    use super::*;

    /// Runs lines in a shell, with a `leave` as a trial's script has it.
    fn run(shell: &[&str], settings: &[Setting], between: &str) -> Output {
        let around = around(settings);
        let script = format!(
            "restore() {{\n:\n{}}}\nleave() {{ restore; exit \"$1\"; }}\n{}{between}\nrestore\n",
            around.restore, around.prepare
        );
        let (program, arguments) = shell.split_first().unwrap();
        let command = Command::new(program)
            .args(arguments)
            .args(["-c", &script])
            .env("LC_ALL", "C")
            .output();
        command.unwrap()
    }

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

    fn setting(file: &Path, value: &str) -> Setting {
        Setting {
            file: file.to_str().unwrap().to_owned(),
            value: value.to_owned(),
        }
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
    fn a_setting_holds_for_the_trial_and_the_old_value_comes_back() {
        for shell in shells() {
            let folder = tempfile::tempdir().unwrap();
            let (one, two) = (folder.path().join("it's one"), folder.path().join("two"));
            std::fs::write(&one, "always [madvise] never\n").unwrap();
            std::fs::write(&two, "4096\t87380\n").unwrap();
            let settings = [setting(&one, "never"), setting(&two, "$HOME 'x'")];
            let output = run(
                shell,
                &settings,
                &format!("cat {}/*", quote(&[folder.path().display().to_string()])),
            );
            assert!(output.status.success(), "{shell:?} {output:?}");
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "never\n$HOME 'x'\n"
            );
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            assert_eq!(std::fs::read_to_string(&one).unwrap(), "madvise\n");
            assert_eq!(std::fs::read_to_string(&two).unwrap(), "4096 87380\n");
        }
    }

    #[test]
    fn a_value_that_does_not_hold_ends_the_trial_and_what_was_set_before_is_restored() {
        for shell in shells() {
            let folder = tempfile::tempdir().unwrap();
            let good = folder.path().join("good");
            std::fs::write(&good, "60\n").unwrap();
            // Takes what is written and reads the same as ever; what cannot be read is never written.
            let deaf = setting(Path::new("/dev/null"), "7");
            let absent = setting(&folder.path().join("absent"), "7");
            for (bad, words) in [
                (
                    deaf,
                    "setting /dev/null was to be 7, and after writing it reads  (before it was )",
                ),
                (absent, "absent cannot be read"),
            ] {
                let output = run(shell, &[setting(&good, "10"), bad], "echo the trial");
                assert_eq!(output.status.code(), Some(1), "{shell:?} {output:?}");
                assert_eq!(output.stdout, b"");
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(
                    said.lines().last().is_some_and(|line| line.contains(words)),
                    "{shell:?} {said}"
                );
                assert_eq!(std::fs::read_to_string(&good).unwrap(), "60\n");
                assert!(!folder.path().join("absent").exists());
            }
        }
    }

    #[test]
    fn the_reason_is_the_last_word_of_a_trial_whose_file_takes_no_value() {
        for shell in shells() {
            // Nobody can write a folder, not even root; `cat` is made to read a value there.
            let folder = tempfile::tempdir().unwrap();
            let around = around(&[setting(folder.path(), "7")]);
            let script = format!(
                "cat() {{ echo 60; }}\nrestore() {{\n:\n{}}}\nleave() {{ restore; exit \"$1\"; }}\n{}",
                around.restore, around.prepare
            );
            let (program, arguments) = shell.split_first().unwrap();
            let mut command = Command::new(program);
            let output = command
                .args(arguments)
                .args(["-c", &script])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or_default();
            assert!(
                last.ends_with("was to be 7, and after writing it reads 60 (before it was 60)"),
                "{said}"
            );
            assert_eq!(output.status.code(), Some(1));
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
