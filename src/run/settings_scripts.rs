//! The scripts by which the controller looks at a trial's settings and modules, and what they print.

use crate::experiment::{Experiment, PlannedTrial};
use crate::workload::settings::{FUNCTIONS, guarded};
use crate::workload::{self, module, quote};

use super::settings::{Guard, Held};

/// The last line of both scripts: without it silence would mean that all is well.
pub(super) const DONE: &str = "done";

/// The scripts that the controller runs before and after a trial for its settings and modules, as they run on the host
/// but for what was read before: `OLD` stands for each value, `MODULE` for the modules. None for a trial that changes
/// neither.
pub fn scripts(trial: &PlannedTrial, experiment: &Experiment) -> Option<(String, String)> {
    let files = guarded(trial, experiment);
    let modules = workload::modules(trial, experiment);
    if files.is_empty() && modules.is_none() {
        return None;
    }
    let before = reading(&files, modules.as_deref());
    let held = files.into_iter().map(|file| Held {
        file,
        value: "OLD".to_owned(),
    });
    let guard = Guard {
        files: held.collect(),
        modules: modules.iter().map(|_| "MODULE".to_owned()).collect(),
    };
    Some((before, checking(&guard)))
}

/// Prints a line for each file: its number, and its value unless it cannot be read; then one for each module that is
/// not loaded. `modules` is what sets their names.
pub(super) fn reading(files: &[String], modules: Option<&str>) -> String {
    let mut script = format!("# settings before the trial\n{FUNCTIONS}");
    if modules.is_some() {
        script.push_str(module::FUNCTIONS);
    }
    script
        .push_str("read_file() { value=$(cat \"$2\") && echo \"$1 $(choice \"$value\")\"; }\n{\n");
    for (number, file) in (1..).zip(files) {
        let file = quote(std::slice::from_ref(file));
        script.push_str(&format!("read_file {number} {file}\n"));
    }
    if let Some(modules) = modules {
        script.push_str(modules);
        script.push_str(
            "for one in $modules_to_unload; do is_loaded \"$one\" || echo \"module $one\"; done\n",
        );
    }
    script.push_str(&format!("}} 2>/dev/null\necho {DONE}\n"));
    script
}

/// Prints a line for each file that differs: its number, `back` or `left`, and what it held. Before that, in the
/// order of the trial's own script, a line for each module that is loaded: `unloaded`, its name, and `back` or `left`.
pub(super) fn checking(guard: &Guard) -> String {
    let mut script = format!("# settings after the trial\n{FUNCTIONS}");
    if !guard.modules.is_empty() {
        script.push_str(module::FUNCTIONS);
        script.push_str(
            r#"check_module() {
  is_loaded "$1" || return
  fate=back
  unload "$1"
  is_loaded "$1" && fate="left $said"
  printf 'unloaded %s %s\n' "$1" "$fate"
}
"#,
        );
    }
    script.push_str(
        r#"check_file() {
  now=$(choice "$(cat "$2")")
  same "$now" "$3" && return
  fate=left
  put "$2" "$3"
  same "$(choice "$(cat "$2")")" "$3" && fate=back
  echo "$1 $fate $now"
}
{
"#,
    );
    for name in &guard.modules {
        script.push_str(&format!("check_module {name}\n"));
    }
    for (number, held) in (1..).zip(&guard.files) {
        script.push_str(&held.line(number));
    }
    script.push_str(&format!("}} 2>/dev/null\necho {DONE}\n"));
    script
}

/// What was printed for each number from 1.
pub(super) fn lines(text: &str, count: usize) -> Vec<Option<String>> {
    let mut found = vec![None; count];
    for line in text.lines() {
        let Some((number, rest)) = line.split_once(' ') else {
            continue;
        };
        let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        if let Some(place) = index.and_then(|index| found.get_mut(index)) {
            *place = Some(rest.to_owned());
        }
    }
    found
}
