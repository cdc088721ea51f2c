//! From a draft to a checked experiment: what each key means, and its bounds.

mod boot;
mod metrics;
mod workload;

pub(super) use boot::is_boot_word;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::experiment::draft::{DesignDraft, Draft, Entries};
use crate::experiment::keys::{default, dotted, takes};
use crate::experiment::sources::Sources;
use crate::experiment::words::{bad_name, choose, shown};
use crate::experiment::{
    Condition, Design, Experiment, Order, WorkloadKind, duration, fits, hosts, template,
};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Of each condition, in each cell, on each host.
pub(super) const MAX_TRIALS_A_CONDITION: u32 = 1000;
/// Characters of any text that is not an argument.
const MAX_TEXT: usize = 1000;

/// Checks a draft.
///
/// # Errors
/// `Input`, with the place in the file where the first wrong thing stands.
pub(super) fn check(draft: Draft, sources: &Sources, file: &Path) -> Result<Experiment> {
    let check = Checker { sources };
    let question = check.text("question", draft.question)?;
    let hosts = check.hosts(check.given("hosts", draft.hosts)?)?;
    let conditions = check.conditions(check.given("conditions", draft.conditions)?)?;
    let params = check.params(draft.params)?;
    let workload = check.workload(check.given("workload", draft.workload)?)?;
    let boot = check.boot(draft.boot, workload.kind)?;
    let settings = check.settings(draft.settings)?;
    let idle = check.phase("idle", draft.idle, workload.kind)?;
    let settle = check.phase("settle", draft.settle, workload.kind)?;
    let monitors = check.monitors(draft.monitors, workload.kind)?;
    let design = check.design(check.given("design", draft.design)?)?;
    let primary = check.text("primary", draft.primary)?;
    let secondary = draft.secondary.unwrap_or_default();
    let measured = metrics::Measured {
        workload: &workload,
        monitors: &monitors,
        idle,
    };
    check.metric(&["primary"], &primary, &measured)?;
    check.secondary(&secondary, &primary, &measured)?;
    let notes = check.notes(draft.notes)?;
    let experiment = Experiment {
        name: check.name(draft.name, file)?,
        question,
        primary,
        secondary,
        notes,
        hosts,
        conditions,
        params,
        boot,
        settings,
        workload,
        idle,
        settle,
        monitors,
        design,
    };
    fits::check(&experiment, sources)?;
    Ok(experiment)
}

struct Checker<'a> {
    sources: &'a Sources,
}

