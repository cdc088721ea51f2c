//! A host for the faults: a private sshd, as root in a mount namespace where a file of the test's stands for one of the
//! kernel's, so that what a trial sets there changes nothing else on this machine.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::sshd::{NAME, Sshd, at_work_in, trials, wait_until};

/// The file of the kernel that trials set, and the value that it has before.
const SETTING: &str = "/proc/sys/kernel/printk_ratelimit_burst";
const BEFORE: &str = "11\n";

/// Keepalives and deadlines as short as they can be.
pub const IMPATIENT: &str = " ServerAliveInterval 2\n ServerAliveCountMax 1\n ConnectTimeout 3";

/// A host.
pub struct Site {
    pub sshd: Sshd,
    /// Whether trials may set files of the kernel there.
    pub sets: bool,
    boot_id: String,
}

impl Site {
    /// On the loopback interface.
    pub fn start() -> Site {
        Self::start_with("127.0.0.1", &[], "")
    }

    /// At an address, started by a command, after these shell lines in its mount namespace; `AT` in them stands for the
    /// fixture's folder, `TRIALS` for that of the trials.
    pub fn start_with(address: &str, command: &[&str], lines: &str) -> Site {
        let sets = may_mount();
        if !sets {
            eprintln!("no settings are made: this user may not have a mount namespace of its own");
            assert!(lines.is_empty(), "ask `may_mount` first");
        }
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        // Two hosts of one machine are told apart by it.
        let other = fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap();
        let sshd = Sshd::start_within(address, "", |at| {
            fs::write(at.join("setting"), BEFORE).unwrap();
            fs::write(at.join("boot_id"), &other).unwrap();
            let mut words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            if sets {
                let script = format!(
                    "set -e\nmount --bind AT/setting {SETTING}\n\
                     mount --bind AT/boot_id /proc/sys/kernel/random/boot_id\n{lines}\nexec \"$@\""
                );
                let script = script
                    .replace("AT/", &format!("{}/", at.display()))
                    .replace("TRIALS", &trials(at).display().to_string());
                words.extend(["unshare", "-m", "sh", "-c", &script, "sh"].map(str::to_owned));
            }
            words
        });
        let boot_id = if sets { other } else { boot_id };
        let site = Site {
            sshd,
            sets,
            boot_id: boot_id.trim().to_owned(),
        };
        let config = site.sshd.stanza(NAME, IMPATIENT);
        site.sshd.write("ssh_config", &config);
        site
    }

    /// The boot_id that the host has.
    pub fn boot_id(&self) -> &str {
        &self.boot_id
    }

    /// The lines of an experiment that set the file of the kernel.
    pub fn settings(&self) -> &'static str {
        match self.sets {
            true => "settings: {kernel.printk_ratelimit_burst: '37'}\n",
            false => "",
        }
    }

    /// The setting as it is now.
    pub fn setting(&self) -> String {
        fs::read_to_string(self.sshd.path("setting")).unwrap()
    }

    /// The trials' folder as the host has it, also when something is mounted there.
    pub fn trials(&self) -> PathBuf {
        let own = self.sshd.trials();
        let root = PathBuf::from(format!("/proc/{}/root", self.sshd.id()));
        match self.sets {
            true => root.join(own.strip_prefix("/").unwrap()),
            false => own,
        }
    }

    /// The names in the trials' folder, but for the agent.
    pub fn left(&self) -> Vec<String> {
        let listing = fs::read_dir(self.trials()).map(|l| l.flatten().collect());
        let mut names: Vec<String> = listing
            .unwrap_or_else(|_| Vec::new())
            .iter()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with("agent-"))
            .collect();
        names.sort();
        names
    }

    /// The folder of the only trial on the host.
    pub fn trial(&self) -> PathBuf {
        let names = self.left();
        let is_trial = |name: &&String| name.len() == 16 && !name.contains('.');
        let name = names.iter().find(is_trial).expect("a trial");
        self.trials().join(name)
    }

    /// The number of the trial's supervisor.
    pub fn supervisor(&self) -> u32 {
        let text = fs::read_to_string(self.trial().join("pid")).unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    }

    /// Waits until nothing of a trial runs there.
    pub fn is_quiet(&self) {
        wait_until("nothing of a trial runs", || self.running().is_empty());
    }

    /// Processes of trials, and of those who follow them.
    pub fn running(&self) -> Vec<u32> {
        at_work_in(&self.sshd.trials())
            .into_iter()
            // Its configuration names the folder.
            .filter(|pid| *pid != self.sshd.id())
            .collect()
    }

    /// The host is as it was before: no process, no folder, the old values.
    pub fn is_as_before(&self) {
        self.is_quiet();
        assert_eq!(self.left(), Vec::<String>::new());
        assert_eq!(self.setting(), BEFORE);
    }
}

/// Whether this user may have a mount namespace with mounts of its own; said where it may not.
pub fn may_mount() -> bool {
    is_done(&[
        "unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/tmp",
    ])
}

/// Whether a command ends well.
pub fn is_done(words: &[&str]) -> bool {
    let (program, rest) = words.split_first().unwrap();
    Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
