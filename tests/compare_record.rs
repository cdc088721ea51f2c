//! `ktrial compare`, `show` and `plot` as people run them on the records in data/.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ktrial::record::Record;
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name)
}

fn ktrial(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = ktrial(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn udev(flags: &[&str]) -> Vec<Value> {
    let record = data("lkml-2023-06-udev-settle");
    let mut arguments = vec!["compare", record.to_str().unwrap(), "--format", "json"];
    arguments.extend(flags);
    let report: Value = serde_json::from_str(&stdout(&arguments)).unwrap();
    assert_eq!(report["schema"], 1);
    report["comparisons"].as_array().unwrap().clone()
}

fn near(what: &str, found: &Value, expected: &Value) {
    let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    assert!(
        (found - expected).abs() <= 1e-9,
        "{what}: {found} instead of {expected}"
    );
}

/// `!debug/settle` -> the comparison of that cell and unit.
fn cell<'a>(comparisons: &'a [Value], name: &str) -> &'a Value {
    let (config, unit) = name.split_once('/').unwrap();
    comparisons
        .iter()
        .find(|c| {
            let metric = c["metric"].as_str().unwrap();
            c["cell"]["config"] == config
                && (metric == format!("systemd-udev-{unit}.service")
                    || metric == format!("systemd-{unit}.service"))
        })
        .unwrap_or_else(|| panic!("no comparison for {name}"))
}

#[test]
fn the_boot_times_as_posted_give_the_published_comparisons() {
    let comparisons = udev(&["--keep-duplicates"]);
    let expected: Value = serde_json::from_str(include_str!("data/udev-expected.json")).unwrap();
    let cells = expected["cells"].as_object().unwrap();
    assert_eq!((cells.len(), comparisons.len()), (6, 6));
    for (name, want) in cells {
        let c = cell(&comparisons, name);
        assert_eq!(c["unit"], "s");
        assert_eq!(
            (&c["condition_a"], &c["condition_b"]),
            (&"master".into(), &"patched".into())
        );
        assert_eq!(c["a"]["values"], want["before_s"], "{name}");
        assert_eq!(c["b"]["values"], want["after_s"], "{name}");
        for (found, wanted) in [
            (&c["a"]["mean"], "mean_a"),
            (&c["b"]["mean"], "mean_b"),
            (&c["a"]["median"], "med_a"),
            (&c["b"]["median"], "med_b"),
            (&c["a"]["sd"], "sd_a"),
            (&c["b"]["sd"], "sd_b"),
            (&c["difference"], "diff"),
            (&c["p"], "p_welch"),
            (&c["p_permutation"], "p_perm"),
            (&c["p_adjusted"], "holm_welch"),
            (&c["cliffs_delta"], "cliff"),
            (&c["hedges_g"], "g"),
            (&c["hodges_lehmann"]["shift"], "hl"),
        ] {
            near(&format!("{name} {wanted}"), found, &want[wanted]);
        }
        let percent = (c["ratio"].as_f64().unwrap() - 1.0) * 100.0;
        near(&format!("{name} pct"), &percent.into(), &want["pct"]);
        for i in 0..2 {
            near(name, &c["difference_ci"][i], &want["ci"][i]);
        }
        for (i, end) in ["low", "high", "coverage"].into_iter().enumerate() {
            near(name, &c["hodges_lehmann"][end], &want["hl_ci"][i]);
        }
    }
}

#[test]
fn under_exact_the_permutation_p_is_adjusted() {
    let comparisons = udev(&["--keep-duplicates", "--assume", "exact"]);
    let expected: Value = serde_json::from_str(include_str!("data/udev-expected.json")).unwrap();
    for (name, want) in expected["cells"].as_object().unwrap() {
        let c = cell(&comparisons, name);
        assert_eq!(c["p_method"], "permutation-exact");
        near(name, &c["p"], &want["p_perm"]);
        near(name, &c["p_adjusted"], &want["holm_perm"]);
        assert_ne!(c["verdict"], "supported");
    }
}

