//! Records that others made badly or with ill intent: what `show`, `compare`, `plot` and `import` say to them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A record of 2 conditions with 3 trials each, `t0` to `t5` in turn, one `series` file a trial.
struct Hostile {
    _keep: tempfile::TempDir,
    dir: PathBuf,
}

impl Hostile {
    /// `change` makes the sound manifest's text another one.
    fn new(change: impl FnOnce(String) -> String) -> Hostile {
        let keep = tempfile::tempdir().unwrap();
        let dir = keep.path().join("record");
        let mut manifest = String::from(
            "schema: 1\nname: r\nkind: run\ncreated: 2026-01-01T00:00:00Z\nmade_by: x\n\
             primary: m.peak\nconditions: [a, b]\nreplication: trial\nstate: complete\ntrials:\n",
        );
        for i in 0..6 {
            let folder = dir.join(format!("raw/t{i}"));
            fs::create_dir_all(&folder).unwrap();
            let text = format!("# metric: m\n# unit: KiB\n# interval: 1 s\n{}\n", 10 + i);
            fs::write(folder.join("s"), text).unwrap();
            let condition = ["a", "b"][i % 2];
            manifest.push_str(&format!(
                "- id: t{i}\n  condition: {condition}\n  state: complete\n  raw:\n  \
                 - monitor: series\n    path: raw/t{i}/s\n"
            ));
        }
        fs::write(dir.join("manifest.yaml"), change(manifest)).unwrap();
        Hostile { _keep: keep, dir }
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.dir.join(path), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_ktrial"))
            .args(arguments)
            .current_dir(self.dir.parent().unwrap())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap(),
            // A report's lines are wrapped; here only the words count.
            String::from_utf8(text)
                .unwrap()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    /// Every command that reads a record ends with the same code and words.
    fn all_say(&self, code: i32, expected: &str) {
        for command in ["show", "compare", "plot"] {
            let (found, text) = self.run(&[command, "record"]);
            assert_eq!(found, code, "{command}: {text}");
            assert!(text.contains(expected), "{command}: {text}");
        }
    }
}

fn pipe(path: PathBuf) {
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn a_sound_record_is_read_by_all() {
    Hostile::new(|manifest| manifest).all_say(0, "peak");
}

#[test]
fn what_does_not_hold_together_is_refused_at_open() {
    for (from, to, expected) in [
        ("schema: 1", "schema: 0", "has schema 0"),
        ("[a, b]", "[a, b, a]", "condition `a` stands twice"),
        ("[a, b]", "[a]", "condition `b`, which is not among"),
        ("id: t1", "id: t0", "trial `t0` stands twice"),
        (
            "raw/t2/s",
            "raw/t0/s",
            "raw file `raw/t0/s` is listed twice",
        ),
        (
            "id: t2",
            "duplicate_of: t1\n  id: t2",
            "`t2` is said to repeat `t1`",
        ),
    ] {
        let record = Hostile::new(|manifest| manifest.replacen(from, to, 1));
        record.all_say(2, expected);
        record.all_say(2, "record/manifest.yaml: ");
        record.all_say(2, "next: restore the manifest");
    }
}

#[test]
fn a_manifest_that_could_grow_without_end_is_refused() {
    let aliases = Hostile::new(|manifest| format!("notes: [&x long, *x, *x]\n{manifest}"));
    aliases.all_say(
        2,
        "manifest.yaml:1:9: YAML anchors and aliases are not used",
    );
    let deep = Hostile::new(|_| "[".repeat(100_000));
    deep.all_say(2, "nested deeper than 8 levels");
    let many = Hostile::new(|manifest| {
        let more: String = (0..100)
            .map(|i| format!("\n  - {{monitor: series, path: raw/{i}}}"))
            .collect();
        manifest.trim_end().to_owned() + &more
    });
    many.all_say(2, "trial `t5` has 101 raw files; at most 100");
}

#[test]
fn a_manifest_that_is_no_regular_file_is_refused() {
    let record = Hostile::new(|manifest| manifest);
    let manifest = record.dir.join("manifest.yaml");
    fs::rename(&manifest, record.dir.join("other.yaml")).unwrap();
    symlink("other.yaml", &manifest).unwrap();
    record.all_say(2, "it is a symbolic link");
    fs::remove_file(&manifest).unwrap();
    pipe(manifest);
    record.all_say(2, "it is not a regular file");
}

#[test]
fn raw_files_do_not_lead_out_of_the_record() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("s"), "1\n").unwrap();
    for folder in [false, true] {
        let record = Hostile::new(|manifest| manifest);
        let file = record.dir.join("raw/t3/s");
        fs::remove_file(&file).unwrap();
        if folder {
            fs::remove_dir(file.parent().unwrap()).unwrap();
            symlink(outside.path(), file.parent().unwrap()).unwrap();
        } else {
            symlink(outside.path().join("s"), &file).unwrap();
        }
        let (code, text) = record.run(&["compare", "record"]);
        assert_eq!(code, 0, "{text}");
        assert!(
            text.contains("t3 (record/raw/t3/s: cannot open the file"),
            "{text}"
        );
        let (code, text) = record.run(&["plot", "record"]);
        assert_eq!(code, 0, "{text}");
        assert!(
            text.contains("Left out, as their files cannot be read: t3."),
            "{text}"
        );
    }
}

