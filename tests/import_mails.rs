//! `ktrial import` on made-up mails, and the records that are kept under data/.

use std::path::{Path, PathBuf};
use std::process::Command;

use ktrial::parse::{blame, figures, series_file};
use ktrial::record::{Record, Replication};
use ktrial::series::Value;
use ktrial::unit::Unit;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// One `ktrial import` into a folder of its own.
struct Import {
    folder: tempfile::TempDir,
    command: Command,
}

impl Import {
    fn of(mail: impl AsRef<Path>) -> Import {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ktrial"));
        command
            .arg("import")
            .arg(project("tests/data/mails").join(mail))
            .arg("-o")
            .arg(folder.path().join("record"));
        Import { folder, command }
    }

    /// A mail with this text.
    fn of_text(text: &[u8]) -> Import {
        let mut import = Import::of("none");
        let mail = import.folder.path().join("mail.txt");
        std::fs::write(&mail, text).unwrap();
        let output = import.folder.path().join("record");
        import.command = Command::new(env!("CARGO_BIN_EXE_ktrial"));
        import.command.arg("import").arg(mail).arg("-o").arg(output);
        import
    }

    fn with(mut self, arguments: &[&str]) -> Import {
        self.command.args(arguments);
        self
    }

    fn about(mut self, file: &str) -> Import {
        self.command
            .arg("--about")
            .arg(project("tests/data/mails").join(file));
        self
    }

    /// Runs it; gives the record and what was printed.
    fn works(mut self) -> (tempfile::TempDir, Record, String) {
        let output = self.command.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        let record = Record::open(self.folder.path().join("record")).unwrap();
        assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
        (self.folder, record, printed)
    }

    /// Runs it; gives the message. Nothing may be left behind.
    fn refused(mut self) -> String {
        let output = self.command.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(!self.folder.path().join("record").exists());
        assert!(!errors.contains('\u{1b}'), "{errors:?}");
        errors
    }
}

fn units(record: &Record, trial: usize) -> Vec<(String, f64)> {
    let raw = &record.manifest().trials[trial].raw[0];
    assert_eq!(raw.monitor, "systemd-analyze-blame");
    let parsed = blame::parse(&record.read_raw(raw).unwrap());
    assert_eq!(parsed.unread_count, 0);
    let pair = |v: Value| (v.metric, v.value);
    parsed.values.into_iter().map(pair).collect()
}

/// The numbers of a series file.
fn numbers(record: &Record, trial: usize) -> Vec<f64> {
    let raw = &record.manifest().trials[trial].raw[0];
    assert_eq!(raw.monitor, "series");
    let parsed = series_file::parse(&record.read_raw(raw).unwrap());
    assert_eq!(parsed.unread_count, 0);
    parsed.series[0].values.clone()
}

#[test]
fn boots_under_headings_become_trials() {
    let (_keep, record, printed) = Import::of("boots.txt")
        .with(&["--parameter", "size"])
        .works();
    let manifest = record.manifest();
    assert_eq!(manifest.conditions, ["old", "new"]);
    assert_eq!(manifest.replication, Replication::Boot);

    let arms: Vec<_> = manifest
        .trials
        .iter()
        .map(|t| format!("{} {} {}", t.id, t.condition, t.cell["size"]))
        .collect();
    assert_eq!(
        arms,
        [
            "t01 old small machine",
            "t02 old small machine",
            "t03 new small machine",
            "t04 new small machine",
            "t05 new small machine",
            "t06 old big machine",
            "t07 new big machine",
        ]
    );
    let expected = [("dev-sda.device", 62.045), ("probe.service", 0.41)];
    assert_eq!(units(&record, 0), expected.map(|(u, s)| (u.to_owned(), s)));

    // t06 and t07 agree as well, but are of different conditions.
    let duplicates: Vec<_> = manifest
        .trials
        .iter()
        .filter_map(|t| Some((t.id.as_str(), t.duplicate_of.as_deref()?)))
        .collect();
    assert_eq!(duplicates, [("t05", "t03")]);
    assert!(
        printed.contains("t05: equal to t03 in all 2 units"),
        "{printed}"
    );
    assert!(
        printed.contains("2 lines with times stand in quotes"),
        "{printed}"
    );
}

