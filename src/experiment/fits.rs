//! Whether the keys of an experiment fit together: variables, the plan's size, the command lines.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::experiment::plan::{self, MAX_TRIALS};
use crate::experiment::sources::Sources;
use crate::experiment::words::{choose, nearest, shown};
use crate::experiment::{Experiment, WorkloadKind, template};

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
    check.size(experiment)?;
    check.command_lines(experiment)
}

struct Checker<'a> {
    sources: &'a Sources,
}

impl Checker<'_> {
    /// Every `{variable}` has one value in every condition, and every variable is used.
    fn variables(&self, experiment: &Experiment) -> Result<()> {
        let path = workload_path(experiment.workload.kind);
        let mut used = BTreeSet::new();
        for (index, argument) in experiment.workload.arguments.iter().enumerate() {
            let pieces = template::pieces(argument).unwrap_or_default();
            for piece in pieces {
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
                                &[path[0], path[1], &index.to_string()],
                                format!(
                                    "argument {} needs {}, which condition {} does not give",
                                    shown(argument),
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
            .at_key(
                path,
                format!("no argument of the workload uses {}", shown(name)),
            )
            .next(match nearest(name, used.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write `{{{name}}}` where the workload takes it, or remove it"),
            }))
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
                if kind == WorkloadKind::Command {
                    if argv.first().is_some_and(String::is_empty) {
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
