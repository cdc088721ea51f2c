//! Files of the kernel that a trial changes: plain files behave as they do.

use std::fs::{read_to_string, write};

use super::*;

fn setting(file: &Path, value: &str) -> ktrial_agent::Setting {
    ktrial_agent::Setting {
        file: file.display().to_string(),
        value: value.to_owned(),
    }
}

#[test]
fn settings_hold_for_the_trial_and_come_back() {
    in_each_shell(|place| {
        let (one, two, guarded) = (
            place.file("it's one"),
            place.file("two"),
            place.file("guarded"),
        );
        write(&one, "always [madvise] never\n").unwrap();
        write(&two, "4096\t87380\n").unwrap();
        write(&guarded, "/sbin/modprobe\n").unwrap();
        let folder = quote(&[place.base.path().display().to_string()]);
        let mut spec = spec(&format!(
            "cd {folder}; cat 'it'\\''s one' two; echo /tmp/own >guarded; echo 9 >two"
        ));
        // The same file twice: the first value is what comes back.
        spec.settings = vec![
            setting(&one, "never"),
            setting(&two, "7"),
            setting(&two, "$HOME 'x'"),
        ];
        spec.guarded = vec![guarded.display().to_string(), place.folder("absent")];
        let trial = unique("settings");
        place.started(&trial, &spec);
        let events = place.ended(&trial);
        let stdout = place.read(&format!("{trial}/workload.stdout"));
        assert_eq!(
            stdout, "prepared\nnever\n$HOME 'x'\nrestored\n",
            "{place:?} {events:?}"
        );
        assert_eq!(read_to_string(&one).unwrap(), "madvise\n");
        assert_eq!(read_to_string(&two).unwrap(), "4096 87380\n");
        assert_eq!(read_to_string(&guarded).unwrap(), "/sbin/modprobe\n");
        let file = |file: &Path| file.display().to_string();
        for note in [
            format!(
                "note {} was 9 at the trial's end, not the $HOME 'x' that was set",
                file(&two)
            ),
            format!(
                "note {} was left at /tmp/own and was put back to /sbin/modprobe",
                file(&guarded)
            ),
        ] {
            assert!(events.contains(&note), "{place:?} {events:?}");
        }
        assert_eq!(events.last().unwrap(), "ended complete");
    });
}

#[test]
fn a_value_that_does_not_hold_ends_the_trial_and_what_was_set_before_comes_back() {
    in_each_shell(|place| {
        let good = place.file("good");
        write(&good, "60\n").unwrap();
        for (bad, want) in [
            (
                setting(Path::new("/dev/null"), "7"),
                "ended failed setting /dev/null was to be 7, and after writing it reads  (before it was )".to_owned(),
            ),
            (
                setting(&place.file("absent"), "7"),
                format!("ended failed setting {} cannot be read", place.folder("absent")),
            ),
        ] {
            let mut spec = spec("true");
            spec.settings = vec![setting(&good, "10"), bad];
            let trial = unique("bad");
            place.started(&trial, &spec);
            let events = place.ended(&trial);
            assert_eq!(events[1..], [want], "{place:?}");
            assert_eq!(read_to_string(&good).unwrap(), "60\n");
            // What was never prepared is not restored.
            assert_eq!(place.read(&format!("{trial}/workload.stdout")), "");
        }
    });
}

#[test]
fn what_does_not_take_its_old_value_is_left() {
    in_each_shell(|place| {
        let file = place.file("file");
        write(&file, "60\n").unwrap();
        let folder = quote(&[place.base.path().display().to_string()]);
        // Nobody, not even root, writes a folder.
        let mut spec = spec(&format!("cd {folder}; rm file; mkdir file"));
        spec.settings = vec![setting(&file, "10")];
        let trial = unique("left");
        place.started(&trial, &spec);
        let events = place.ended(&trial);
        let want = format!("left {} could not be put back to 60", file.display());
        assert!(events.contains(&want), "{place:?} {events:?}");
        assert_eq!(events.last().unwrap(), "ended complete");
    });
}