#[test]
fn the_boot_posted_twice_counts_once_and_is_named() {
    let comparisons = udev(&[]);
    let settle = cell(&comparisons, "!debug/settle");
    assert_eq!(
        (&settle["a"]["n"], &settle["b"]["n"]),
        (&4.into(), &3.into())
    );
    let rounded = |value: &Value, digits: i32| {
        let scale = 10f64.powi(digits);
        (value.as_f64().unwrap() * scale).round() / scale
    };
    assert_eq!(rounded(&settle["ratio"], 4), 1.0 - 0.1883);
    assert_eq!(rounded(&settle["difference_ci"][0], 3), -1.630);
    assert_eq!(rounded(&settle["difference_ci"][1], 3), -0.539);
    assert_eq!(rounded(&settle["p"], 4), 0.0072);
    assert_eq!(settle["verdict"], "supported");
    let warnings = settle["warnings"].to_string();
    assert!(warnings.contains("`t06` repeats `t05`"), "{warnings}");
    let supported = comparisons.iter().filter(|c| c["verdict"] == "supported");
    assert_eq!(supported.count(), 1);
}

#[test]
fn the_text_fits_a_mail() {
    for name in ["lkml-2023-06-udev-settle", "lkml-2023-03-kmod-0008"] {
        let text = stdout(&["compare", data(name).to_str().unwrap()]);
        for line in text.lines() {
            assert!(line.is_ascii() && line.len() <= 72, "{line}");
        }
    }
}

#[test]
fn the_seed_series_differ_by_their_start() {
    let record = data("lkml-2023-03-kmod-0008");
    let file = |path: &str| record.join(path).to_str().unwrap().to_owned();
    let files = stdout(&[
        "compare",
        "--series",
        &file("raw/t01/log-0008-before.txt"),
        &file("raw/t02/log-0008-after.txt"),
    ]);
    let whole = stdout(&["compare", record.to_str().unwrap()]);
    for text in [files, whole] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for needed in [
            "memory.used.peak 84.2 MiB lower",
            "n = 1 + 1",
            "cannot be shown with this n",
            "the gap already stands in the first sample: 79.1 MiB there",
            "a difference of samples may be off by up to 8.79 MiB",
            "independent ones (lag-1 autocorrelation",
        ] {
            assert!(text.contains(needed), "`{needed}` is not in: {text}");
        }
    }
}

