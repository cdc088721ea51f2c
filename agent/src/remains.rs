//! What trials whose supervisor died have left on this host: nothing is measured before it is put right.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::folder::{self, Folder};
use crate::identity::Identity;
use crate::{lock, recover};

/// The script that is in the folder of a trial that the shell supervises.
const SHELL: &str = "supervisor.sh";

/// Puts right what other trials have left; who calls has the lock of the host. A trial of another boot is left as it
/// is: neither its processes nor its settings are there any more.
///
/// # Errors
/// Which trial cannot be put right, and why.
pub fn put_right(folder: &Folder, identity: &Identity) -> Result<(), String> {
    for other in others(folder)? {
        // In this order: who is gone has written its result before.
        let died = recover::supervisor(&other).is_some_and(|s| s.is_of_this_boot() && !s.lives());
        if !died || other.has("result") {
            continue;
        }
        let done = match other.has(SHELL) {
            true => by_shell(folder, identity, &other),
            false => recover::after(&other, None, None),
        };
        done.map_err(|why| {
            format!(
                "what the trial in {} left on this host could not be put right: {why}",
                other.path().display()
            )
        })?;
    }
    Ok(())
}

/// The folders of other trials that were begun.
fn others(folder: &Folder) -> Result<Vec<Folder>, String> {
    let base = folder.base();
    let entries = fs::read_dir(base).map_err(|e| format!("{}: {e}", base.display()))?;
    let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let paths = entries.flatten().filter(is_dir).map(|entry| entry.path());
    let folders = paths.filter_map(|path| Folder::open(&path).ok());
    let is_one = |other: &Folder| other.name() != folder.name() && other.has("pid");
    Ok(folders.filter(is_one).collect())
}

/// The journal of the shell is its own to read. It takes the lock for that, so this trial gives it back meanwhile.
fn by_shell(folder: &Folder, identity: &Identity, other: &Folder) -> Result<(), String> {
    lock::release(folder);
    let output = Command::new("sh")
        .args([SHELL, "recover"])
        .current_dir(other.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    // Somebody else may have been quicker.
    match lock::take(folder, identity)? {
        lock::Taken::Now => {}
        lock::Taken::Before(holder) => {
            return Err(format!("process {} begins this trial too", holder.pid));
        }
    }
    let output = output.map_err(|e| format!("sh: {e}"))?;
    if other.has("result") {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let why = said.trim().strip_prefix("refused ").unwrap_or(said.trim());
    Err(match why.is_empty() {
        true => format!("its {SHELL} does not do it"),
        false => why.to_owned(),
    })
}

/// The names of files that a trial is to have, by its specification or, without one that can be read, by what is there.
pub fn fetched(folder: &Folder) -> Vec<String> {
    if let Ok(spec) = folder.spec() {
        return folder::fetched(&spec);
    }
    let entries = fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_one = |name: &String| {
        let end = Path::new(name).extension().and_then(|end| end.to_str());
        folder::is_plain(name)
            && (name == "events" || folder::is_output(name) || matches!(end, Some("txt" | "err")))
    };
    let mut names: Vec<String> = names.filter(is_one).collect();
    names.sort();
    names
}
