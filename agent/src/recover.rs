//! After a supervisor that died: its trial's processes are ended and what it changed is put back.

use ktrial_agent::Ended;
use rustix::process::{getpid, set_child_subreaper};

use crate::attention::Attention;
use crate::cgroup::{self, Cgroup};
use crate::clock::ms;
use crate::ending;
use crate::event::Events;
use crate::folder::Folder;
use crate::identity::Identity;
use crate::journal::{self, Entry};
use crate::processes::{self, Kin};
use crate::scripts::Scripts;
use crate::{lock, remains, restore, result, settings};

const GRACE_NS: u64 = ms(2_000);

/// Recovers a trial, if nobody else sees to it: nothing while its supervisor lives, or when its result is there.
///
/// # Errors
/// When another trial runs, or the result cannot be written.
pub fn recover(folder: &Folder) -> Result<(), String> {
    if folder.has("result") || supervisor(folder).is_some_and(|s| s.lives()) {
        return Ok(());
    }
    if let lock::Taken::Before(holder) = lock::take(folder, &Identity::own()?)? {
        return Err(format!("process {} recovers this trial", holder.pid));
    }
    // Now that it cannot change any more: a worker may have taken its keeper's place, and somebody else recovered.
    let recovered = match supervisor(folder).is_some_and(|s| s.lives()) {
        true => Ok(()),
        false => after(folder, None, None),
    };
    lock::release(folder);
    recovered
}

/// The supervisor that a trial has or had.
pub fn supervisor(folder: &Folder) -> Option<Identity> {
    Identity::of_file(&folder.file("pid"))
}

/// Recovers a trial whose supervisor is gone; who calls has the lock. `ancestor`: what is below this process is the
/// trial's. `oom`: what `restore` gets as its oom_score_adj, when this process has another.
///
/// # Errors
/// When the result cannot be written.
pub fn after(folder: &Folder, ancestor: Option<i32>, oom: Option<String>) -> Result<(), String> {
    if folder.has("result") {
        return Ok(());
    }
    let spec = folder.spec();
    let mut events = Events::open(folder)?;
    let entries = journal::entries(folder);
    let of_this_boot = supervisor(folder).is_none_or(|s| s.is_of_this_boot());
    let how = match of_this_boot {
        true => Ended::Died,
        // Another boot has neither its processes nor its settings.
        false => Ended::Rebooted,
    };
    if of_this_boot {
        let mut attention = Attention::new().map_err(|e| e.to_string())?;
        set_child_subreaper(Some(getpid())).map_err(|e| e.to_string())?;
        let scripts = Scripts::new(folder, oom);
        let cgroup = entries.iter().find_map(|entry| match entry {
            Entry::Cgroup { path } => Some(Cgroup::at(path)),
            _ => None,
        });
        for variable in [scripts.variable(), scripts.beside_variable()] {
            let kin = Kin {
                variable,
                cgroup: cgroup.clone(),
                ancestor,
                ..Kin::default()
            };
            let outlived = ending::kin(&kin, 0, GRACE_NS, &mut attention);
            if !outlived.left.is_empty() {
                let left = processes::named(&outlived.left);
                events.left(&format!(
                    "processes of the trial could not be ended: {left}"
                ));
            }
        }
        if entries.contains(&Entry::Prepare) {
            match &spec {
                Ok(spec) => {
                    restore::run(&spec.restore, folder, &scripts, &mut attention, &mut events);
                }
                Err(why) => events.left(&format!("restore is not known, and was not run: {why}")),
            }
        }
        settings::put_back(&entries, false, &mut events);
        if let Some(cgroup) = cgroup.filter(|_| ancestor.is_none()) {
            cgroup::remove_of(folder.name(), &cgroup);
        }
    }
    result::note_output(folder, &mut events);
    events.ended(how, "");
    result::write(folder, &remains::fetched(folder))
}
