//! A record as the agent samples it: changes only, missed samples, a second monitor, the agent's own account.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use ktrial::compare::{Choice, Options};
use ktrial::record::{
    Manifest, RawFile, Record, RecordKind, RecordWriter, Replication, State, Trial,
};
use ktrial::series::Cell;

/// `/proc/meminfo` at 1 kHz from 9 s on: the first sample whole, one field changes in each of the others.
fn meminfo(level: u64, samples: u64, missed: u64) -> String {
    let mut text = format!(
        "@ 9.000000\nMemTotal: 900000 kB\nMemFree: 300000 kB\nMemAvailable: {level} kB\nCached: 9 kB\n\
         AnonPages: 7 kB\nSlab: 2 kB\n"
    );
    for i in 1..samples {
        let (second, milli) = (9 + i / 1000, i % 1000);
        writeln!(
            text,
            "+ {second}.{milli:03}000\nMemAvailable: {} kB",
            level - i % 50
        )
        .unwrap();
    }
    if missed > 0 {
        writeln!(text, "! 99.000000 {missed}").unwrap();
    }
    text
}

fn vmstat(faults: u64) -> String {
    format!(
        "@ 9.900000\nnr_free_pages 70000\npgfault 5000\n+ 10.500000\npgfault {}\n",
        5000 + faults
    )
}

fn agent() -> String {
    let block = |second: u64| {
        let cpu_us = second * 10_000;
        format!("@ {second}.0\ncpu_us: {cpu_us}\nrss_kib: 900\nsamples: 9\nmissed: 0\n")
    };
    (9..14).map(block).collect()
}

fn record(dir: &Path, missed: u64) -> Record {
    let mut manifest = Manifest::new("sampled", RecordKind::Run, Replication::Trial);
    manifest.conditions = vec!["before".into(), "after".into()];
    manifest.primary = Some("memory.used.peak".into());
    let mut writer = RecordWriter::create(&dir.join("sampled")).unwrap();
    for number in 1..=8 {
        let after = number % 2 == 0;
        let condition = if after { "after" } else { "before" };
        let mut trial = Trial::new(&format!("t{number:02}"), condition);
        trial.state = State::Complete;
        trial.start_boottime_s = Some(10.0);
        let level = 400_000 + number + if after { 1000 } else { 0 };
        let missed = if number == 3 { missed } else { 0 };
        for (monitor, text) in [
            ("meminfo", meminfo(level, 2000, missed)),
            ("vmstat", vmstat(100 + number)),
            ("agent", agent()),
        ] {
            let path = format!("raw/{}/{monitor}.txt", trial.id);
            writer.write_raw(&path, text.as_bytes()).unwrap();
            trial.raw.push(RawFile {
                monitor: monitor.into(),
                path,
            });
        }
        manifest.trials.push(trial);
    }
    writer.finish(manifest).unwrap()
}

fn show(record: &Record, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .arg("show")
        .arg(record.dir())
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_monitor_is_a_wide_table_and_a_figure() {
    let dir = tempfile::tempdir().unwrap();
    let record = record(dir.path(), 0);
    let table = record.samples("meminfo").unwrap();
    assert_eq!(table.height(), 8 * 2000);
    let used = table.numbers("memory.used").unwrap();
    // t01 has 400,001 KiB available, 49 less at the most.
    assert_eq!(used[..2], [Some(499_999.0), Some(500_000.0)]);
    assert_eq!(used[49], Some(500_048.0));

    let table = record.samples("vmstat").unwrap();
    assert_eq!(
        table.numbers("vmstat.pgfault").unwrap()[..2],
        [Some(0.0), Some(101.0)]
    );
    assert_eq!(table.unit("vmstat.nr_free_pages").symbol(), "pages");

    let table = record.samples("agent").unwrap();
    assert_eq!(table.numbers("agent.cpu").unwrap()[..4], [Some(1.0); 4]);
    assert_eq!(table.numbers("agent.memory").unwrap()[0], Some(900.0));
    assert_eq!(table.numbers("time_s").unwrap()[0], Some(0.0));
    assert!(show(&record, &["--table", "samples:agent"]).contains("agent.missed"));
    for metric in ["memory.used", "vmstat.pgfault", "agent.cpu"] {
        record.figure(Some(metric), &Cell::new()).unwrap();
    }
}

#[test]
fn what_measuring_took_is_compared_only_when_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let record = record(dir.path(), 0);
    let metrics = |record: &Record, also: &[String]| -> Vec<String> {
        let choice = Choice {
            also,
            ..Choice::default()
        };
        let all = record.compare_with(&Options::default(), &choice).unwrap();
        all.iter().map(|c| c.metric.clone()).collect()
    };
    let usual = metrics(&record, &[]);
    assert_eq!(usual[0], "memory.used.peak");
    assert!(
        usual.iter().any(|m| m == "vmstat.pgfault.peak"),
        "{usual:?}"
    );
    assert!(
        !usual.iter().any(|m| m == "vmstat.pgfault.median"),
        "{usual:?}"
    );
    assert!(!usual.iter().any(|m| m.starts_with("agent.")), "{usual:?}");
    let asked = metrics(&record, &["agent.cpu".to_owned()]);
    assert_eq!(asked.iter().filter(|m| m.starts_with("agent.")).count(), 4);
    assert!(
        !asked.iter().any(|m| m.starts_with("agent.memory")),
        "{asked:?}"
    );
}

#[test]
fn missed_samples_are_shown_and_many_are_a_warning() {
    let warning = |record: &Record| {
        let all = record.compare().unwrap();
        let all = all
            .iter()
            .flat_map(|c| c.warnings.iter().map(|w| (c.primary, w.clone())));
        let mut found = all.filter(|(_, warning)| warning.contains("due and not taken"));
        let first = found.next();
        assert_eq!(found.next(), None, "the primary metric says it, no other");
        first
    };
    // 20 of 2020 are less than 1 %, 21 of 2021 are more.
    let dir = tempfile::tempdir().unwrap();
    let few = record(dir.path(), 20);
    assert_eq!(warning(&few), None);
    assert!(show(&few, &[]).contains("warning: t03: monitor meminfo missed 20 of 2020 samples\n"));

    let dir = tempfile::tempdir().unwrap();
    let many = record(dir.path(), 21);
    let (primary, text) = warning(&many).unwrap();
    assert!(
        primary && text.contains("in `before`") && text.contains("`t03` by 1.0 %"),
        "{text}"
    );

    let dir = tempfile::tempdir().unwrap();
    let none = show(&record(dir.path(), 0), &[]);
    assert!(
        !none.contains("missed") && !none.contains("warning"),
        "{none}"
    );
}
