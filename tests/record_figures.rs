//! A record's figures: which metric, which cells, what is left out and said.

use std::path::Path;

use ktrial::record::{
    Manifest, RawFile, Record, RecordKind, RecordWriter, Replication, State, Trial,
};
use ktrial::series::Cell;

/// A record under way: `free` series and published values of trials.
struct Story {
    writer: RecordWriter,
    manifest: Manifest,
}

impl Story {
    fn begin(dir: &Path) -> Story {
        let mut manifest = Manifest::new("story", RecordKind::Run, Replication::Trial);
        manifest.conditions = vec!["before".into(), "after".into()];
        Story {
            writer: RecordWriter::create(&dir.join("story")).unwrap(),
            manifest,
        }
    }

    fn primary(mut self, metric: &str) -> Story {
        self.manifest.primary = Some(metric.into());
        self
    }

    fn trial(mut self, condition: &str, config: &str, monitor: &str, raw: &str) -> Story {
        let mut trial = Trial::new(
            &format!("t{:02}", self.manifest.trials.len() + 1),
            condition,
        );
        trial.state = State::Complete;
        if !config.is_empty() {
            trial.cell = Cell::from([("config".to_owned(), config.to_owned())]);
        }
        let path = format!("raw/{}/{monitor}.txt", trial.id);
        self.writer.write_raw(&path, raw.as_bytes()).unwrap();
        trial.raw.push(RawFile {
            monitor: monitor.into(),
            path,
        });
        self.manifest.trials.push(trial);
        self
    }

    fn free(self, condition: &str, level: u32) -> Story {
        let samples: String = (0..10).map(|i| format!("{}\n", level + i * 100)).collect();
        self.trial(condition, "", "free", &format!("@ 100.00 1\n{samples}"))
    }

    fn settle(self, condition: &str, config: &str, seconds: f64) -> Story {
        self.trial(
            condition,
            config,
            "figures",
            &format!("settle\ts\t{seconds}\n"),
        )
    }

    /// Changes the last trial.
    fn but(mut self, change: impl FnOnce(&mut Trial)) -> Story {
        change(self.manifest.trials.last_mut().unwrap());
        self
    }

    fn end(self) -> Record {
        self.writer.finish(self.manifest).unwrap()
    }
}

fn memory(dir: &Path) -> Story {
    let story = Story::begin(dir);
    story
        .free("before", 500_000)
        .free("after", 420_000)
        .free("before", 502_000)
        .free("after", 421_000)
}

#[test]
fn without_a_metric_the_primary_ones_series_is_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let record = memory(dir.path()).primary("free.used.peak").end();
    let text = record.figure(None, &Cell::new()).unwrap().to_text(72);
    assert!(text.contains("free.used, MiB"), "{text}");
    assert!(
        text.contains("o before: n = 2 trials, highest 491 MiB (O)"),
        "{text}"
    );
    assert!(
        text.starts_with("free.used: peak of after - before is -78.6 MiB, 95 % interval"),
        "{text}"
    );
}

#[test]
fn a_value_of_each_trial_is_drawn_as_runs() {
    let dir = tempfile::tempdir().unwrap();
    let record = memory(dir.path()).end();
    let text = record
        .figure(Some("free.used.peak"), &Cell::new())
        .unwrap()
        .to_text(72);
    assert!(text.contains("free.used.peak, MiB: every run"), "{text}");
    assert!(text.contains("before (n = 2)"), "{text}");
}

#[test]
fn trials_left_out_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let record = memory(dir.path())
        .free("after", 300_000)
        .but(|trial| trial.state = State::Failed)
        .free("after", 421_000)
        .but(|trial| trial.duplicate_of = Some("t04".into()))
        .end();
    let text = record
        .figure(Some("free.used"), &Cell::new())
        .unwrap()
        .to_text(72);
    assert!(text.contains("x after: n = 2 trials"), "{text}");
    assert!(text.contains("not complete: t05 (failed)."), "{text}");
    assert!(text.contains("figures: t06 (t04)."), "{text}");
}

