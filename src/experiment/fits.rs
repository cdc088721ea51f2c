//! Whether the keys of an experiment fit together: variables, the plan's size, the command lines.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::experiment::hosts::{self, Fault};
use crate::experiment::plan::{self, MAX_TRIALS};
use crate::experiment::sources::Sources;
use crate::experiment::words::{choose, nearest, shown};
use crate::experiment::{Every, Experiment, WorkloadKind, template};

/// Bytes of one trial's command line.
const MAX_COMMAND_LINE: usize = 16 * 1024;

/// Options of stress-ng that ktrial gives itself, and what the user does instead.
const STRESS_NG_OWN: [(&str, &str, &str); 3] = [
    ("--timeout", "-t", "`duration` says how long it runs"),
    ("--metrics", "-M", "ktrial always asks for metrics"),
    ("--yaml", "-Y", "ktrial always asks for the YAML report"),
];

/// Checks them.
///
/// # Errors
/// `Input`, with the place in the file where the first wrong thing stands.
pub(super) fn check(experiment: &Experiment, sources: &Sources) -> Result<()> {
    let check = Checker { sources };
    check.variables(experiment)?;
    check.boots(experiment)?;
    check.size(experiment)?;
    check.filled_in(experiment)?;
    check.command_lines(experiment)
}

struct Checker<'a> {
    sources: &'a Sources,
}