impl Checker<'_> {
    fn given<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        self.given_at(&[key], value)
    }

    fn given_at<T>(&self, path: &[&str], value: Option<T>) -> Result<T> {
        value.ok_or_else(|| {
            self.sources
                .at_key(path, format!("key {} is missing", dotted(path)))
                .next(format!("give {}", takes(path)))
        })
    }

    /// A wrong value: what it is, and what its key takes.
    fn wrong(&self, path: &[&str], why: impl AsRef<str>) -> Error {
        self.sources
            .at_value(path, format!("{}: {}", dotted(path), why.as_ref()))
    }

    /// A wrong value: what is the matter with its key.
    fn at(&self, path: &[&str], why: impl AsRef<str>) -> Error {
        self.sources
            .at_value(path, format!("{} {}", dotted(path), why.as_ref()))
    }

    /// A text of one line for people.
    fn text(&self, key: &str, value: Option<String>) -> Result<String> {
        let value = self.given(key, value)?;
        if value.trim().is_empty() {
            return Err(self
                .at(&[key], "is empty")
                .next(format!("give {}", takes(&[key]))));
        }
        self.printable(&[key], &value)?;
        Ok(value)
    }

    fn notes(&self, notes: Option<Vec<String>>) -> Result<Vec<String>> {
        let notes = notes.unwrap_or_default();
        for (index, note) in notes.iter().enumerate() {
            self.printable(&["notes", &index.to_string()], note)?;
        }
        Ok(notes)
    }

    /// The length of the idle or settle phase; a boot has neither.
    fn phase(&self, key: &str, value: Option<String>, kind: WorkloadKind) -> Result<Duration> {
        match (kind, value) {
            (WorkloadKind::Boot, None) => Ok(Duration::ZERO),
            (WorkloadKind::Boot, Some(_)) => Err(self.not_for_boots(key)),
            (_, value) => self.duration(&[key], value, Duration::ZERO, DAY),
        }
    }

    fn not_for_boots(&self, key: &str) -> Error {
        let message = format!(
            "{} has no meaning where the boot is the workload",
            dotted(&[key])
        );
        self.sources
            .at_key(&[key], message)
            .next("remove it: systemd-analyze tells of the boot when it is over")
    }

    fn printable(&self, path: &[&str], value: &str) -> Result<()> {
        if let Some(bad) = value.chars().find(|c| c.is_control()) {
            return Err(self
                .at(
                    path,
                    format!("has the control character {}", bad.escape_default()),
                )
                .next("write it on one line without control characters"));
        }
        if value.chars().nth(MAX_TEXT).is_some() {
            return Err(self.at(path, format!("is longer than {MAX_TEXT} characters")));
        }
        Ok(())
    }

    fn name(&self, name: Option<String>, file: &Path) -> Result<String> {
        if let Some(name) = name {
            return match name_fault(&name) {
                Some(why) => Err(self
                    .wrong(&["name"], format!("{} {why}", shown(&name)))
                    .next("names of records are names of directories")),
                None => Ok(name),
            };
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        match name_fault(&stem) {
            Some(why) => Err(self
                .sources
                .at_key(
                    &["name"],
                    format!(
                        "the file's name {} {why}, so it cannot name the experiment",
                        shown(&stem)
                    ),
                )
                .next("add a key `name`, or rename the file")),
            None => Ok(stem.into_owned()),
        }
    }

    fn hosts(&self, hosts: Vec<String>) -> Result<Vec<String>> {
        let Some(fault) = hosts::fault(&hosts) else {
            return Ok(hosts);
        };
        let error = match fault.index {
            None => self.at(&["hosts"], fault.message),
            Some(index) => self
                .sources
                .at_value(&["hosts", &index.to_string()], fault.message),
        };
        Err(error.next(fault.next))
    }

    fn conditions(&self, conditions: Entries<Entries<String>>) -> Result<Vec<Condition>> {
        let conditions = conditions.0;
        if conditions.len() < 2 {
            let n = conditions.len();
            return Err(self
                .sources
                .at_key(
                    &["conditions"],
                    format!("`conditions` has {n}; a comparison needs two or more"),
                )
                .next("add a condition; two equal ones measure the noise"));
        }
        conditions
            .into_iter()
            .map(|(name, variables)| {
                let path = ["conditions", name.as_str()];
                self.name_of("condition", &path, &name)?;
                for (variable, value) in &variables.0 {
                    let path = ["conditions", &name, variable];
                    self.variable_name(&path, variable)?;
                    self.printable(&path, value)?;
                }
                Ok(Condition {
                    variables: variables.0.into_iter().collect(),
                    name,
                })
            })
            .collect()
    }

    fn name_of(&self, what: &str, path: &[&str], name: &str) -> Result<()> {
        match name_fault(name) {
            Some(why) => Err(self
                .sources
                .at_key(path, format!("the {what} name {} {why}", shown(name)))
                .next("rename it; names are used in files and columns")),
            None => Ok(()),
        }
    }

    fn variable_name(&self, path: &[&str], name: &str) -> Result<()> {
        if template::is_variable_name(name) {
            return Ok(());
        }
        Err(self
            .sources
            .at_key(path, format!("{} cannot name a variable", shown(name)))
            .next("begin with a letter, then letters, digits, `_` and `-`, at most 64"))
    }

    fn params(
        &self,
        params: Option<Entries<Vec<String>>>,
    ) -> Result<BTreeMap<String, Vec<String>>> {
        let params = params.map(|entries| entries.0).unwrap_or_default();
        for (name, values) in &params {
            self.variable_name(&["params", name], name)?;
            if values.is_empty() {
                return Err(self
                    .at(&["params", name], "has no values")
                    .next("give a list of values, such as [1, 4]"));
            }
            for (index, value) in values.iter().enumerate() {
                let path = ["params", name, &index.to_string()];
                self.printable(&path, value)?;
                if values.iter().take(index).any(|other| other == value) {
                    return Err(self
                        .sources
                        .at_value(
                            &path,
                            format!("value {} of {} stands twice", shown(value), shown(name)),
                        )
                        .next("give each value once; `design.trials` says how often it runs"));
                }
            }
        }
        Ok(params.into_iter().collect())
    }

    fn duration(
        &self,
        path: &[&str],
        value: Option<String>,
        least: Duration,
        most: Duration,
    ) -> Result<Duration> {
        let text = value.as_deref().unwrap_or(default(path));
        let length = duration::parse(text).map_err(|(why, hint)| {
            self.wrong(path, why)
                .next(hint.unwrap_or_else(|| format!("give {}", takes(path))))
        })?;
        if length < least || length > most {
            let why = match length < least {
                true => format!("{} is less than {}", shown(text), duration::show(least)),
                false => format!("{} is more than {}", shown(text), duration::show(most)),
            };
            let (least, most) = (duration::show(least), duration::show(most));
            let takes = takes(path);
            return Err(self
                .wrong(path, why)
                .next(format!("give {takes}, from {least} to {most}")));
        }
        Ok(length)
    }

    fn design(&self, design: DesignDraft) -> Result<Design> {
        let path = ["design", "trials"];
        let text = self.given_at(&path, design.trials)?;
        let trials = text
            .parse::<u32>()
            .ok()
            .filter(|trials| (1..=MAX_TRIALS_A_CONDITION).contains(trials))
            .ok_or_else(|| self.not_taken(&path, &text))?;
        let path = ["design", "order"];
        let word = design.order.unwrap_or_else(|| default(&path).into());
        let order = Order::ALL
            .into_iter()
            .find(|order| order.word() == word)
            .ok_or_else(|| {
                self.wrong(&path, format!("unknown order {}", shown(&word)))
                    .next(choose(&word, "orders", Order::ALL.map(Order::word)))
            })?;
        let path = ["design", "seed"];
        let text = design.seed.unwrap_or_else(|| default(&path).into());
        let seed = text.parse().map_err(|_| self.not_taken(&path, &text))?;
        Ok(Design {
            trials,
            order,
            seed,
        })
    }

    fn not_taken(&self, path: &[&str], text: &str) -> Error {
        self.wrong(path, format!("{} is not {}", shown(text), takes(path)))
            .next(format!("give {}", takes(path)))
    }
}

fn name_fault(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("is empty"),
        name => bad_name(name),
    }
}