#[test]
fn when_no_trial_is_complete_the_figure_shows_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let story = Story::begin(dir.path()).free("before", 1000);
    let record = story.but(|trial| trial.state = State::Interrupted).end();
    let text = record
        .figure(Some("free.used"), &Cell::new())
        .unwrap()
        .to_text(72);
    assert!(
        text.contains("No trial is complete: t01 (interrupted)."),
        "{text}"
    );
    assert!(text.contains("n = 1 trial"), "{text}");
}

#[test]
fn cells_are_stacked_or_chosen() {
    let dir = tempfile::tempdir().unwrap();
    let mut story = Story::begin(dir.path());
    for (i, config) in ["debug", "!debug"].into_iter().enumerate() {
        for seconds in [30.0, 31.0, 30.5] {
            let seconds = seconds / (1 + 4 * i) as f64;
            story = story
                .settle("before", config, seconds)
                .settle("after", config, seconds * 0.9);
        }
    }
    let record = story.end();
    let cell = |config: &str| Cell::from([("config".to_owned(), config.to_owned())]);
    let both = record
        .figure(Some("settle"), &Cell::new())
        .unwrap()
        .to_text(72);
    assert!(
        both.contains("(config=debug)") && both.contains("(config=!debug)"),
        "{both}"
    );
    let one = record
        .figure(Some("settle"), &cell("debug"))
        .unwrap()
        .to_text(72);
    assert!(
        one.contains("(config=debug): difference supported"),
        "{one}"
    );
    assert!(!one.contains("!debug"), "{one}");
    let error = record.figure(Some("settle"), &cell("debg")).unwrap_err();
    assert!(
        error.report().contains("did you mean `config=debug`?"),
        "{}",
        error.report()
    );
}

#[test]
fn an_unknown_metric_is_answered_with_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let record = memory(dir.path()).end();
    let error = record.figure(Some("free.usde"), &Cell::new()).unwrap_err();
    assert!(
        error.report().contains("did you mean `free.used`?"),
        "{}",
        error.report()
    );
    let nothing = Story::begin(&dir.path().join("empty")).end();
    for metric in [None, Some("settle")] {
        let error = nothing.figure(metric, &Cell::new()).unwrap_err().report();
        assert!(error.contains("no figures of trials"), "{error}");
        assert!(error.contains("next: see"), "{error}");
    }
    let error = record.figure(None, &Cell::new()).unwrap_err();
    assert!(
        error
            .report()
            .contains("name a metric; there are: free.used,"),
        "{}",
        error.report()
    );
}

#[test]
fn only_monitors_with_samples_are_offered() {
    let dir = tempfile::tempdir().unwrap();
    let story = memory(dir.path());
    let record = story
        .trial("before", "", "workload-stdout", "done\n")
        .settle("before", "", 5.0)
        .end();
    for asked in ["workload-stdout", "workload-stdou"] {
        let error = record.samples(asked).unwrap_err().report();
        assert!(error.contains("next: there are: free"), "{error}");
        assert!(!error.contains("figures"), "{error}");
    }
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let record = memory(dir.path()).primary("free.used.peak").end();
    let ktrial = |command: &str, output: &Path, more: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_ktrial"))
            .args([command, record.dir().to_str().unwrap()])
            .arg("-o")
            .arg(output)
            .args(more)
            .output()
            .unwrap()
    };
    for (command, name, more) in [
        ("plot", "a.svg", &[][..]),
        ("show", "a.csv", &["--table", "trials"][..]),
    ] {
        let output = dir.path().join(name);
        std::fs::write(&output, "mine").unwrap();
        let refused = ktrial(command, &output, more);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(
            said.contains("there already") && said.contains("next: "),
            "{said}"
        );
        assert_eq!(std::fs::read(&output).unwrap(), b"mine");
        let done = ktrial(command, &output, &[more, &["--force"]].concat());
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        assert_ne!(std::fs::read(&output).unwrap(), b"mine");
    }
}
