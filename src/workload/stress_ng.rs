//! stress-ng: its options, and what its own output says of success.
//!
//! stress-ng exits 0 when it skipped a stressor (no capability, no module, not this machine): exit code 0 is not
//! enough. Versions say it in different ways: since 0.16 a summary `skipped: 1: rdrand (1)`, before that only
//! `rdrand stressor will be skipped, ...`; both go to standard error or standard output, by version.

use std::time::Duration;

use super::shown;

/// Its YAML, in the trial's folder.
pub(crate) const REPORT: &str = "stress-ng.yaml";

/// What ktrial adds to the arguments.
pub(super) fn options(duration: Duration) -> String {
    // stress-ng takes whole seconds only.
    let seconds = duration.as_secs_f64().ceil().max(1.0);
    format!("--timeout {seconds}s --metrics-brief --yaml {REPORT}")
}

/// Why a stress-ng run with exit code 0 is no success after all, from what it wrote.
///
/// ```
/// use ktrial::workload::stress_ng::failure;
/// assert!(failure("stress-ng: info:  [1] skipped: 0\nstress-ng: info:  [1] failed: 0\n").is_none());
/// assert!(failure("stress-ng: info:  [1] skipped: 1: rdrand (1)\n").is_some());
/// ```
pub fn failure(output: &str) -> Option<String> {
    output.lines().find_map(|line| {
        // `stress-ng: info:  [123] text`
        let (_, said) = line.strip_prefix("stress-ng: ")?.split_once("] ")?;
        let said = said.trim();
        let counted = ["skipped:", "failed:"]
            .iter()
            .find_map(|word| said.strip_prefix(word))
            .is_some_and(|rest| !rest.trim_start().starts_with('0'));
        let told = said.contains("stressor will be skipped")
            || said.contains("skipping stressor")
            || said.contains("aborted early")
            || said.contains("(enable it with the --pathological option)")
            || said.contains("unsuccessful run completed");
        let killed = said.contains("SIGKILL") || said.contains("killed by") && said.contains("OOM");
        (counted || told || killed).then(|| format!("stress-ng says: {}", shown(said)))
    })
}

/// Why stress-ng has no words of its own about a run that ended with this code.
pub(super) fn killed(code: i32) -> Option<String> {
    (code == 128 + 9).then(|| {
        "stress-ng was killed by SIGKILL: most often the host was out of memory, which its kernel log tells".to_owned()
    })
}

/// Most stressors that are named.
const NAMED: usize = 10;

/// The stressors of a report that did nothing: each once, the first [`NAMED`] of them and `...` for more.
///
/// # Errors
/// Without one number of operations the report is none, and what stress-ng did is not known.
pub(crate) fn idle_stressors(report: &[u8]) -> Result<Vec<String>, String> {
    let text = String::from_utf8_lossy(report);
    let (mut stressor, mut numbers, mut idle) = ("?", 0, Vec::<String>::new());
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        if let Some(name) = line.strip_prefix("stressor:") {
            stressor = name.trim();
        }
        let operations = line.strip_prefix("bogo-ops:").map(str::trim);
        if let Some(Ok(operations)) = operations.map(str::parse::<f64>) {
            numbers += 1;
            let name = shown(stressor);
            if operations == 0.0 && idle.len() <= NAMED && !idle.contains(&name) {
                idle.push(if idle.len() < NAMED {
                    name
                } else {
                    "...".to_owned()
                });
            }
        }
    }
    match numbers {
        0 => Err("stress-ng reported nothing: its YAML has no number of operations".to_owned()),
        _ => Ok(idle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "stress-ng: info:  [9] skipped: 0\nstress-ng: info:  [9] passed: 1: vm (1)\n\
        stress-ng: info:  [9] failed: 0\nstress-ng: info:  [9] metrics untrustworthy: 0\n\
        stress-ng: info:  [9] successful run completed in 2.01 secs\n";

    #[test]
    fn a_clean_run_is_no_failure() {
        assert_eq!(failure(NEW), None);
        assert_eq!(failure(""), None);
        assert_eq!(
            failure("stress-ng: info:  [20571] successful run completed in 2.01s\n"),
            None
        );
    }

    #[test]
    fn skipped_and_failed_stressors_are_told_in_every_version_s_words() {
        for line in [
            "stress-ng: info:  [20840] rdrand stressor will be skipped, not a recognised Intel CPU",
            "stress-ng: info:  [1] skipped: 1: module (1)",
            "stress-ng: info:  [1] failed: 2: vm (2)",
            "stress-ng: info:  [1] unsuccessful run completed in 2.01s",
            "stress-ng: info:  [9] module: could not find a module path for the module 'x', skipping stressor",
            "stress-ng: debug: [8] vm: assuming killed by OOM killer, restarting again (instance 0)",
            "stress-ng: debug: [8] vm: child died: signal 9 'SIGKILL' (instance 0)",
        ] {
            let text = format!("{NEW}{line}\n");
            let reason = failure(&text).unwrap();
            assert!(reason.starts_with("stress-ng says: "), "{reason}");
        }
    }

    #[test]
    fn a_killed_stress_ng_is_told() {
        assert!(killed(137).unwrap().contains("out of memory"));
        assert_eq!(killed(2), None);
    }

    #[test]
    fn a_report_without_numbers_is_none_and_idle_stressors_are_named() {
        let report = "metrics:\n    - stressor: module\n      bogo-ops: 0\n      bogo-ops-per-second-real-time: 0.0\n\n    \
            - stressor: vm\n      bogo-ops: 12\n";
        assert_eq!(idle_stressors(report.as_bytes()).unwrap(), ["module"]);
        let many: String = (0..99)
            .map(|i| format!("- stressor: s{}\n bogo-ops: 0\n", i / 2))
            .collect();
        let idle = idle_stressors(many.as_bytes()).unwrap().join(" ");
        assert_eq!(idle, "s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 ...");
        for nothing in [
            "",
            "metrics:\n",
            "- stressor: vm\n bogo-ops-per-second-real-time: 1\n bogo-ops: x\n",
        ] {
            assert!(idle_stressors(nothing.as_bytes()).is_err(), "{nothing}");
        }
    }

    #[test]
    fn what_is_quoted_is_escaped_and_short() {
        let line = format!(
            "stress-ng: info:  [1] failed: 1: \x1b[31m{}",
            "x".repeat(9999)
        );
        let reason = failure(&line).unwrap();
        assert!(!reason.contains('\x1b') && reason.len() < 400, "{reason}");
    }
}
