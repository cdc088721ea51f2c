//! What differs of a host that is met again.

use crate::ascii::excerpt;
use crate::record::HostFacts;

/// What is different at every look, or says the same as another fact.
const PASSING: [&str; 2] = ["loadavg", "uname"];

/// What every boot changes; how much memory there is and what stress-ng says of itself depend on the kernel.
const OF_A_BOOT: [&str; 6] = [
    "boot_id",
    "kernel",
    "version",
    "cmdline",
    "memory_kib",
    "stress_ng",
];

/// Longest value that is shown.
const SHOWN: usize = 120;

/// What differs between a host as it is now and as it was first, in one sentence; none when nothing does.
/// Where the experiment `boots` hosts itself, what a boot changes stands in its trials and is not told.
pub(super) fn difference(first: &HostFacts, now: &HostFacts, boots: bool) -> Option<String> {
    let mut keys: Vec<&String> = first.facts.keys().chain(now.facts.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let shown = |facts: &HostFacts, key: &String| match facts.facts.get(key) {
        Some(value) => excerpt(value, SHOWN),
        None => "none".to_owned(),
    };
    let differing: Vec<String> = keys
        .into_iter()
        .filter(|key| !PASSING.contains(&key.as_str()))
        .filter(|key| !(boots && OF_A_BOOT.contains(&key.as_str())))
        .filter(|key| first.facts.get(*key) != now.facts.get(*key))
        .map(|key| format!("{key} {} (first {})", shown(now, key), shown(first, key)))
        .collect();
    (!differing.is_empty()).then(|| {
        format!(
            "host {} was not as at the run's begin: {}",
            now.name,
            differing.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(kernel: &str, cpus: &str) -> HostFacts {
        let facts = [("kernel", kernel), ("cpus", cpus), ("loadavg", cpus)];
        HostFacts {
            name: "alpha".into(),
            facts: facts.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        }
    }

    #[test]
    fn what_differs_is_told_with_both_values() {
        let first = host("6.1.0", "2");
        assert_eq!(difference(&first, &host("6.1.0", "2"), false), None);
        let note = difference(&first, &host("6.12.0", "4"), false).unwrap();
        assert_eq!(
            note,
            "host alpha was not as at the run's begin: cpus 4 (first 2), kernel 6.12.0 (first 6.1.0)"
        );
        assert_eq!(difference(&first, &host("6.12.0", "2"), true), None);
        let mut less = host("6.1.0", "2");
        less.facts.remove("cpus");
        let note = difference(&first, &less, false).unwrap();
        assert!(note.ends_with("cpus none (first 2)"), "{note}");
    }
}
