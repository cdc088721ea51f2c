//! What a guard reads, checks and takes of a host, in a real shell.

use super::*;
use crate::host::Local;

#[test]
fn what_differs_is_put_back_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (same, changed, gone) = (
        file("same", "always [madvise] never\n"),
        file("it's changed", "60\n"),
        file("gone", "1\n"),
    );
    let files = [&same, &changed, &gone, &folder.path().join("absent")];
    let files = files.map(|path| path.to_str().unwrap().to_owned());
    let text = told(&Local, &reading(&files, None), DEADLINE).unwrap();
    let guard = Guard::said(&text, files.to_vec());
    assert_eq!(guard.files.len(), 3);
    assert_eq!(guard.check(&Local).unwrap(), Found::default());

    std::fs::write(&changed, "10\n\u{1b}[31m").unwrap();
    std::fs::remove_file(&gone).unwrap();
    std::fs::create_dir(&gone).unwrap();
    let Found { notes, left } = guard.check(&Local).unwrap();
    let [one, two] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert!(
        one.ends_with("it's changed was left at 10 \\u{1b}[31m and was put back to 60"),
        "{one}"
    );
    assert!(
        two.ends_with("gone was left at  and could not be put back to 1"),
        "{two}"
    );
    assert_eq!(std::fs::read_to_string(&changed).unwrap(), "60\n");
    assert_eq!(
        std::fs::read_to_string(&same).unwrap(),
        "always [madvise] never\n"
    );
    let left = left.unwrap_or_default();
    assert!(left.ends_with("gone could not be put back to 1"), "{left}");
    assert_eq!(guard.check(&Local).unwrap().notes.len(), 1);
}

#[test]
fn what_a_host_says_beside_its_values_is_not_taken() {
    assert_eq!(
        lines("motd\n0 a\n3 b\n2 c d\nx 1\n", 2),
        [None, Some("c d".into())]
    );
    let held = Held {
        file: "/proc/sys/vm/x".into(),
        value: "1".into(),
    };
    assert_eq!(held.note(Some("lost 2")), None);
    assert_eq!(held.note(Some("back")), None);
    assert_eq!(
        module_note("xfs", "unloaded xfs lost\nunloaded xf back\n"),
        None
    );
}

#[test]
fn values_that_no_script_can_put_back_are_left_alone() {
    let files: Vec<String> = (1..=40).map(|i| format!("/proc/{i}")).collect();
    let long = "'".repeat(VALUE_LENGTH);
    let mut text = format!("1 \0\n2 \u{1b}[31m\n3 \u{fffd}\n4 {long}x\n5 always\n");
    for number in 6..=40 {
        text.push_str(&format!("{number} {long}\n"));
    }
    text.push_str("module xfs\nmodule -r\nmodule $(id)\nmodule a-b\n");
    text.push_str(&"module xfs\n".repeat(2 * MODULES));
    let guard = Guard::said(&text, files);
    assert_eq!(guard.files[0].file, "/proc/5");
    assert!(guard.files.len() > 1);
    assert!(guard.modules.len() == MODULES && guard.modules[1] == "a-b");
    let script = checking(&guard);
    assert!(script.len() < 90 << 10, "{}", script.len());
}

#[test]
fn a_look_that_does_not_come_to_its_end_is_no_look() {
    for script in [
        "echo 1 60",
        "echo done; echo 1 60",
        "kill -s KILL $$; echo done",
    ] {
        let error = told(&Local, script, DEADLINE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostTransient, "{script}");
    }
    let null = Held {
        file: "/dev/null".into(),
        value: String::new(),
    };
    let checking = checking(&Guard {
        files: vec![null],
        modules: Vec::new(),
    });
    assert_eq!(told(&Local, &checking, DEADLINE).unwrap(), "done\n");
}

/// Stand-ins for a kernel's modules: those that a file names are loaded, and `pinned` cannot be unloaded.
const KERNEL: &str = r#"is_loaded() { grep -qx "$1" "$loaded"; }
modprobe() { echo insmod /lib/crc.ko; echo insmod /lib/pinned.ko; echo insmod /lib/here.ko; }
rmmod() {
  case $1 in pinned) echo "in use" >&2; return 1 ;; esac
  grep -vx "$1" "$loaded" >"$loaded.new"; mv "$loaded.new" "$loaded"
}
sleep() { :; }
"#;

#[test]
fn modules_that_a_trial_left_loaded_are_unloaded() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = folder.path().join("loaded");
    let loaded_word = quote(&[loaded.to_str().unwrap().to_owned()]);
    let stand_ins = format!(
        "{}loaded={loaded_word}\n{KERNEL}",
        workload::module::FUNCTIONS
    );
    let real = |script: String| {
        let script = script.replace(workload::module::FUNCTIONS, &stand_ins);
        told(&Local, &script, DEADLINE).unwrap()
    };

    let text = "question: q\nprimary: free.used.peak\nhosts: [h]\nconditions: {a: {}, b: {}}\n\
        workload: {stress-ng: [--module, 1, --module-name, xfs], duration: 3s}\n\
        monitors: {free: {}}\ndesign: {trials: 1}\n";
    let plan = Experiment::parse(text, "e.yaml").unwrap().plan().unwrap();
    let names = workload::modules(&plan.trials[0], &plan.experiment).unwrap();
    std::fs::write(&loaded, "here\nother\n").unwrap();
    let guard = Guard::said(&real(reading(&[], Some(&names))), Vec::new());
    assert_eq!(guard.modules, ["xfs", "pinned", "crc"]);
    assert_eq!(real(checking(&guard)), "done\n");

    std::fs::write(&loaded, "here\nother\nxfs\npinned\ncrc\nbtrfs\n").unwrap();
    let text = real(checking(&guard));
    let notes = guard.modules.iter().map(|name| module_note(name, &text));
    assert_eq!(
        notes.map(Option::unwrap_or_default).collect::<Vec<_>>(),
        [
            "module xfs was left loaded and was unloaded",
            "module pinned was left loaded and could not be unloaded: in use",
            "module crc was left loaded and was unloaded",
        ]
    );
    let left = std::fs::read_to_string(&loaded).unwrap();
    assert_eq!(left, "here\nother\npinned\nbtrfs\n");

    // A module that is loaded already is not the trial's.
    std::fs::write(&loaded, "xfs\n").unwrap();
    let guard = Guard::said(&real(reading(&[], Some(&names))), Vec::new());
    assert_eq!(guard.modules, ["here", "pinned", "crc"]);
}
