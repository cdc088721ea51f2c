//! A boot of a host before a trial: start it anew, wait until it is up, see what it runs.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, PlannedBoot, PlannedTrial};
use crate::host::{Exit, Host, Local};
use crate::workload::boot::REBOOT;

use super::Ways;
use super::boot_over::{self, pause};
use super::identity::Identity;
use super::ledger::Slot;
use super::progress::Update;
use super::said;
use super::sequence::{Shared, of_the_record, words};
use super::trial::Ending;

/// How often a host is booted until it runs what was asked for.
const TRIES: usize = 2;

/// How long a host may take until it answers from another boot.
const UP_WITHIN: Duration = Duration::from_secs(300);

/// Between two tries to reach it.
const PAUSE: Duration = Duration::from_secs(2);

/// How long a host may take to accept its own reboot.
const REBOOT_DEADLINE: Duration = Duration::from_secs(60);

/// Whether the plan's boots can be had this way.
///
/// # Errors
/// `Usage` when a kernel or words are asked for and nothing can start hosts with them, or this machine would be booted.
pub(super) fn check(plan: &Plan, ways: &Ways<'_>) -> Result<()> {
    let mut boots = plan.trials.iter().filter(|t| t.boot.is_some());
    if boots.clone().any(|trial| trial.host == Local::NAME) {
        return Err(
            Error::usage("the experiment boots its hosts, and `local` is this machine")
                .next("name a host that is not the one ktrial runs on"),
        );
    }
    // What a host boots by itself is the same at every boot; that it is the kernel asked for is checked.
    let mut kernels: BTreeMap<&str, &Option<String>> = BTreeMap::new();
    let by_itself = boots.all(|trial| {
        trial.boot.as_ref().is_none_or(|boot| {
            let kernel = *kernels.entry(&trial.host).or_insert(&boot.kernel);
            boot.command_line.is_empty() && *kernel == boot.kernel
        })
    });
    if ways.restart.is_none() && !by_itself {
        return Err(Error::usage(
            "the experiment asks a host for several kernels, or for words of the command line, and nothing here boots it with them",
        )
        .next("give a program that does with --boot-hook; docs/hosts.md has its contract and examples"));
    }
    Ok(())
}

/// A boot that a trial begins with.
pub(super) struct Boot<'a> {
    pub(super) host: &'a str,
    pub(super) trial: &'a PlannedTrial,
    pub(super) wanted: &'a PlannedBoot,
    /// The last boot_id that is known of the host: not the one of a new boot.
    pub(super) last_boot_id: Option<&'a str>,
    pub(super) slot: Slot<'a>,
    pub(super) shared: &'a Shared<'a>,
}

/// A host that came up.
struct Up {
    host: Box<dyn Host>,
    identity: Identity,
    notes: Vec<String>,
}

/// What one look at a host that boots gave.
enum Look {
    Up(Up),
    /// Worth another look.
    NotYet(String),
    Never(Error),
}

