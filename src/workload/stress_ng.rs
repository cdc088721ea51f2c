//! stress-ng: its options, and what its own output says of success.
//!
//! stress-ng exits 0 when it skipped a stressor (no capability, no module, not this machine): exit code 0 is not
//! enough. Versions say it in different ways: since 0.16 a summary `skipped: 1: rdrand (1)`, before that only
//! `rdrand stressor will be skipped, ...`; both go to standard error or standard output, by version.

use std::time::Duration;

/// Shell line that makes the file for stress-ng's YAML and tells where it is.
pub(super) const PREPARE: &str = "report=$(mktemp \"${TMPDIR:-/tmp}/ktrial.XXXXXX\") || leave 1\n\
    mark report \"$report\"\n";

/// What ktrial adds to the arguments; `--yaml` goes to the file of [`PREPARE`].
pub(super) fn options(duration: Duration) -> String {
    // stress-ng takes whole seconds only.
    let seconds = duration.as_secs_f64().ceil().max(1.0);
    format!("--timeout {seconds}s --metrics-brief --yaml \"$report\"")
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
            || said.contains("aborted early")
            || said.contains("(enable it with the --pathological option)")
            || said.contains("unsuccessful run completed");
        (counted || told).then(|| {
            let said: String = said.chars().take(200).collect();
            format!("stress-ng says: {}", said.escape_default())
        })
    })
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
        ] {
            let text = format!("{NEW}{line}\n");
            let reason = failure(&text).unwrap();
            assert!(reason.starts_with("stress-ng says: "), "{reason}");
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
