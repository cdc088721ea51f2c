//! A host whose disk is full.

use crate::common::experiment::{raw, states};
use crate::site::{Site, may_mount};
use crate::story::{Story, by_each};

#[test]
fn a_full_disk_of_the_host_is_told_and_the_host_is_put_in_order() {
    if !may_mount() {
        eprintln!("left out: this user may not mount a small disk");
        return;
    }
    by_each(|supervisor| {
        let lines = "mkdir -m 700 TRIALS && mount -t tmpfs -o size=4m,mode=700 none TRIALS";
        let site = Site::start_with("127.0.0.1", &[], lines);
        // Whatever the trial writes afterwards has no room but what was kept for it.
        let first = "cat /dev/zero >filler 2>/dev/null; echo full >AT/full; sleep 3";
        let story = Story::with(&site, supervisor, first);
        let said = story.run(&[]).end();
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(story.folder.path().join("full").exists(), "{said}");
        let record = story.record();
        let trial = &record.manifest().trials[0];
        let told = format!("{:?} {:?} {said}", trial.reason, trial.notes);
        assert!(
            told.contains("disk full") || told.contains("disk is full"),
            "{told}"
        );
        assert!(raw(&record, 0, "meminfo").contains("MemAvailable"));
        assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
        // The folder went with all that filled the disk.
        assert_eq!(states(&record)[1], "complete", "{told}");
        site.is_as_before();
    });
}
