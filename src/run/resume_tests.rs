//! Stories of runs that ended early and are gone on with.

use std::fs;
use std::path::{Path, PathBuf};

use super::resume::resume_by;
use super::story::{
    FOLLOW, SAMPLE, Story, Told, bad, good, interrupted, raw, reason, states, ways,
};
use super::*;
use crate::experiment::Experiment;
use crate::host::scripted::{Play, ScriptedHost, Step};
use crate::record::{Manifest, OnHost, RecordWriter, Replication};

const YAML: &str = "question: Does it go on?\nprimary: memory.used.peak\nhosts: [alpha]\n\
    conditions: {before: {}, after: {}}\nworkload: {command: ['true'], duration: 5s}\n\
    idle: 2s\nsettle: 1s\nmonitors: {meminfo: {every: 1s}}\ndesign: {trials: 2}\n";

fn plan() -> Plan {
    let experiment = Experiment::parse(YAML, "story.yaml").unwrap();
    experiment.plan().unwrap()
}

/// A run whose workloads went so, and its record.
fn ran(plays: impl IntoIterator<Item = Play>) -> (Story, Record) {
    let story = Story::on(&["alpha"]).trials(plays);
    let record = story.try_run(&plan(), &Silent).unwrap();
    (story, record)
}

/// The same record's next story.
fn then(before: Story, plays: impl IntoIterator<Item = Play>) -> Story {
    Story {
        folder: before.folder,
        ..Story::on(&["alpha"]).trials(plays)
    }
}

fn try_resume(story: &Story, dir: &Path) -> Result<Record> {
    let connect = |name: &str| -> Result<Box<dyn Host>> {
        let host = story.hosts.iter().find(|h| h.name() == name);
        Ok(Box::new(host.expect(name).clone()))
    };
    resume_by(&story.clock, dir, &ways(&connect), &story.cancel, &Silent)
}

fn resume(story: &Story, record: &Record) -> Record {
    let resumed = try_resume(story, &record.dir()).unwrap();
    assert_eq!(resumed.check_files().unwrap(), Vec::<String>::new());
    assert_eq!(Record::open(record.dir()).unwrap(), resumed);
    resumed
}

fn workloads(story: &Story) -> usize {
    let log = story.hosts[0].log();
    log.iter().filter(|l| *l == "# start the trial").count()
}

fn files(record: &Record) -> Vec<String> {
    let files = &record.manifest().files;
    files.iter().map(|f| f.path.clone()).collect()
}

/// Puts the record into the state in which a killed ktrial leaves it.
fn killed(record: &Record, change: impl FnOnce(&mut Manifest)) {
    let (writer, record) = RecordWriter::reopen(&record.dir()).unwrap();
    let mut manifest = record.manifest().clone();
    manifest.state = State::Running;
    manifest.files.retain(|f| !f.path.starts_with("raw/"));
    change(&mut manifest);
    writer.save(&manifest).unwrap();
}

#[test]
fn an_interrupted_run_is_finished_and_what_it_received_is_kept() {
    let (story, first) = ran([good(), interrupted()]);
    assert_eq!(
        states(&first),
        ["complete", "interrupted", "not-run", "not-run"]
    );
    let story = then(story, [good()]);
    let record = resume(&story, &first);

    check(&record).unwrap();
    assert_eq!(states(&record), ["complete"; 4]);
    assert_eq!(workloads(&story), 3);
    let (before, manifest) = (first.manifest(), record.manifest());
    assert_eq!(manifest.trials[0], before.trials[0]);
    let trial = &manifest.trials[1];
    assert_eq!((trial.attempt, reason(trial)), (2, ""));
    assert_eq!(trial.phases.len(), 3);
    assert!(trial.raw.iter().all(|r| r.path.starts_with("raw/t02.2/")));
    assert_eq!(
        trial.notes[1],
        "attempt 1 was interrupted (ended by the user): its files are in raw/t02"
    );
    assert!(raw(&record, 1, "workload-stdout").contains("hello"));
    assert_eq!(manifest.trials[2].attempt, 1);
    assert!(manifest.trials[2].raw[0].path.starts_with("raw/t03/"));
    // Every file of the first attempt is there as it was.
    for file in &before.files {
        assert!(manifest.files.contains(file), "{file:?}");
    }
    let notes = manifest.notes.join("\n");
    assert!(
        notes.contains("resumed at ") && notes.ends_with("for t02, t03, t04"),
        "{notes}"
    );
    assert!(!files(&record).iter().any(|f| f.contains("lock")));
}