#[test]
fn a_named_pipe_is_not_waited_for() {
    let record = Hostile::new(|manifest| manifest);
    fs::remove_file(record.dir.join("raw/t3/s")).unwrap();
    pipe(record.dir.join("raw/t3/s"));
    let (code, text) = record.run(&["compare", "record"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("t3 (record/raw/t3/s: cannot open the file"),
        "{text}"
    );

    pipe(record.dir.with_file_name("pipe"));
    for arguments in [
        &["import", "pipe"][..],
        &["import", "mail", "--about", "pipe"],
    ] {
        let (code, text) = record.run(arguments);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("it is not a regular file"), "{text}");
    }
    let (code, text) = record.run(&["import", "mail", "--about", "/dev/zero"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("it is not a regular file"), "{text}");
}

#[test]
fn a_metric_that_stands_twice_in_a_trial_counts_once() {
    let record = Hostile::new(|manifest| manifest.replace("monitor: series", "monitor: figures"));
    for i in 0..6 {
        record.put(
            &format!("raw/t{i}/s"),
            &format!("m.peak\tKiB\t{}\n", 10 + i).repeat(3),
        );
    }
    let (code, text) = record.run(&["compare", "--format", "json", "record"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.matches("\"n\": 3").count(), 2, "{text}");
    assert!(
        text.contains("`t0` has 3 values, `t2` has 3 values"),
        "{text}"
    );
}

#[test]
fn compare_tells_damaged_and_lost_data() {
    let files = "files:\n- {path: raw/t0/s, bytes: 1, sha256: ff}\n- {path: raw/gone, bytes: 1, sha256: ff}\n";
    let record = Hostile::new(|manifest| manifest + files);
    record.put(
        "raw/t1/s",
        "# metric: m\n# unit: KiB\n# interval: 1 s\n1\nx\n",
    );
    record.put("raw/t2/s", "# metric: m\n# unit: KiB\n# interval: 1 s\n");
    for format in ["text", "json"] {
        let (code, text) = record.run(&["compare", "--format", format, "record"]);
        assert_eq!(code, 0, "{text}");
        for expected in [
            "raw/t0/s: differs; raw/gone: missing",
            "lines were not read: 1 of t1 (raw/t1/s: line 5",
            "they are not compared: t2",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}

#[test]
fn when_nothing_can_be_read_that_is_the_cause_that_is_told() {
    let record = Hostile::new(|manifest| manifest);
    for i in 0..6 {
        record.put(&format!("raw/t{i}/s"), "lost\n");
    }
    let (code, text) = record.run(&["compare", "record"]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("nothing of their raw files could be read"),
        "{text}"
    );
    assert!(text.contains("the notes say what is missing"), "{text}");
}