#[test]
fn options_of_files_are_refused_with_a_record() {
    let record = data("lkml-2023-06-udev-settle");
    let record = record.to_str().unwrap();
    for options in [&["--series"][..], &["--runs"], &["--unit", "s"]] {
        let output = ktrial(&[&["compare", record][..], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        let option = options[0];
        assert!(
            error.contains(&format!("{option} is for two files")),
            "{error}"
        );
    }
}

#[test]
fn claims_cannot_be_compared_and_are_shown() {
    let output = ktrial(&[
        "compare",
        data("lkml-2024-06-static-keys").to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("time.real -4.3 % (n = 3, no interval)"),
        "{text}"
    );
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("nothing to compare"), "{error}");
}

#[test]
fn an_unknown_metric_is_answered_with_the_nearest() {
    let record = data("lkml-2023-06-udev-settle");
    let output = ktrial(&[
        "compare",
        record.to_str().unwrap(),
        "--metric",
        "systemd-udev-setle.service",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("did you mean `systemd-udev-settle.service`"),
        "{error}"
    );
}

#[test]
fn the_tables_hold_what_the_record_holds() {
    let record = Record::open(data("lkml-2023-06-udev-settle")).unwrap();
    let trials = record.trials().unwrap();
    assert_eq!(trials.height(), 16);
    let summaries = record.summary_table().unwrap();
    assert_eq!(summaries.height(), 16 * 3);
    let values = summaries.numbers("value").unwrap();
    assert_eq!(values[0], Some(5.672));
    let comparisons = record.compare().unwrap().table().unwrap();
    assert_eq!(comparisons.height(), 6);
    assert!(record.samples("meminfo").is_err());

    let series = Record::open(data("lkml-2023-03-kmod-0008")).unwrap();
    let samples = series.samples("series").unwrap();
    let names = samples.frame().get_column_names_owned();
    assert_eq!(names[..3], ["time_s", "trial", "condition"]);
    assert_eq!(samples.unit("memory.used").symbol(), "KiB");
    let used = samples.numbers("memory.used").unwrap();
    assert!(used.contains(&Some(528732.0)));
}

#[test]
fn tables_are_written_once_as_csv_and_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let record = data("lkml-2023-06-udev-settle");
    let record = record.to_str().unwrap();
    for ending in ["csv", "parquet"] {
        let path = folder.path().join(format!("t.{ending}"));
        let arguments = [
            "show",
            record,
            "--table",
            "summaries",
            "-o",
            path.to_str().unwrap(),
        ];
        stdout(&arguments);
        assert!(path.metadata().unwrap().len() > 100);
        assert!(!ktrial(&arguments).status.success(), "overwrote {path:?}");
    }
    let csv = std::fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(csv.starts_with("trial,condition,config,boot_id,metric,unit,value,duplicate_of\n"));
    assert!(
        csv.contains("t06,patched,!debug,,systemd-udev-settle.service,s,4.652,t05"),
        "{csv}"
    );
    let wrong = ktrial(&["show", record, "--table", "trials", "-o", "x.xlsx"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_record_is_shown_with_its_source_and_duplicates() {
    let text = stdout(&["show", data("lkml-2023-06-udev-settle").to_str().unwrap()]);
    for needed in [
        "David Hildenbrand, 2023-06-02",
        "repeats t05",
        "config=debug",
    ] {
        assert!(text.contains(needed), "{text}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let record = data("lkml-2023-06-udev-settle");
    let script = format!(
        "'{}' show '{}' | head -n 1; exit \"${{PIPESTATUS[0]}}\"",
        env!("CARGO_BIN_EXE_ktrial"),
        record.display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(output.status.success());
}

/// A run of two metrics: the primary one, and one that is not of its series.
fn run_of_two_metrics(folder: &Path) -> PathBuf {
    use ktrial::record::{Manifest, RawFile, RecordKind, RecordWriter, Replication, State, Trial};
    let path = folder.join("r");
    let mut writer = RecordWriter::create(&path).unwrap();
    let mut manifest = Manifest::new("r", RecordKind::Run, Replication::Trial);
    manifest.primary = Some("x.peak".into());
    manifest.conditions = vec!["before".into(), "after".into()];
    for (i, condition) in ["before", "after", "after", "before"].iter().enumerate() {
        let mut trial = Trial::new(&format!("t0{i}"), condition);
        trial.state = State::Complete;
        let raw = format!("raw/t0{i}/figures.tsv");
        let figures = format!("x.peak\ts\t{}\ny.peak\ts\t{}\n", i + 1, i + 2);
        writer.write_raw(&raw, figures.as_bytes()).unwrap();
        trial.raw.push(RawFile {
            monitor: "figures".into(),
            path: raw,
        });
        manifest.trials.push(trial);
    }
    manifest.trials.push(Trial::new("t09", "before"));
    manifest.trials[4].state = State::Failed;
    manifest.trials[4].reason = Some("the host went away".into());
    writer.finish(manifest).unwrap();
    path
}

#[test]
fn json_holds_every_comparison_and_the_text_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let record = run_of_two_metrics(folder.path());
    let record = record.to_str().unwrap();
    let count = |flags: &[&str]| {
        let arguments = [&["compare", record, "--format", "json"], flags].concat();
        let report: Value = serde_json::from_str(&stdout(&arguments)).unwrap();
        report["comparisons"].as_array().unwrap().len()
    };
    assert_eq!((count(&[]), count(&["--metric", "y.peak"])), (2, 1));
    let text = stdout(&["compare", record]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("1 further comparison is not shown, 0 supported: `ktrial show RECORD --table comparisons`"),
        "{text}"
    );
    assert!(text.contains("* primary metric"), "{text}");
}

#[test]
fn show_gives_a_failures_reason_once() {
    let folder = tempfile::tempdir().unwrap();
    let record = run_of_two_metrics(folder.path());
    let text = stdout(&["show", record.to_str().unwrap()]);
    assert_eq!(text.matches("the host went away").count(), 1, "{text}");
}