#[test]
fn only_what_failed_is_run_again_until_it_goes_well() {
    let (story, first) = ran([good(), bad(), good(), bad()]);
    assert_eq!(states(&first), ["complete", "failed", "complete", "failed"]);
    // The user ends the second try before it comes to t04.
    let story = then(story, [interrupted()]);
    let second = resume(&story, &first);
    assert_eq!(second.manifest().state, State::Interrupted);
    assert_eq!(
        states(&second),
        ["complete", "interrupted", "complete", "failed"]
    );
    assert_eq!(second.manifest().trials[3], first.manifest().trials[3]);

    let story = then(story, [good()]);
    let record = resume(&story, &second);
    assert_eq!(states(&record), ["complete"; 4]);
    assert_eq!(workloads(&story), 2);
    let trial = &record.manifest().trials[1];
    assert_eq!(trial.attempt, 3);
    let notes = trial.notes.join("\n");
    for part in [
        "attempt 1: monitor meminfo",
        "attempt 1 failed (the workload ended with exit code 7",
        "attempt 2 was interrupted (ended by the user): its files are in raw/t02.2",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    for folder in [
        "raw/t02/",
        "raw/t02.2/",
        "raw/t02.3/",
        "raw/t04/",
        "raw/t04.2/",
    ] {
        let all = files(&record);
        assert!(all.iter().any(|f| f.starts_with(folder)), "{all:?}");
    }
}

#[test]
fn a_complete_record_is_left_alone() {
    let (story, first) = ran([good()]);
    let manifest = fs::read(first.dir().join("manifest.yaml")).unwrap();
    let story = then(story, [good()]);
    assert_eq!(resume(&story, &first), first);
    assert!(story.hosts[0].log().is_empty());
    assert_eq!(
        fs::read(first.dir().join("manifest.yaml")).unwrap(),
        manifest
    );
}

#[test]
fn a_record_whose_ktrial_was_killed_is_finished() {
    let (story, first) = ran([good(), interrupted()]);
    killed(&first, |manifest| {
        manifest.trials[1].state = State::Running;
        manifest.trials[1].reason = None;
    });
    let dir = first.dir();
    // Killed while it wrote the manifest and while it compressed a file.
    fs::write(dir.join("manifest.partial"), "schema").unwrap();
    fs::write(dir.join("raw/t01/meminfo.partial"), "half").unwrap();
    let story = then(story, [good()]);
    let record = resume(&story, &first);
    assert_eq!(states(&record), ["complete"; 4]);
    let note = &record.manifest().trials[1].notes[1];
    assert!(note.contains("its ktrial ended without a word"), "{note}");
    assert!(!files(&record).iter().any(|f| f.ends_with("partial")));
}

#[test]
fn a_record_that_was_killed_after_its_last_trial_is_closed_without_a_host() {
    let (story, first) = ran([good()]);
    killed(&first, |_| ());
    let story = then(story, []);
    let record = resume(&story, &first);
    assert_eq!(record.manifest().state, State::Complete);
    assert!(story.hosts[0].log().is_empty());
    assert_eq!(files(&record), files(&first));
}

#[test]
fn compression_that_was_cut_short_is_made_good() {
    let (story, first) = ran([good(), interrupted()]);
    let samples = vec![b'\n'; 200_000];
    let plain = first.dir().join("raw/t01/meminfo.txt");
    fs::write(&plain, &samples).unwrap();
    // Killed before the manifest named the compressed file.
    fs::write(plain.with_extension("txt.zst"), "old").unwrap();
    killed(&first, |_| ());
    let story = then(story, [interrupted()]);
    let second = resume(&story, &first);
    assert!(!plain.exists());
    assert_eq!(raw(&second, 0, "meminfo").into_bytes(), samples);
    // Killed before the plain file was removed; another file beside it is none of ours.
    fs::write(&plain, &samples).unwrap();
    killed(&second, |_| ());
    let story = then(story, [interrupted()]);
    let third = resume(&story, &second);
    assert!(!plain.exists());
    fs::write(&plain, "mine").unwrap();
    killed(&third, |_| ());
    let story = then(story, [good()]);
    let record = resume(&story, &third);
    assert_eq!(fs::read(&plain).unwrap(), b"mine");
    assert_eq!(raw(&record, 0, "meminfo").into_bytes(), samples);
}

#[test]
fn two_do_not_write_one_record() {
    let (story, first) = ran([interrupted()]);
    let before = fs::read(first.dir().join("manifest.yaml")).unwrap();
    let (other, _) = RecordWriter::reopen(&first.dir()).unwrap();
    let story = then(story, [good()]);
    let error = try_resume(&story, &first.dir()).unwrap_err();
    assert!(
        error.to_string().contains("another ktrial is writing"),
        "{error}"
    );
    assert_eq!(fs::read(first.dir().join("manifest.yaml")).unwrap(), before);
    assert!(story.hosts[0].log().is_empty());
    drop(other);
    resume(&story, &first);
}

#[test]
fn a_run_holds_its_record() {
    let (story, _) = ran([good()]);
    let seen = std::sync::Mutex::new(Vec::new());
    struct Look<'a>(&'a std::sync::Mutex<Vec<Option<String>>>);
    impl Progress for Look<'_> {
        fn update(&self, update: Update<'_>) {
            if let Update::RunStarted { record, .. } = update {
                let error = RecordWriter::reopen(record).err().map(|e| e.to_string());
                self.0.lock().unwrap().push(error);
                // What a killed ktrial leaves.
                let files = Record::open(record).unwrap().manifest().files.clone();
                let files: Vec<_> = files.iter().map(|f| f.path.as_str()).collect();
                assert_eq!(
                    files,
                    ["experiment.yaml", "experiment-full.yaml", "plan.yaml"]
                );
            }
        }
    }
    story.try_run(&plan(), &Look(&seen)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(
        seen[0].as_ref().unwrap().contains("another ktrial"),
        "{seen:?}"
    );
}