impl Checker<'_> {
    /// Every `{variable}` has one value in every condition, and every variable is used.
    fn variables(&self, experiment: &Experiment) -> Result<()> {
        let mut used = BTreeSet::new();
        for (path, text) in experiment.templates() {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            for piece in template::pieces(text).unwrap_or_default() {
                let template::Piece::Variable(name) = piece else {
                    continue;
                };
                for condition in &experiment.conditions {
                    let known: BTreeSet<&str> = condition
                        .variables
                        .keys()
                        .chain(experiment.params.keys())
                        .map(String::as_str)
                        .collect();
                    if !known.contains(name.as_str()) {
                        return Err(self
                            .sources
                            .at_value(
                                &path,
                                format!(
                                    "{} needs {}, which condition {} does not give",
                                    shown(text),
                                    shown(&name),
                                    shown(&condition.name)
                                ),
                            )
                            .next(match known.is_empty() {
                                true => {
                                    "give it in `conditions` or `params`, or write `{{` for a brace"
                                        .to_owned()
                                }
                                false => choose(&name, "variables there", known.iter().copied()),
                            }));
                    }
                }
                used.insert(name);
            }
        }
        for condition in &experiment.conditions {
            for name in condition.variables.keys() {
                let path = ["conditions", condition.name.as_str(), name];
                if experiment.params.contains_key(name) {
                    return Err(self
                        .sources
                        .at_key(
                            &path,
                            format!("{} is both a variable and a parameter", shown(name)),
                        )
                        .next("rename one of them"));
                }
                self.used(&path, name, &used)?;
            }
        }
        experiment
            .params
            .keys()
            .try_for_each(|name| self.used(&["params", name], name, &used))
    }

    /// What changes nothing must not look as if it did.
    fn used(&self, path: &[&str], name: &str, used: &BTreeSet<String>) -> Result<()> {
        if used.contains(name) {
            return Ok(());
        }
        Err(self
            .sources
            .at_key(path, format!("nothing uses {}", shown(name)))
            .next(match nearest(name, used.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!("write `{{{name}}}` where it is meant to be filled in, or remove it")
                }
            }))
    }

    /// What differs between the trials of a boot cannot be a matter of that boot.
    fn boots(&self, experiment: &Experiment) -> Result<()> {
        let Some(boot) = &experiment.boot else {
            return Ok(());
        };
        if boot.every == Every::Trial {
            return Ok(());
        }
        let words = boot.kernel.iter().chain(&boot.command_line);
        let varies = |word: &String| {
            let pieces = template::pieces(word).unwrap_or_default();
            pieces
                .iter()
                .any(|piece| matches!(piece, template::Piece::Variable(_)))
        };
        match words.into_iter().find(|word| varies(word)) {
            None => Ok(()),
            Some(word) => Err(self
                .sources
                .at_key(
                    &["boot", "every"],
                    format!(
                        "{} changes within a block, and the host is not booted there",
                        shown(word)
                    ),
                )
                .next("write `every: trial`")),
        }
    }

    /// What the filled-in texts are used as: hosts' names, and words for a boot loader.
    fn filled_in(&self, experiment: &Experiment) -> Result<()> {
        for planned in plan::plan(experiment)?.trials {
            if let Some(Fault { message, next, .. }) =
                hosts::fault(std::slice::from_ref(&planned.host))
            {
                return Err(self.sources.at_value(&["hosts"], message).next(next));
            }
            let boot = planned.boot.iter();
            let words = boot.flat_map(|boot| boot.kernel.iter().chain(&boot.command_line));
            for word in words {
                if !super::check::is_boot_word(word) {
                    let message =
                        format!("{} is not one plain word once it is filled in", shown(word));
                    return Err(self.sources.at_value(&["boot"], message));
                }
            }
        }
        Ok(())
    }

    fn size(&self, experiment: &Experiment) -> Result<()> {
        let total = experiment.total_trials();
        if total <= MAX_TRIALS {
            return Ok(());
        }
        Err(self
            .sources
            .at_key(
                &["design", "trials"],
                format!("the plan would have {total} trials; at most {MAX_TRIALS} are allowed"),
            )
            .next("split the experiment, or take fewer trials, parameters or hosts"))
    }

    /// Command lines as they will run: not too long, and nothing in ktrial's way.
    fn command_lines(&self, experiment: &Experiment) -> Result<()> {
        let kind = experiment.workload.kind;
        let path = workload_path(kind);
        for condition in &experiment.conditions {
            for cell in experiment.cells() {
                let argv = plan::argv(experiment, condition, &cell)?;
                if argv.iter().map(String::len).sum::<usize>() > MAX_COMMAND_LINE {
                    return Err(self.sources.at_value(
                        &path,
                        format!("the command line is longer than {MAX_COMMAND_LINE} bytes"),
                    ));
                }
                if kind != WorkloadKind::StressNg {
                    if kind == WorkloadKind::Command && argv.first().is_some_and(String::is_empty) {
                        return Err(self
                            .sources
                            .at_value(&[path[0], path[1], "0"], "the program is empty"));
                    }
                    continue;
                }
                for (index, argument) in argv.iter().skip(1).enumerate() {
                    if let Some((option, reason)) = stress_ng_own(argument) {
                        return Err(self
                            .sources
                            .at_value(
                                &[path[0], path[1], &index.to_string()],
                                format!("stress-ng's {} is ktrial's to give", shown(option)),
                            )
                            .next(format!("remove it: {reason}")));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The path of the arguments.
pub(super) fn workload_path(kind: WorkloadKind) -> [&'static str; 2] {
    match kind {
        WorkloadKind::Command => ["workload", "command"],
        WorkloadKind::StressNg => ["workload", "stress-ng"],
        WorkloadKind::Kmod => ["workload", "kmod"],
        WorkloadKind::Boot => ["workload", "boot"],
    }
}

/// The option of [`STRESS_NG_OWN`] that an argument is, long (or begun, as getopt takes it) or short.
fn stress_ng_own(argument: &str) -> Option<(&'static str, &'static str)> {
    let word = argument.split('=').next().unwrap_or_default();
    STRESS_NG_OWN
        .iter()
        .find(|(long, short, _)| {
            let begun = word.len() >= "--yam".len() && long.starts_with(word);
            begun
                || word == "--metrics-brief" && *long == "--metrics"
                || argument.starts_with(short) && !argument.starts_with("--")
        })
        .map(|(long, _, reason)| (*long, *reason))
}