impl Boot<'_> {
    /// Boots the host and connects to it anew; the trial knows its boot_id, kernel and command line afterwards.
    /// Gives the trial's end when the host did not come up as it should.
    ///
    /// # Errors
    /// Only when the record cannot be written.
    pub(super) fn run(&self, host: &mut Option<Box<dyn Host>>) -> Result<Option<Ending>> {
        match self.tries(host.take()) {
            Ok(up) => {
                *host = Some(up);
                Ok(None)
            }
            Err(error) => match error.kind() {
                kind if of_the_record(kind) => Err(error),
                _ if self.shared.cancel.is_cancelled() => Ok(Some(Ending::Interrupted)),
                _ => Ok(Some(Ending::Failed(format!(
                    "the boot failed: {}",
                    words(&error)
                )))),
            },
        }
    }

    fn tries(&self, mut host: Option<Box<dyn Host>>) -> Result<Box<dyn Host>> {
        let mut wrong = String::new();
        for attempt in 1..=TRIES {
            let up = self.once(host.take())?;
            let found = self.wrong(&up.identity);
            let mut notes = up.notes;
            if let (Some(why), true) = (&found, attempt < TRIES) {
                notes.push(format!(
                    "the host {why} after a boot, and was booted once more"
                ));
            }
            let identity = up.identity;
            self.slot.update(|trial| {
                trial.boot_id = identity.boot_id;
                trial.kernel = identity.kernel;
                trial.cmdline = identity.cmdline;
                trial.notes.extend(notes);
            })?;
            match found {
                None => return Ok(up.host),
                Some(why) => wrong = why,
            }
            host = Some(up.host);
        }
        Err(Error::new(
            ErrorKind::HostStable,
            format!("booted {TRIES} times, and the host {wrong}"),
        ))
    }

    /// How what runs differs from what was asked for.
    fn wrong(&self, identity: &Identity) -> Option<String> {
        let or_none = |word: &Option<String>| word.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut wrong = Vec::new();
        let kernel = or_none(&identity.kernel);
        if let Some(wanted) = &self.wanted.kernel
            && !self.wanted.is_kernel(&kernel)
        {
            wrong.push(format!("runs kernel {kernel}, not {wanted}"));
        }
        let cmdline = identity.cmdline.as_deref().unwrap_or_default();
        let missing = self.wanted.missing(cmdline);
        if !missing.is_empty() {
            wrong.push(format!(
                "lacks {} on its kernel command line `{cmdline}`",
                missing.join(" ")
            ));
        }
        let former = self.former(cmdline);
        if !former.is_empty() {
            let former: Vec<String> = former.into_iter().collect();
            wrong.push(format!(
                "still has {} on its kernel command line `{cmdline}`",
                former.join(" ")
            ));
        }
        (!wrong.is_empty()).then(|| wrong.join(" and "))
    }

    /// The words of a command line that the experiment asks for in other boots of this host, and not in this one.
    fn former(&self, cmdline: &str) -> BTreeSet<String> {
        // A run that is resumed has only the rest of the experiment's trials.
        let whole = self.shared.plan.experiment.plan().ok();
        let trials = whole.iter().flat_map(|plan| &plan.trials);
        trials
            .filter(|trial| trial.host == self.host)
            .filter_map(|trial| trial.boot.as_ref())
            .flat_map(|boot| boot.command_line.iter().cloned())
            .filter(|word| !self.wanted.command_line.contains(word))
            .filter(|word| cmdline.split_ascii_whitespace().any(|w| w == word))
            .collect()
    }

    fn once(&self, host: Option<Box<dyn Host>>) -> Result<Up> {
        let (name, trial, shared) = (self.host, self.trial.id.as_str(), self.shared);
        shared.progress.update(Update::Booting {
            host: name,
            trial,
            kernel: self.wanted.kernel.as_deref(),
        });
        let begun = shared.clock.now();
        let before = self
            .restart(host)?
            .or_else(|| self.slot.boot_id())
            .or_else(|| self.last_boot_id.map(str::to_owned));
        let up = self.reach(before.as_deref())?;
        shared.progress.update(Update::Up {
            host: name,
            trial,
            kernel: up.identity.kernel.as_deref().unwrap_or("unknown"),
            took: shared.clock.now() - begun,
        });
        Ok(up)
    }

    /// Starts the host anew; gives the boot_id that it had, when it could be asked.
    fn restart(&self, host: Option<Box<dyn Host>>) -> Result<Option<String>> {
        let ask = |host: Box<dyn Host>| {
            let identity = Identity::read(host.as_ref())?;
            Ok((host, identity.boot_id))
        };
        let before = match host.map(ask) {
            Some(Ok(found)) => Ok(found),
            // The connection may be of a boot before.
            Some(Err(_)) | None => self.shared.ways.to(self.host).and_then(ask),
        };
        let Some(restart) = self.shared.ways.restart else {
            let (host, boot_id) = before?;
            reboot(host.as_ref())?;
            return Ok(boot_id);
        };
        let boot_id = before.ok().and_then(|(_, boot_id)| boot_id);
        restart(self.host, self.wanted, self.shared.cancel)?;
        Ok(boot_id)
    }

    /// Waits until the host answers from another boot that is over.
    fn reach(&self, before: Option<&str>) -> Result<Up> {
        let (clock, cancel) = (self.shared.clock, self.shared.cancel);
        let begun = clock.now();
        loop {
            if cancel.is_cancelled() {
                return Err(Error::new(ErrorKind::Interrupted, "ended by the user"));
            }
            let why = match self.look(before) {
                Look::Up(up) => return Ok(up),
                Look::Never(error) => return Err(error),
                Look::NotYet(why) => why,
            };
            if clock.now() - begun >= UP_WITHIN {
                let seconds = UP_WITHIN.as_secs();
                let what = format!("the host did not come up within {seconds} s: {why}");
                return Err(Error::new(ErrorKind::HostTransient, what));
            }
            pause(clock, cancel, PAUSE);
        }
    }

    fn look(&self, before: Option<&str>) -> Look {
        // Also what would be stable on a host that is up: while it comes up logins may be refused.
        let reached = self.shared.ways.to(self.host).and_then(|host| {
            let identity = Identity::read(host.as_ref())?;
            Ok((host, identity))
        });
        let (host, identity) = match reached {
            Ok(reached) => reached,
            Err(error) => return Look::NotYet(words(&error)),
        };
        let Some(boot_id) = identity.boot_id.as_deref() else {
            return Look::NotYet("it says no boot_id".to_owned());
        };
        if before == Some(boot_id) {
            return Look::NotYet(format!("it still runs the boot from before, {boot_id}"));
        }
        if let Some(other) = self.slot.other_of_boot(boot_id) {
            let why = format!("it has the boot_id of trial {other}, {boot_id}");
            return match before {
                // Nobody knows what the host ran before: it may be still the same.
                None => Look::NotYet(why),
                Some(_) => Look::Never(Error::new(ErrorKind::HostStable, why)),
            };
        }
        match boot_over::wait(host.as_ref(), self.shared) {
            Ok(notes) => Look::Up(Up {
                host,
                identity,
                notes,
            }),
            Err(error) if error.kind() == ErrorKind::HostTransient => Look::NotYet(words(&error)),
            Err(error) => Look::Never(error),
        }
    }
}

/// The host starts itself anew. A connection that ends over it is as it should be.
fn reboot(host: &dyn Host) -> Result<()> {
    match host.exec(REBOOT, REBOOT_DEADLINE) {
        Err(error) if error.kind() == ErrorKind::HostTransient => Ok(()),
        Err(error) => Err(error),
        // What systemd ends while it goes down ends by a signal, in a shell's words 128 and more.
        Ok(output) if matches!(output.exit, Exit::Code(1..128)) => {
            let said = said::last_line(&output.stderr).unwrap_or_default();
            let what = format!("`systemctl reboot` failed: {said}");
            Err(Error::new(ErrorKind::HostStable, what))
        }
        Ok(_) => Ok(()),
    }
}