/// The error of a resumed record after a change to its files.
fn refused(change: impl FnOnce(&Record)) -> String {
    let (story, record) = ran([interrupted()]);
    change(&record);
    let story = then(story, [good()]);
    let error = try_resume(&story, &record.dir()).unwrap_err();
    assert!(story.hosts[0].log().is_empty());
    assert_eq!(error.kind().exit_code(), 2, "{error}");
    error.report()
}

fn full(record: &Record) -> PathBuf {
    record.dir().join("experiment-full.yaml")
}

#[test]
fn what_gives_other_trials_is_refused() {
    let change = |from: &'static str, to: &'static str| {
        refused(move |record| {
            let text = fs::read_to_string(full(record)).unwrap();
            assert!(text.contains(from), "{text}");
            killed(record, |_| ());
            fs::write(full(record), text.replace(from, to)).unwrap();
        })
    };
    let fewer = change("trials: '2'", "trials: '1'");
    assert!(
        fewer.contains("the plan has 2 trials, the record 4"),
        "{fewer}"
    );
    let other = change("alpha", "beta");
    assert!(
        other.contains("t01 of ") && other.contains("on beta in the plan"),
        "{other}"
    );
    let text = refused(|record| fs::remove_file(full(record)).unwrap());
    assert!(text.contains("without its experiment-full.yaml"), "{text}");
    let text = refused(|record| {
        let text = fs::read_to_string(full(record)).unwrap();
        fs::write(full(record), text + "# mine\n").unwrap();
    });
    assert!(text.contains("was changed after the run"), "{text}");
    let text = refused(|record| {
        killed(record, |_| ());
        let text = fs::read_to_string(full(record)).unwrap();
        let other = text.replace("every: 1s", "every: 200ms");
        assert_ne!(text, other);
        fs::write(full(record), other).unwrap();
    });
    assert!(text.contains("was changed after the run"), "{text}");
    let text = refused(|record| fs::remove_file(record.dir().join("manifest.yaml")).unwrap());
    assert!(text.contains("is not a record"), "{text}");
}