#[test]
fn the_header_says_where_figures_come_from() {
    let (_keep, record, _) = Import::of("boots.txt")
        .with(&["--parameter", "size", "--list", "example"])
        .works();
    let source = record.manifest().source.clone().unwrap();
    assert_eq!(source.author, "Ada Example");
    assert_eq!(source.date.as_deref(), Some("2021-05-04"));
    assert_eq!(
        source.list.as_deref(),
        Some("example"),
        "options go before the header"
    );
    assert_eq!(
        source.subject.as_deref(),
        Some("Re: [PATCH] example: probe disks later")
    );
    assert_eq!(
        source.message.as_deref(),
        Some("20210504-boots@example.org")
    );
}

#[test]
fn two_levels_of_headings_need_a_parameter() {
    let message = Import::of("boots.txt").refused();
    assert!(
        message.contains("boots.txt:24: boots stand under two levels"),
        "{message}"
    );
    assert!(message.contains("--parameter"), "{message}");
}

/// What the plots of plots.txt were drawn from.
const OLD: [f64; 30] = [
    60120.0, 62054.0, 66794.0, 65694.0, 69445.0, 69740.0, 69119.0, 72101.0, 70338.0, 72789.0,
    71346.0, 71750.0, 73660.0, 75864.0, 72503.0, 73123.0, 75243.0, 76923.0, 75133.0, 74281.0,
    77219.0, 72603.0, 76689.0, 73865.0, 73155.0, 73036.0, 74000.0, 76546.0, 73376.0, 75386.0,
];
const NEW: [f64; 30] = [
    58694.0, 59161.0, 61298.0, 59755.0, 60357.0, 61521.0, 64196.0, 63143.0, 62724.0, 64185.0,
    63596.0, 62880.0, 65388.0, 64936.0, 62679.0, 64343.0, 64106.0, 65861.0, 65137.0, 62932.0,
    66396.0, 62086.0, 63588.0, 65284.0, 62258.0, 63944.0, 61695.0, 64840.0, 65322.0, 64364.0,
];

#[test]
fn plots_come_back_within_their_quantum() {
    let (_keep, record, _) = Import::of("plots.txt").about("plots.about.yaml").works();
    let manifest = record.manifest();
    assert_eq!(manifest.conditions, ["old", "new"]);
    let quantum = 40000.0 / 20.0;
    for (trial, drawn) in [OLD, NEW].iter().enumerate() {
        let read = numbers(&record, trial);
        // The first sample lies behind the frame.
        assert_eq!(read.len(), 29);
        let peak = drawn.iter().copied().fold(0.0, f64::max);
        assert_eq!(read.iter().copied().fold(0.0, f64::max), peak);
        for (read, drawn) in read.iter().zip(&drawn[1..]) {
            let width = if *read == peak {
                quantum
            } else {
                quantum / 2.0
            };
            assert!((read - drawn).abs() <= width, "{read} {drawn}");
        }
    }
    let figures_file = &manifest.trials[1].raw[1];
    assert_eq!(figures_file.monitor, "figures");
    let peak = Value {
        metric: "cache.used.peak".into(),
        unit: Unit::KiB,
        value: 66396.0,
    };
    let parsed = figures::parse(&record.read_raw(figures_file).unwrap());
    assert_eq!(parsed.values, [peak]);
    assert_eq!(manifest.trials[1].raw[0].path, "raw/t02/cache-7-new.txt");
}

#[test]
fn a_peak_that_does_not_fit_its_plot_refused() {
    let text = std::fs::read_to_string(project("tests/data/mails/plots.txt")).unwrap();
    let message = Import::of_text(text.replace("66396", "76396").as_bytes())
        .about("plots.about.yaml")
        .refused();
    assert!(message.contains("published peak 76396"), "{message}");
}

#[test]
fn plots_need_to_be_explained() {
    let message = Import::of("plots.txt")
        .with(&["--author", "Ada Example"])
        .refused();
    assert!(message.contains("holds 2 plots"), "{message}");
    assert!(message.contains("series: {metric:"), "{message}");
}

#[test]
fn claims_are_checked_against_the_mail() {
    let (_keep, record, _) = Import::of("prose.txt").about("prose.about.yaml").works();
    let claims = &record.manifest().claims;
    assert_eq!((claims[0].value, claims[0].n), (-6.5, Some(5)));
    assert_eq!((claims[1].value, claims[1].n), (-12.25, None));

    let message = Import::of("boots.txt")
        .with(&["--kind", "claims"])
        .about("prose.about.yaml")
        .refused();
    assert!(message.contains("does not say `6.5 %`"), "{message}");
}

#[test]
fn a_mail_without_figures_says_what_was_looked_for() {
    let message = Import::of("prose.txt").refused();
    assert!(message.contains("systemd-analyze blame"), "{message}");
    assert!(message.contains("set term dumb"), "{message}");
    assert!(message.contains("6.5 %, 12.25 MiB;"), "{message}");
}

