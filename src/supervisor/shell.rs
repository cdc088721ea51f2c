//! The shell's supervisor: one script with every verb, and beside it in the trial's folder the scripts that it runs.

use ktrial_agent::{OUTPUT_LIMIT, PREPARE_LIMIT_S, RESTORE_LIMIT_S, Source, Spec};

use crate::workload::quote;
use crate::workload::settings::FUNCTIONS;

/// The supervisor after the trial's own values, in the order in which it is read best.
const PARTS: [&str; 8] = [
    include_str!("shell/common.sh"),
    include_str!("shell/lock.sh"),
    FUNCTIONS,
    include_str!("shell/settings.sh"),
    include_str!("shell/processes.sh"),
    include_str!("shell/phases.sh"),
    include_str!("shell/follow.sh"),
    include_str!("shell/verbs.sh"),
];

/// Ends a file within a script.
const END: &str = "END_OF_FILE";

/// The script that writes the trial's files into its folder and starts the supervisor.
pub(super) fn start(folder: &str, spec: &Spec) -> String {
    let mut script = format!(
        "# the trial's supervisor and what it runs: files in the trial's folder\n\
         cannot() {{ echo 'refused the files of the trial cannot be written'; exit 1; }}\n\
         umask 077\n\
         cd {} || cannot\n",
        quote(&[folder.to_owned()])
    );
    let supervisor = format!("{}{}", values(spec), PARTS.concat());
    let mut file = |name: &str, text: &str| script.push_str(&written(name, text));
    file("supervisor.sh", &supervisor);
    file("prepare.sh", &spec.prepare);
    file("command.sh", &spec.command);
    file("restore.sh", &spec.restore);
    for monitor in &spec.monitors {
        match &monitor.source {
            Source::Script(text) => file(&format!("{}.sh", monitor.name), text),
            // What samples a file by itself is the agent; this is never asked for.
            Source::File(path) => file(
                &format!("{}.sh", monitor.name),
                &format!(
                    "echo {}' is sampled by the agent only' >&2; exit 1\n",
                    quote(std::slice::from_ref(path))
                ),
            ),
        }
    }
    script.push_str("exec sh supervisor.sh start\n");
    script
}

/// What tells one trial's supervisor from another's.
fn values(spec: &Spec) -> String {
    let hundredths = |ms: u64| ms.div_ceil(10);
    let monitors: Vec<&str> = spec.monitors.iter().map(|m| m.name.as_str()).collect();
    let monitors = monitors.join(" ");
    let files: String = spec
        .monitors
        .iter()
        .map(|m| format!("{0}.txt {0}.err ", m.name))
        .collect();
    let reports: String = spec.reports.iter().map(|name| format!("{name} ")).collect();
    let settings = |function: &str, end: &str| -> String {
        let lines = spec.settings.iter();
        let words = lines.map(|s| quote(&[s.file.clone(), s.value.clone()]));
        words
            .map(|words| format!("  {function} {words}{end}\n"))
            .collect()
    };
    let guarded: String = spec
        .guarded
        .iter()
        .map(|file| format!("  guard {}\n", quote(std::slice::from_ref(file))))
        .collect();
    let [idle, settle, limit, grace, lease] = [
        spec.idle_ms,
        spec.settle_ms,
        spec.limit_ms,
        spec.grace_ms,
        spec.lease_ms,
    ]
    .map(hundredths);
    format!(
        "# The supervisor of a trial. Times are in hundredths of a second.\n\
         idle={idle} settle={settle} limit={limit} grace={grace} lease={lease}\n\
         prepare_limit={PREPARE_LIMIT_S} restore_limit={RESTORE_LIMIT_S} output_limit={OUTPUT_LIMIT}\n\
         monitors='{monitors}'\n\
         files='{files}{reports}workload.stdout workload.stderr events'\n\
         guard_all() {{\n  :\n{guarded}}}\n\
         set_all() {{\n  :\n{}}}\n\
         still_all() {{\n  :\n{}}}\n",
        settings("hold", " || return"),
        settings("still", ""),
    )
}

/// The lines that write a file, as another one in its place: a supervisor of an earlier start may be reading it.
fn written(name: &str, text: &str) -> String {
    let mut end = END.to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    let line_end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let name = quote(&[name.to_owned()]);
    format!("cat >.new.$$ <<'{end}' && mv .new.$$ {name} || cannot\n{text}{line_end}{end}\n")
}
