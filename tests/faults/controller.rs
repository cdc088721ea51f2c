//! What becomes of a trial when its ktrial is killed, or its disk is full.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::sshd::wait_until;
use crate::site::{Site, is_done, may_mount};
use crate::story::{Story, by_each, side_by_side};

/// Kills ktrial once an event has come, and has it resumed when the trial has gone on for a while.
fn killed_at(event: &str, supervisor: &'static str) {
    let site = Site::start();
    let story = Story::new(&site, supervisor, 4.0);
    let mut ktrial = story.run(&[]);
    story.until(&mut ktrial, event);
    ktrial.kill();
    // The gap that there would be if anything depended on it.
    sleep(Duration::from_secs(4));
    assert!(site.trial().exists());
    assert!(story.resume(&[]).status.success());
    story.is_complete();
    story.is_sampled(3.0);
    site.is_as_before();
}

#[test]
fn a_ktrial_killed_in_any_phase_costs_nothing() {
    let phases = ["idle", "start", "end"];
    side_by_side(phases, |event| {
        by_each(|supervisor| killed_at(event, supervisor));
    });
}

/// A mount namespace with a small disk at a folder, for as long as it is not dropped.
struct SmallDisk(Child);

impl SmallDisk {
    fn at(folder: &Path) -> SmallDisk {
        std::fs::create_dir_all(folder).unwrap();
        let at = folder.display();
        let script = format!("mount -t tmpfs -o size=600k none {at} && exec sleep 1000");
        let child = Command::new("unshare")
            .args(["-m", "sh", "-c", &script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let disk = SmallDisk(child);
        wait_until("a small disk", || {
            let mounts = std::fs::read_to_string(format!("/proc/{}/mounts", disk.0.id()));
            mounts.is_ok_and(|mounts| mounts.contains(folder.to_str().unwrap()))
        });
        disk
    }

    /// The root of the file system there, as it is seen from here.
    fn root(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.0.id()))
    }

    /// Words before a command that runs there.
    fn words(&self) -> Vec<String> {
        let pid = self.0.id().to_string();
        ["nsenter", "-m", "-t", &pid, "--"]
            .map(str::to_owned)
            .to_vec()
    }

    fn grow(&self, folder: &Path) {
        let mut words = self.words();
        words.extend(["mount", "-o", "remount,size=50m"].map(str::to_owned));
        words.push(folder.display().to_string());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(is_done(&words), "remount");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_full_disk_of_the_controller_ends_the_run_and_the_rest_of_the_trial_is_fetched() {
    if !may_mount() {
        eprintln!("left out: this user may not mount a small disk");
        return;
    }
    by_each(|supervisor| {
        let site = Site::start();
        let flood =
            "i=0; while [ $i -lt 40 ]; do head -c 50000 /dev/zero; sleep 0.1; i=$((i+1)); done";
        let mut story = Story::with(&site, supervisor, flood);
        let disk = SmallDisk::at(&story.runs());
        story.within = (disk.words(), disk.root());
        let said = story.run(&[]).fails();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(story.runs().to_str().unwrap()), "{said}");
        assert!(said.contains("make room on the disk"), "{said}");
        assert!(said.contains("ktrial resume"), "{said}");

        disk.grow(&story.runs());
        assert!(story.resume(&[]).status.success());
        story.is_complete();
        site.is_as_before();
    });
}