#[test]
fn bad_mails_are_refused() {
    let author: &[&str] = &["--author", "A"];
    for (text, expected) in [
        (&b""[..], "is empty"),
        (b"\xff\xfe\x00\x1b[31m", "nothing found"),
        (b"hello\n1s a.service\n", "under no heading"),
        (
            b"From: A <a@b>\nDate: Tue, 4 May 2021 23:30:00 -0700\nContent-Transfer-Encoding: quoted-printable\n\nx=3D1\n",
            "decode it first",
        ),
    ] {
        let message = Import::of_text(text).with(author).refused();
        assert!(message.contains(expected), "{message}");
    }
    let message = Import::of_text(b"a:\n1s a.service\n").refused();
    assert!(message.contains("--author"), "{message}");
    let message = Import::of("boots.txt")
        .with(&["--parameter", "size", "--date", "yesterday"])
        .refused();
    assert!(message.contains("YYYY-MM-DD"), "{message}");
    let message = Import::of(".").with(author).refused();
    assert!(message.contains("cannot read the mail"), "{message}");
}

#[test]
fn a_mail_larger_than_the_bound_refused() {
    let message = Import::of_text(&vec![b'\n'; (16 << 20) + 1]).refused();
    assert!(message.contains("larger than 16 MiB"), "{message}");
}

#[test]
fn a_record_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    std::fs::create_dir(&record).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .arg("import")
        .arg(project("tests/data/mails/prose.txt"))
        .arg("--about")
        .arg(project("tests/data/mails/prose.about.yaml"))
        .arg("-o")
        .arg(&record)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(&record).unwrap().count(), 0);
}

fn kept(name: &str) -> Record {
    let record = Record::open(project("data").join(name)).unwrap();
    assert_eq!(record.manifest().name, name);
    assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
    record
}

#[test]
fn the_kept_boots_are_four_arms_of_four_boots_of_three_units() {
    let record = kept("lkml-2023-06-udev-settle");
    let trials = &record.manifest().trials;
    assert_eq!(trials.len(), 16);
    for condition in ["master", "patched"] {
        for config in ["debug", "!debug"] {
            let boots = trials
                .iter()
                .filter(|t| t.condition == condition && t.cell["config"] == config);
            assert_eq!(boots.count(), 4, "{condition} {config}");
        }
    }
    for trial in 0..16 {
        assert_eq!(units(&record, trial).len(), 3);
    }
    let duplicates: Vec<_> = trials
        .iter()
        .filter_map(|t| Some((t.id.as_str(), t.duplicate_of.as_deref()?)))
        .collect();
    assert_eq!(duplicates, [("t06", "t05")]);
    assert_eq!(trials[4].cell["config"], "!debug");
    assert_eq!(trials[4].condition, "patched");
    let settle: Vec<f64> = (0..4).map(|t| units(&record, t)[0].1).collect();
    assert_eq!(settle, [5.672, 5.418, 5.707, 6.25]);
}

#[test]
fn the_kept_series_differ_by_the_published_peaks() {
    let record = kept("lkml-2023-03-kmod-0008");
    let (before, after) = (numbers(&record, 0), numbers(&record, 1));
    assert_eq!((before.len(), after.len()), (39, 39));
    let peak = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    assert_eq!((peak(&before), peak(&after)), (528732.0, 442516.0));
    // The gap is there in the first sample that can be told: 79 MiB, give or take a row.
    assert_eq!(before[0] - after[0], 81000.0);
    let paths: Vec<_> = record
        .manifest()
        .files
        .iter()
        .map(|f| f.path.as_str())
        .collect();
    assert!(paths.contains(&"raw/t01/log-0008-before.txt"), "{paths:?}");
    assert!(paths.contains(&"raw/t02/log-0008-after.txt"), "{paths:?}");
}

#[test]
fn the_kept_claims_are_as_published() {
    let claims = |name: &str| -> Vec<(f64, String, Option<u32>)> {
        let record = kept(name);
        let claims = record.manifest().claims.iter();
        claims.map(|c| (c.value, c.unit.to_string(), c.n)).collect()
    };
    let mib = |value| (value, "MiB".to_owned(), None);
    assert_eq!(
        claims("lkml-2023-03-stress-ng-module"),
        [mib(-145.0), mib(-2.0)]
    );
    let percent = |value, n| (value, "%".to_owned(), n);
    assert_eq!(
        claims("lkml-2024-06-static-keys"),
        [percent(-4.3, Some(3)), percent(-10.5, None)]
    );
}
