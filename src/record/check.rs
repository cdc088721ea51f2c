//! Whether a manifest holds together: what its form cannot say.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::manifest::{Manifest, Trial};
use crate::ascii::excerpt;
use crate::error::{Error, Result};

/// Most raw files of one trial; a run writes a handful.
const MAX_RAW_FILES: usize = 100;

/// Most attempts of one trial.
const MAX_ATTEMPTS: u32 = 10_000;

impl Manifest {
    /// Checks conditions, trials, duplicates, raw files and numbers; `file` is where the manifest stands.
    ///
    /// # Errors
    /// `Input` with what is wrong and where.
    pub(super) fn check(&self, file: &Path) -> Result<()> {
        self.problem().map_or(Ok(()), |problem| {
            Err(Error::input(problem)
                .at(file)
                .next("restore the manifest that `ktrial run` or `ktrial import` wrote"))
        })
    }

    fn problem(&self) -> Option<String> {
        if self.schema == 0 {
            return Some("has schema 0; the first one is 1".into());
        }
        let mut conditions = HashSet::new();
        for condition in &self.conditions {
            if condition.is_empty() {
                return Some("a condition has no name".into());
            }
            if !conditions.insert(condition.as_str()) {
                return Some(format!("condition {} stands twice", shown(condition)));
            }
        }
        if let Some(claim) = self.claims.iter().find(|claim| !claim.value.is_finite()) {
            let metric = shown(&claim.metric);
            return Some(format!("the claim on {metric} has no finite value"));
        }
        self.trials_problem(&conditions)
    }

    fn trials_problem(&self, conditions: &HashSet<&str>) -> Option<String> {
        let mut earlier: HashMap<&str, &Trial> = HashMap::new();
        let mut paths = HashSet::new();
        for trial in &self.trials {
            let id = shown(&trial.id);
            if trial.id.is_empty() {
                return Some("a trial has no id".into());
            }
            if !conditions.contains(trial.condition.as_str()) {
                let condition = shown(&trial.condition);
                return Some(format!(
                    "trial {id} has condition {condition}, which is not among the record's `conditions`"
                ));
            }
            if let Some(original) = &trial.duplicate_of {
                let known = earlier.get(original.as_str());
                if !known.is_some_and(|known| may_repeat(trial, known)) {
                    return Some(format!(
                        "trial {id} is said to repeat {}, which is no earlier trial of the same condition and cell \
                         that repeats no other",
                        shown(original)
                    ));
                }
            }
            if !(1..=MAX_ATTEMPTS).contains(&trial.attempt) {
                return Some(format!(
                    "trial {id} has attempt {}; attempts count from 1 to {MAX_ATTEMPTS}",
                    trial.attempt
                ));
            }
            if trial.raw.len() > MAX_RAW_FILES {
                return Some(format!(
                    "trial {id} has {} raw files; at most {MAX_RAW_FILES} are read",
                    trial.raw.len()
                ));
            }
            if let Some(twice) = trial.raw.iter().find(|raw| !paths.insert(&raw.path)) {
                let path = shown(&twice.path);
                return Some(format!("trial {id}: raw file {path} is listed twice"));
            }
            let spans = trial.phases.iter().flat_map(|p| [p.start_s, p.end_s]);
            if !spans.chain(trial.start_boottime_s).all(f64::is_finite) {
                return Some(format!("trial {id} has a time that is not finite"));
            }
            if earlier.insert(&trial.id, trial).is_some() {
                return Some(format!("trial {id} stands twice"));
            }
        }
        None
    }
}

fn may_repeat(trial: &Trial, original: &Trial) -> bool {
    original.duplicate_of.is_none()
        && original.condition == trial.condition
        && original.cell == trial.cell
}

fn shown(text: &str) -> String {
    format!("`{}`", excerpt(text, 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Claim, RawFile, RecordKind, Replication};

    fn problem(change: impl FnOnce(&mut Manifest)) -> Option<String> {
        let mut manifest = Manifest::new("r", RecordKind::Run, Replication::Trial);
        manifest.conditions = vec!["a".into(), "b".into()];
        manifest.trials = ["a", "b", "a", "a"]
            .iter()
            .enumerate()
            .map(|(i, condition)| {
                let mut trial = Trial::new(&format!("t{i}"), condition);
                trial.raw.push(RawFile {
                    monitor: "series".into(),
                    path: format!("raw/t{i}"),
                });
                trial
            })
            .collect();
        change(&mut manifest);
        manifest.problem()
    }

    fn repeats(trial: usize, original: &str) -> Option<String> {
        problem(|m| m.trials[trial].duplicate_of = Some(original.into()))
    }

    #[test]
    fn a_sound_manifest_has_no_problem() {
        assert_eq!(problem(|_| {}), None);
        assert_eq!(repeats(2, "t0"), None);
    }

    #[test]
    fn a_duplicate_repeats_an_earlier_original_of_its_arm() {
        for (trial, original) in [(0, "t0"), (0, "t2"), (1, "t0"), (2, "t9")] {
            let found = repeats(trial, original).unwrap();
            assert!(found.contains("is said to repeat"), "{found}");
        }
        let chain = problem(|m| {
            m.trials[2].duplicate_of = Some("t0".into());
            m.trials[3].duplicate_of = Some("t2".into());
        });
        assert!(chain.unwrap().contains("`t3` is said to repeat `t2`"));
        let cells = problem(|m| {
            m.trials[2].duplicate_of = Some("t0".into());
            m.trials[2].cell.insert("config".into(), "debug".into());
        });
        assert!(cells.unwrap().contains("is said to repeat"));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let claim = Claim {
            what: "x".into(),
            metric: "m".into(),
            value: f64::INFINITY,
            unit: Default::default(),
            n: None,
            cell: Default::default(),
        };
        let many = |m: &mut Manifest| {
            m.trials[0].raw = (0..101)
                .map(|i| RawFile {
                    monitor: "series".into(),
                    path: format!("raw/{i}"),
                })
                .collect();
        };
        for (found, expected) in [
            (problem(|m| m.schema = 0), "schema 0"),
            (
                problem(|m| m.conditions.push("a".into())),
                "condition `a` stands twice",
            ),
            (problem(|m| m.conditions.push(String::new())), "no name"),
            (
                problem(|m| m.trials[1].id = "t0".into()),
                "trial `t0` stands twice",
            ),
            (
                problem(|m| m.trials[1].condition = "c".into()),
                "condition `c`, which is not among",
            ),
            (
                problem(|m| m.claims.push(claim)),
                "claim on `m` has no finite value",
            ),
            (
                problem(|m| m.trials[1].raw[0].path = "raw/t0".into()),
                "`raw/t0` is listed twice",
            ),
            (problem(many), "has 101 raw files"),
            (
                problem(|m| m.trials[0].start_boottime_s = Some(f64::NAN)),
                "not finite",
            ),
        ] {
            let found = found.unwrap();
            assert!(found.contains(expected), "{found}");
        }
    }
}