#[test]
fn imported_figures_cannot_be_resumed() {
    let (story, _) = ran([good()]);
    let dir = story.folder.path().join("import");
    let writer = RecordWriter::create(&dir).unwrap();
    let kind = crate::record::RecordKind::Import;
    writer
        .finish(Manifest::new("import", kind, Replication::Boot))
        .unwrap();
    let text = try_resume(&story, &dir).unwrap_err().report();
    assert!(text.contains("imported figures"), "{text}");
}

#[test]
fn what_changed_meanwhile_is_told() {
    let (story, first) = ran([good(), interrupted()]);
    fs::write(first.dir().join("raw/t01/meminfo.txt"), "changed\n").unwrap();
    fs::write(first.dir().join("plan.yaml"), "of another version\n").unwrap();
    let mut story = then(story, []);
    let host = ScriptedHost::new("alpha", &story.clock, &story.cancel);
    let facts = "==ktrial== facts\nkernel=6.13.0\nos_id=debian\n==ktrial== done\n";
    host.answer("==ktrial== facts", facts, 0);
    host.play(FOLLOW, [good()]);
    story.hosts = vec![host];
    let record = resume(&story, &first);
    let manifest = record.manifest();
    assert_eq!(manifest.hosts, first.manifest().hosts);
    let notes = manifest.notes.join("\n");
    for part in [
        "host alpha was not as at the run's begin: kernel 6.13.0 (first 6.12.0)",
        "files were not as it had them: plan.yaml: differs, raw/t01/meminfo.txt: differs",
        "are those of this ktrial, in plan.2.yaml",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    assert!(files(&record).contains(&"plan.2.yaml".to_owned()));
}

/// A record whose ktrial was killed while its second trial was under way.
fn left_on_host() -> (Story, Record) {
    let (story, first) = ran([good(), interrupted()]);
    killed(&first, |manifest| {
        let trial = &mut manifest.trials[1];
        trial.state = State::Running;
        trial.reason = None;
        trial.on_host = Some(OnHost {
            id: "0123456789abcdef".into(),
            supervisor: "shell".into(),
            stopped: false,
        });
        let dir = first.dir();
        let events = dir.join("raw/t02/events.txt");
        fs::write(events, "99.50 begun 7\n100.10 idle\n").unwrap();
        fs::write(dir.join("raw/t02/workload.stdout"), "so").unwrap();
        trial.notes.clear();
    });
    (story, first)
}

#[test]
fn a_trial_that_went_on_without_its_ktrial_is_fetched_and_not_run_again() {
    let (story, first) = left_on_host();
    let whole = Told::begun().say("workload.stdout", "hello\n").ends(0);
    let story = then(story, [whole, good()]);
    let record = resume(&story, &first);
    check(&record).unwrap();
    let trial = &record.manifest().trials[1];
    assert_eq!((trial.attempt, trial.phases.len()), (1, 3));
    assert_eq!(trial.on_host, None);
    assert_eq!(raw(&record, 1, "workload-stdout"), "so far\nhello\n");
    assert_eq!(raw(&record, 1, "meminfo"), SAMPLE);
    assert_eq!(workloads(&story), 2);
    let asked = story.hosts[0].scripts(FOLLOW);
    assert!(asked[0].contains("workload.stdout=2"), "{}", asked[0]);
    assert!(asked[0].contains("0123456789abcdef"), "{}", asked[0]);
}

#[test]
fn events_that_a_killed_ktrial_kept_and_did_not_tell_are_told() {
    let (story, first) = left_on_host();
    let events = "99.50 begun 7\n100.10 idle\n102.10 start\n107.10 end 0\n108.10 settled\n108.20 ended complete\n";
    fs::write(first.dir().join("raw/t02/events.txt"), events).unwrap();
    killed(&first, |manifest| {
        let trial = &mut manifest.trials[1];
        (trial.phases, trial.start_boottime_s) = (Vec::new(), None);
    });
    let whole = Told::begun().say(
        "events",
        "107.10 end 0\n108.10 settled\n108.20 ended complete\n",
    );
    let story = then(story, [whole.without("events").result(), good()]);
    let record = resume(&story, &first);
    check(&record).unwrap();
    let trial = &record.manifest().trials[1];
    assert_eq!((trial.attempt, trial.phases.len()), (1, 3));
    assert_eq!(trial.start_boottime_s, Some(102.1));
}

#[test]
fn no_trial_begins_beside_what_a_fetched_one_left() {
    let (story, first) = left_on_host();
    let whole = Told::begun()
        .say("events", "104 left process 4711 runs on\n")
        .ends(0);
    let story = then(story, [whole]);
    let record = resume(&story, &first);
    assert_eq!(
        states(&record),
        ["complete", "complete", "not-run", "not-run"]
    );
    let why = reason(&record.manifest().trials[2]);
    assert!(
        why.contains("process 4711 runs on after trial t02"),
        "{why}"
    );
}

#[test]
fn a_trial_that_the_host_does_not_have_any_more_is_run_again() {
    let (story, first) = left_on_host();
    let none = Play::new([
        Step::Err("there is no such trial\n"),
        Step::End(crate::host::Exit::Code(1)),
    ]);
    let story = then(story, [none.clone(), none.clone(), none, good()]);
    let record = resume(&story, &first);
    check(&record).unwrap();
    let trial = &record.manifest().trials[1];
    assert_eq!(trial.attempt, 2);
    let notes = trial.notes.join("\n");
    assert!(notes.contains("there is no such trial"), "{notes}");
}

#[test]
fn a_file_that_was_listed_and_not_yet_made_is_made() {
    let (story, first) = left_on_host();
    fs::remove_file(first.dir().join("raw/t02/meminfo.txt")).unwrap();
    let whole = Told::begun().say("workload.stdout", "hello\n").ends(0);
    let story = then(story, [whole, good()]);
    let record = resume(&story, &first);
    check(&record).unwrap();
    assert_eq!(raw(&record, 1, "meminfo"), SAMPLE);
}

#[test]
fn a_complete_run_whose_host_still_has_a_trial_forgets_it() {
    let (story, first) = ran([good()]);
    killed(&first, |manifest| {
        manifest.state = State::Complete;
        manifest.trials[0].on_host = Some(OnHost {
            id: "0123456789abcdef".into(),
            supervisor: "shell".into(),
            stopped: false,
        });
    });
    let story = then(story, []);
    let record = resume(&story, &first);
    check(&record).unwrap();
    assert_eq!(record.manifest().trials[0].on_host, None);
    assert_eq!(story.hosts[0].scripts("# forget the trial").len(), 1);
}

#[test]
fn a_trial_that_the_user_ended_stays_interrupted_when_it_is_fetched() {
    let (story, first) = left_on_host();
    killed(&first, |manifest| {
        manifest.trials[1].on_host.as_mut().unwrap().stopped = true;
    });
    let story = then(story, [Told::begun().over("stopped"), good()]);
    let record = resume(&story, &first);
    let notes = record.manifest().trials[1].notes.join("\n");
    assert!(
        notes.contains("was interrupted (ended by the user)"),
        "{notes}"
    );
}

#[test]
fn a_record_names_no_folder_but_a_trial_s() {
    let (story, first) = left_on_host();
    killed(&first, |manifest| {
        manifest.trials[1].on_host.as_mut().unwrap().id = "../../etc".into();
    });
    let story = then(story, [good()]);
    let record = resume(&story, &first);
    assert_eq!(states(&record), ["complete"; 4]);
    assert!(story.hosts[0].scripts("../../etc").is_empty());
}
