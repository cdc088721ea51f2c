//! Records of boots as people look at them.

use std::path::Path;
use std::process::Command;

use ktrial::record::{RawFile, Record, RecordKind, RecordWriter, Replication, State, Trial};

fn ktrial(arguments: &[&str]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// A record of two boots a condition, with this metric named before the run.
fn record(dir: &Path, primary: &str) -> Record {
    let mut writer = RecordWriter::create(dir).unwrap();
    let mut manifest = ktrial::record::Manifest::new("boots", RecordKind::Run, Replication::Boot);
    manifest.conditions = vec!["before".into(), "after".into()];
    manifest.primary = Some(primary.into());
    for (number, condition) in ["before", "after", "after", "before"].iter().enumerate() {
        let mut trial = Trial::new(&format!("t{number}"), condition);
        trial.state = State::Complete;
        let path = format!("raw/t{number}/blame.txt");
        let list = format!("{number}.5s a.service\n1s b.service\n");
        writer.write_raw(&path, list.as_bytes()).unwrap();
        let monitor = "systemd-analyze-blame".into();
        trial.raw.push(RawFile { monitor, path });
        manifest.trials.push(trial);
    }
    writer.finish(manifest).unwrap()
}

#[test]
fn published_boots_have_a_row_each_unit() {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/lkml-2023-06-udev-settle");
    let (table, _) = ktrial(&["show", record.to_str().unwrap(), "--table", "boots"]);
    let first = table.lines().nth(3).unwrap();
    let words: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(
        words,
        [
            "t01",
            "master",
            "!debug",
            "systemd-udev-settle.service",
            "5.672"
        ]
    );
    assert!(table.contains("48 rows"), "{table}");
}

#[test]
fn a_record_that_names_units_has_those_in_each_boot() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("r");
    let boots = record(&dir, "a.service").boots().unwrap();
    let times = boots.numbers("time_s").unwrap();
    assert_eq!(times, [Some(0.5), Some(1.5), Some(2.5), Some(3.5)]);
}

#[test]
fn a_primary_metric_that_no_trial_has_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("r");
    let times = record(&dir, "gone.service").boots().unwrap();
    assert_eq!(times.numbers("time_s").unwrap(), [None; 4]);
    let (report, _) = ktrial(&["compare", dir.to_str().unwrap()]);
    assert!(
        report.contains("the primary metric gone.service is missing"),
        "{report}"
    );

    let dir = folder.path().join("s");
    record(&dir, "a.service");
    let (report, _) = ktrial(&["compare", dir.to_str().unwrap()]);
    assert!(!report.contains("is missing"), "{report}");
}
