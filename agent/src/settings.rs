//! Files of the kernel: given a value for a trial, and their old one after it.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ktrial_agent::Spec;
use rustix::fs::OFlags;

use crate::event::Events;
use crate::folder;
use crate::journal::{Entry, Journal};

/// Bytes that a value may have.
const LIMIT: u64 = 64 << 10;

/// Sets what the specification says, and remembers what it guards.
///
/// # Errors
/// The reason why the trial cannot be; what was set is in the journal.
pub fn hold(spec: &Spec, journal: &mut Journal) -> Result<(), String> {
    for setting in &spec.settings {
        let (file, value) = (setting.file.clone(), setting.value.clone());
        let old = read(&file).map_err(|e| format!("setting {e}"))?;
        journal.write(&Entry::Set {
            file: file.clone(),
            old: old.clone(),
            value: value.clone(),
        })?;
        let written = write(&file, &value);
        let now = read(&file).map_err(|e| format!("setting {e}"))?;
        if !same(&now, &choice(&value)) {
            let why = written.err().map(|e| format!(": {e}")).unwrap_or_default();
            return Err(format!(
                "setting {file} was to be {value}, and after writing it reads {now} (before it was {old}){why}"
            ));
        }
    }
    for file in &spec.guarded {
        // What is not there yet has no value to put back, such as a parameter of a module that is not loaded.
        if !spec.settings.iter().any(|s| s.file == *file)
            && let Ok(old) = read(file)
        {
            let file = file.clone();
            journal.write(&Entry::Guard { file, old })?;
        }
    }
    Ok(())
}

/// Puts everything back, the last first. `held`: the trial had its settings, so that one that changed is worth a note.
pub fn put_back(entries: &[Entry], held: bool, events: &mut Events) {
    for entry in entries.iter().rev() {
        match entry {
            Entry::Set { file, old, value } => {
                if held
                    && let Ok(now) = read(file)
                    && !same(&now, &choice(value))
                {
                    events.note(&format!(
                        "{file} was {now} at the trial's end, not the {value} that was set"
                    ));
                }
                put(file, old, events);
            }
            Entry::Guard { file, old } => {
                // A module that is gone took its files along.
                if let Ok(now) = read(file)
                    && !same(&now, old)
                {
                    events.note(&format!(
                        "{file} was {now} at the trial's end, and {old} before it; it was put back"
                    ));
                    put(file, old, events);
                }
            }
            Entry::Prepare | Entry::Cgroup { .. } => {}
        }
    }
}

fn put(file: &str, old: &str, events: &mut Events) {
    if read(file).is_ok_and(|now| same(&now, old)) {
        return;
    }
    let written = write(file, old);
    match read(file) {
        Ok(now) if same(&now, old) => {}
        Ok(now) => {
            let why = written.err().map(|e| format!(": {e}")).unwrap_or_default();
            events.left(&format!(
                "{file} could not be put back to {old}; it is {now}{why}"
            ));
        }
        Err(e) => events.left(&format!("{file} could not be put back to {old}: {e}")),
    }
}

/// The value of a file, as [`choice`] gives it.
fn read(file: &str) -> Result<String, String> {
    let bytes = folder::read(Path::new(file), LIMIT)?;
    Ok(choice(&String::from_utf8_lossy(&bytes)))
}

fn write(file: &str, value: &str) -> Result<(), String> {
    let mut options = OpenOptions::new();
    let no_wait = OFlags::NONBLOCK.bits() as i32;
    let open = options
        .write(true)
        .truncate(true)
        .custom_flags(no_wait)
        .open(file);
    // In one write: each is a value of its own for the kernel.
    let written = open.and_then(|mut file| file.write_all(format!("{value}\n").as_bytes()));
    written.map_err(|e| e.to_string())
}

/// A value in one line; of choices, such as `always [madvise] never`, the one in brackets.
fn choice(value: &str) -> String {
    let bracketed = |word: &&str| word.len() >= 2 && word.starts_with('[') && word.ends_with(']');
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    match words.iter().find(|word| bracketed(word)) {
        Some(word) => word
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned(),
        None => words.join(" "),
    }
}

/// Compares by meaning: numbers as numbers, `Y` and `N` as 1 and 0.
fn same(value: &str, other: &str) -> bool {
    let truth = |value| match value {
        "Y" | "y" => "1",
        "N" | "n" => "0",
        other => other,
    };
    let (value, other) = (truth(value), truth(other));
    let number = |value: &str| value.parse::<i128>().ok();
    value == other || (number(value).is_some() && number(value) == number(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_their_meaning() {
        for (read, wanted) in [
            ("1", "Y"),
            ("N", "0"),
            ("60", "060"),
            ("4096\t131072  9", "4096 131072 9"),
            ("always [madvise] never", "madvise"),
            ("[none] mq-deadline", "none"),
            ("", ""),
        ] {
            assert!(same(&choice(read), &choice(wanted)), "{read} {wanted}");
        }
        for (read, wanted) in [
            ("1", "N"),
            ("60", "61"),
            ("always [madvise] never", "always"),
            ("", "0"),
            ("4096 1", "4096 2"),
        ] {
            assert!(!same(&choice(read), &choice(wanted)), "{read} {wanted}");
        }
    }
}
