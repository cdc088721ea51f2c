//! The controller's own look at files of the kernel that a trial changes, and at the modules that it loads: the trial's
//! script restores them itself, but a script may be killed, and a workload may change them too.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Experiment, PlannedTrial};
use crate::host::Host;
use crate::workload::settings::guarded;
use crate::workload::{self, quote};

use super::said;
use super::settings_scripts::{DONE, checking, lines, reading};

const DEADLINE: Duration = Duration::from_secs(20);

/// How long a module may withstand its unloading.
const UNLOAD: Duration = Duration::from_secs(6);

/// Longest value that is kept.
const VALUE_LENGTH: usize = 4096;

/// Most bytes of the lines that put files back: they are part of a script.
const LINES_LENGTH: usize = 64 << 10;

/// Most modules that are kept.
const MODULES: usize = 50;

/// What a trial has to leave as it was: files and their values, and modules that were not loaded.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) files: Vec<Held>,
    /// That which was loaded last first.
    pub(super) modules: Vec<String>,
}

/// A file and its value.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: String,
    pub(super) value: String,
}

/// What a look after a trial found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// One for each thing that was not as before.
    pub(super) notes: Vec<String>,
    /// A file that does not take its old value: the next trial would not begin as this one did.
    pub(super) left: Option<String>,
}

impl Guard {
    /// Reads what a trial may change; a file whose value cannot be read, or not be written again, is left alone later.
    /// None when there is nothing.
    ///
    /// # Errors
    /// As [`Host::exec`]; `HostTransient` when the host does not tell all of it.
    pub(super) fn read(
        host: &dyn Host,
        trial: &PlannedTrial,
        experiment: &Experiment,
    ) -> Result<Option<Guard>> {
        let files = guarded(trial, experiment);
        let modules = workload::modules(trial, experiment);
        if files.is_empty() && modules.is_none() {
            return Ok(None);
        }
        let script = reading(&files, modules.as_deref());
        Ok(Some(Guard::said(&told(host, &script, DEADLINE)?, files)))
    }

    /// What the host said of these files and of modules.
    fn said(text: &str, files: Vec<String>) -> Guard {
        let values = lines(text, files.len());
        let mut length = 0;
        let held = files.into_iter().zip(values).filter_map(|(file, value)| {
            let held = Held {
                file,
                value: value.filter(|value| is_writable(value))?,
            };
            length += held.line(0).len();
            (length <= LINES_LENGTH).then_some(held)
        });
        let modules = text.lines().filter_map(|line| line.strip_prefix("module "));
        let modules = modules.filter(|name| is_module(name)).take(MODULES);
        Guard {
            files: held.collect(),
            modules: modules.map(str::to_owned).collect(),
        }
    }

    /// Looks at all of it again, puts back what differs and unloads what is loaded.
    ///
    /// # Errors
    /// As [`Guard::read`].
    pub(super) fn check(&self, host: &dyn Host) -> Result<Found> {
        let mut found = Found::default();
        if self.files.is_empty() && self.modules.is_empty() {
            return Ok(found);
        }
        let modules = u32::try_from(self.modules.len()).unwrap_or(u32::MAX);
        let text = told(host, &checking(self), DEADLINE + UNLOAD * modules)?;
        for module in &self.modules {
            found.notes.extend(module_note(module, &text));
        }
        for (held, line) in self.files.iter().zip(lines(&text, self.files.len())) {
            let Some((note, is_back)) = held.note(line.as_deref()) else {
                continue;
            };
            found.notes.push(note);
            if !is_back && found.left.is_none() {
                let old = said::escaped(&held.value, said::MESSAGE);
                found.left = Some(format!("{} could not be put back to {old}", held.file));
            }
        }
        Ok(found)
    }

    /// The note of a host that is lost.
    pub(super) fn unchecked(&self) -> String {
        let files = self.files.iter().map(Held::shown);
        let modules = self.modules.iter();
        let modules = modules.map(|name| format!("module {name} was not loaded"));
        let all: Vec<String> = files.chain(modules).collect();
        format!(
            "the host was lost before its settings could be looked at again: {}",
            all.join(", ")
        )
    }
}

impl Held {
    /// With the value that it had.
    fn shown(&self) -> String {
        let value = said::escaped(&self.value, said::MESSAGE);
        format!("{} was {value}", self.file)
    }

    /// What became of the file, when anything did, and whether it has its old value. `found` is `back VALUE` or
    /// `left VALUE`, with what it held.
    fn note(&self, found: Option<&str>) -> Option<(String, bool)> {
        let (fate, now) = found?.split_once(' ')?;
        let now = said::escaped(now, said::MESSAGE);
        let old = said::escaped(&self.value, said::MESSAGE);
        let (fate, is_back) = match fate {
            "back" => (format!("was put back to {old}"), true),
            "left" => (format!("could not be put back to {old}"), false),
            _ => return None,
        };
        Some((
            format!("{} was left at {now} and {fate}", self.file),
            is_back,
        ))
    }

    /// The line that looks at the file again.
    pub(super) fn line(&self, number: usize) -> String {
        let words = quote(&[self.file.clone(), self.value.clone()]);
        format!("check_file {number} {words}\n")
    }
}

/// Whether the file gets the very value back that was read: one line of text.
fn is_writable(value: &str) -> bool {
    let is_text = |c: char| !c.is_control() && c != char::REPLACEMENT_CHARACTER;
    value.len() <= VALUE_LENGTH && value.chars().all(is_text)
}

fn is_module(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
    (1..=64).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(is_plain)
}

/// What became of a module that was still loaded.
fn module_note(name: &str, text: &str) -> Option<String> {
    let begin = format!("unloaded {name} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&begin))?;
    let (fate, said) = line.split_once(' ').unwrap_or((line, ""));
    match fate {
        "back" => Some(format!("module {name} was left loaded and was unloaded")),
        "left" => Some(format!(
            "module {name} was left loaded and could not be unloaded: {}",
            said::escaped(said, said::MESSAGE)
        )),
        _ => None,
    }
}

/// What a script said before its last line.
fn told(host: &dyn Host, script: &str, deadline: Duration) -> Result<String> {
    let output = host.exec(script, deadline)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.lines().next_back() == Some(DONE) {
        return Ok(text);
    }
    let said = said::last_line(&output.stderr).unwrap_or_default();
    Err(Error::new(
        ErrorKind::HostTransient,
        format!(
            "{}: the look at its settings did not come to its end: {said}",
            host.name()
        ),
    ))
}

#[cfg(test)]
mod tests;
