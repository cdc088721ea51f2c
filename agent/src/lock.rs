//! The lock of a host: at most one trial of a user at a time.
//!
//! It is a file that says who holds it, since a shell supervisor takes it too. Who finds it held by nobody takes it
//! away first; programs do that one at a time, by a lock of the kernel on the folder that the file is in.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::clock::{ms, now_ns};
use crate::folder::{self, Folder};
use crate::identity::Identity;

/// How long a trial that has its result may take to give its lock back.
const RELEASE_NS: u64 = ms(5_000);

/// How long a lock has to be nobody's before it is taken away: a worker whose keeper died takes the lock over.
const ABANDONED_NS: u64 = ms(500);

const PAUSE: Duration = Duration::from_millis(50);

/// How a trial came to the lock.
#[derive(Debug)]
pub enum Taken {
    /// It was free, or of a process that died.
    Now,
    /// This process of the same trial has it already, and lives.
    Before(Identity),
}

/// Takes the lock.
///
/// # Errors
/// When another trial has it: which one, and its supervisor.
pub fn take(folder: &Folder, identity: &Identity) -> Result<Taken, String> {
    let lock = path(folder);
    let begin_ns = now_ns();
    let mut abandoned: Option<(Vec<u8>, u64)> = None;
    loop {
        let _alone = alone(folder.base())?;
        if create(&lock, &format!("{identity} {}\n", folder.name()))? {
            return Ok(Taken::Now);
        }
        // Given back just now: the next round takes it.
        let Ok(text) = folder::read(&lock, 4096) else {
            if now_ns() > begin_ns + RELEASE_NS {
                return Err(format!("{} cannot be read", lock.display()));
            }
            drop(_alone);
            std::thread::sleep(PAUSE);
            continue;
        };
        let words = String::from_utf8_lossy(&text).into_owned();
        let mut words = words.split_ascii_whitespace();
        let holder = Identity::parse(&mut words);
        let name = words.next().filter(|name| folder::is_plain(name));
        if let Some(holder) = holder.as_ref().filter(|holder| holder.lives()) {
            if name == Some(folder.name()) {
                return Ok(Taken::Before(holder.clone()));
            }
            let name = name.unwrap_or("?");
            let other = folder.base().join(name);
            // A controller that saw the result may have removed the folder before the lock was given back.
            let is_over = !other.exists() || other.join("result").exists();
            if !is_over || now_ns() > begin_ns + RELEASE_NS {
                return Err(format!(
                    "the trial in {} has this host: its supervisor is process {}",
                    other.display(),
                    holder.pid
                ));
            }
        } else {
            let since_ns = match &abandoned {
                Some((same, since_ns)) if *same == text => *since_ns,
                _ => now_ns(),
            };
            let of_this_boot = holder.is_some_and(|holder| holder.is_of_this_boot());
            if !of_this_boot || now_ns() > since_ns + ABANDONED_NS {
                take_away(&lock, &text)?;
                continue;
            }
            abandoned = Some((text, since_ns));
        }
        drop(_alone);
        std::thread::sleep(PAUSE);
    }
}

/// Takes over what this trial's dead keeper held.
///
/// # Errors
/// When the file cannot be written.
pub fn take_over(folder: &Folder, identity: &Identity) -> Result<(), String> {
    let _alone = alone(folder.base())?;
    if !is_of(folder) {
        return Err("another trial has the lock".to_owned());
    }
    let lock = path(folder);
    let temporary = temporary(&lock);
    let text = format!("{identity} {}\n", folder.name());
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &lock));
    written.map_err(|e| format!("{}: {e}", lock.display()))
}

/// Whether this process has it.
pub fn is_held_by(folder: &Folder, identity: &Identity) -> bool {
    is_of(folder) && Identity::of_file(&path(folder)).as_ref() == Some(identity)
}

/// Gives it back, if this trial has it.
pub fn release(folder: &Folder) {
    if let Ok(_alone) = alone(folder.base())
        && is_of(folder)
    {
        let _ = fs::remove_file(path(folder));
    }
}

fn path(folder: &Folder) -> PathBuf {
    folder.base().join("lock")
}

fn temporary(lock: &Path) -> PathBuf {
    lock.with_file_name(format!(".lock.{}", std::process::id()))
}

fn is_of(folder: &Folder) -> bool {
    let text = folder::read(&path(folder), 4096).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.split_ascii_whitespace().nth(3) == Some(folder.name())
}

/// Whether the lock was free and is this trial's now.
fn create(lock: &Path, text: &str) -> Result<bool, String> {
    let temporary = temporary(lock);
    let made = fs::write(&temporary, text).and_then(|()| fs::hard_link(&temporary, lock));
    let _ = fs::remove_file(&temporary);
    match made {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(format!("{}: {e}", lock.display())),
    }
}

/// Takes an abandoned lock away. A shell does not know of [`alone`]: when it was quicker, what was moved is its lock,
/// and goes back.
fn take_away(lock: &Path, abandoned: &[u8]) -> Result<(), String> {
    let moved = lock.with_file_name(format!(".lock.{}.old", std::process::id()));
    if let Err(e) = fs::rename(lock, &moved) {
        return match e.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(format!("{}: {e}", lock.display())),
        };
    }
    let is_it = folder::read(&moved, 4096).is_ok_and(|text| text == abandoned);
    if !is_it {
        let _ = fs::hard_link(&moved, lock);
    }
    let _ = fs::remove_file(&moved);
    Ok(())
}

/// Keeps other programs out until it is dropped.
fn alone(base: &Path) -> Result<File, String> {
    let open = || -> std::io::Result<File> {
        let folder = File::open(base)?;
        flock(&folder, FlockOperation::LockExclusive)?;
        Ok(folder)
    };
    open().map_err(|e| format!("{}: {e}", base.display()))
}
