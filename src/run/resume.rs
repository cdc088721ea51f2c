//! Finishing a run that was interrupted, failed, or lost its controller.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::error::{Error, Result};
use crate::experiment::{Experiment, Plan, PlannedBoot};
use crate::record::{Manifest, Record, RecordKind, RecordWriter, State, Trial};
use crate::words::some_of;

use super::clock::{Clock, SystemClock};
use super::fetch::{Unusable, fetch};
use super::ledger::Ledger;
use super::sequence::Shared;
use super::{Cancel, Progress, Ways, beside, carry_out, plan_file, with_root};

/// The experiment of a run with every default.
const EXPERIMENT: &str = "experiment-full.yaml";

/// How many trials, or damaged files, are named.
const NAMED: usize = 10;

/// Runs every trial of a run's record that is not complete, in the plan's order and with the same preflight as
/// [`run`](super::run), and closes the record again. What an earlier attempt of a trial received is kept in its folder.
/// A record that is complete is given back as it is.
///
/// A trial that begins with a boot is booted again. Where the trial that began with it is complete, the next one of
/// its blocks on that host begins with the same boot: nothing is measured in a boot that the plan did not make.
///
/// # Errors
/// Before anything has run and without a change to the record: `Input` when the folder is no record of a run or its
/// experiment no longer gives its trials, `Record` when another process is writing it, and as [`run`](super::run).
pub fn resume(
    record: &Path,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<Record> {
    resume_by(&SystemClock::new(), record, ways, cancel, progress)
}

pub(super) fn resume_by(
    clock: &dyn Clock,
    record: &Path,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<Record> {
    let (writer, record) = RecordWriter::reopen(record)?;
    let manifest = record.manifest();
    if manifest.kind == RecordKind::Import {
        return Err(
            Error::input("holds imported figures: there is nothing to run")
                .at(record.dir())
                .next("name a record that `ktrial run` made"),
        );
    }
    if is_done(manifest) {
        return Ok(record);
    }
    let plan = planned(&record)?;
    let damage = damage(&record)?;
    with_root(&plan, ways, |ways, ask_no_more| {
        let (writer, record, unusable) =
            fetched(writer, record, clock, &plan, ways, cancel, progress)?;
        let rest = rest(&plan, record.manifest());
        let mut notes = vec![told(&rest)];
        notes.extend(damage);
        let scripts = new_scripts(&plan, &record)?;
        notes.extend(scripts.as_ref().map(NewScripts::note));
        let open = |facts| {
            ask_no_more();
            let ledger = Ledger::resume(writer, &record, &rest, facts, notes)?;
            if let Some(scripts) = scripts {
                ledger.write(&scripts.file, &scripts.content)?;
            }
            Ok(ledger)
        };
        carry_out(clock, &rest, open, unusable, ways, cancel, progress)
    })
}

/// Whether there is nothing to run and nothing to fetch.
pub fn is_done(manifest: &Manifest) -> bool {
    manifest.state == State::Complete && !manifest.trials.iter().any(is_on_host)
}

fn is_on_host(trial: &Trial) -> bool {
    trial.on_host.is_some()
}

/// The record with what hosts still had of its trials, and on which of them nothing can be measured now.
fn fetched(
    writer: RecordWriter,
    record: Record,
    clock: &dyn Clock,
    plan: &Plan,
    ways: &Ways<'_>,
    cancel: &Cancel,
    progress: &dyn Progress,
) -> Result<(RecordWriter, Record, Unusable)> {
    if !record.manifest().trials.iter().any(is_on_host) {
        return Ok((writer, record, Unusable::new()));
    }
    let ledger = Ledger::open(writer, &record);
    let shared = Shared {
        plan,
        ledger: &ledger,
        ways,
        clock,
        cancel,
        progress,
    };
    if plan.needs_root() {
        // Whoever has to be asked for a password is there now, and maybe not when a trial was watched to its end. What
        // cannot be reached is told by whoever needs it.
        beside(
            rest(plan, record.manifest()).hosts(),
            ways.max_hosts,
            |name| ways.to(name).map(drop),
        );
    }
    let unusable = fetch(&shared)?;
    let record = Record::open(record.dir())?;
    Ok((ledger.into_writer(), record, unusable))
}

/// The plan of the record's experiment, when it is that of its trials.
fn planned(record: &Record) -> Result<Plan> {
    let file = record.dir().join(EXPERIMENT);
    let text = record.read_file(EXPERIMENT).map_err(|cause| {
        Error::input("cannot be resumed without its experiment-full.yaml")
            .at(record.dir())
            .because(cause)
            .next("run the experiment anew with `ktrial run`")
    })?;
    let text = String::from_utf8(text).map_err(|_| {
        Error::input("is not UTF-8 text")
            .at(&file)
            .next("restore the file that `ktrial run` wrote")
    })?;
    let plan = Experiment::parse(&text, &file)?.plan()?;
    match other_trial(&plan, record.manifest()) {
        None => Ok(plan),
        Some(what) => Err(
            Error::input(format!("does not give the record's trials: {what}"))
                .at(&file)
                .next("restore the file as `ktrial run` wrote it, or run the experiment anew"),
        ),
    }
}

/// The first trial that is another one in the plan than in the record.
fn other_trial(plan: &Plan, manifest: &Manifest) -> Option<String> {
    let (planned, recorded) = (plan.trials.len(), manifest.trials.len());
    if planned != recorded {
        return Some(format!(
            "the plan has {planned} trials, the record {recorded}"
        ));
    }
    let mut pairs = plan.trials.iter().zip(&manifest.trials);
    let (planned, recorded) = pairs.find(|(planned, recorded)| {
        planned.id != recorded.id
            || planned.condition != recorded.condition
            || planned.cell != recorded.cell
            || Some(&planned.host) != recorded.host.as_ref()
    })?;
    let host = recorded.host.as_deref().unwrap_or("no host");
    Some(format!(
        "{} of {} {:?} on {} in the plan is {} of {} {:?} on {host} in the record",
        planned.id,
        planned.condition,
        planned.cell,
        planned.host,
        recorded.id,
        recorded.condition,
        recorded.cell,
    ))
}

/// The trials that are not complete. The first of them in each stretch between a host's boots begins with the boot
/// that the plan has at the stretch's begin.
fn rest(plan: &Plan, manifest: &Manifest) -> Plan {
    let states: HashMap<&str, State> = manifest
        .trials
        .iter()
        .map(|trial| (trial.id.as_str(), trial.state))
        .collect();
    let mut boots: BTreeMap<&str, PlannedBoot> = BTreeMap::new();
    let mut trials = Vec::new();
    for planned in &plan.trials {
        if let Some(boot) = &planned.boot {
            boots.insert(&planned.host, boot.clone());
        }
        if states.get(planned.id.as_str()) != Some(&State::Complete) {
            let mut trial = planned.clone();
            trial.boot = boots.remove(planned.host.as_str());
            trials.push(trial);
        }
    }
    Plan {
        experiment: plan.experiment.clone(),
        trials,
    }
}

/// What a reader of the record has to know: which trials were not measured with the others.
fn told(rest: &Plan) -> String {
    let now = jiff::Timestamp::now().round(jiff::Unit::Second);
    let ids: Vec<String> = rest.trials.iter().map(|trial| trial.id.clone()).collect();
    format!(
        "resumed at {} by ktrial {}, for {}",
        now.unwrap_or_default(),
        env!("CARGO_PKG_VERSION"),
        match ids.is_empty() {
            true => "no trial".to_owned(),
            false => some_of(&ids, NAMED, ", "),
        }
    )
}

/// What was damaged since the record was closed: the new hashes would hide it.
fn damage(record: &Record) -> Result<Option<String>> {
    let listed = record
        .manifest()
        .files
        .iter()
        .any(|file| file.path == EXPERIMENT);
    if !listed {
        return Err(Error::input("cannot be resumed: it has no hash of its experiment-full.yaml, which may be another one")
            .at(record.dir())
            .next("run the experiment anew with `ktrial run`"));
    }
    let problems: Vec<String> = record
        .check_files()?
        .into_iter()
        .filter(|problem| !problem.ends_with(": not in the manifest"))
        .collect();
    if problems
        .iter()
        .any(|problem| problem.starts_with(EXPERIMENT))
    {
        return Err(Error::input("was changed after the run wrote it")
            .at(record.dir().join(EXPERIMENT))
            .next("restore it, or run the experiment anew"));
    }
    Ok((!problems.is_empty()).then(|| {
        format!(
            "before the record was resumed, files were not as it had them: {}",
            some_of(&problems, NAMED, ", ")
        )
    }))
}

/// The scripts as they run now, where they are not those of the record's `plan.yaml`: those of another ktrial.
struct NewScripts {
    file: String,
    content: Vec<u8>,
}

impl NewScripts {
    fn note(&self) -> String {
        format!(
            "the scripts of the resumed trials are those of this ktrial, in {}",
            self.file
        )
    }
}

fn new_scripts(plan: &Plan, record: &Record) -> Result<Option<NewScripts>> {
    let content = plan_file::content(plan)?;
    let names =
        std::iter::once("plan.yaml".to_owned()).chain((2..).map(|n| format!("plan.{n}.yaml")));
    for file in names {
        if !record.dir().join(&file).exists() {
            return Ok(Some(NewScripts { file, content }));
        }
        if record.read_file(&file)? == content {
            return Ok(None);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Replication;

    #[test]
    fn a_stretch_whose_first_trial_is_complete_is_booted_for_the_next_one() {
        let yaml = "question: Which boots?\nprimary: memory.used.peak\nhosts: [alpha]\n\
            conditions: {before: {}, after: {}}\nboot: {every: 2 blocks}\n\
            workload: {command: ['true'], duration: 5s}\nidle: 2s\nsettle: 1s\n\
            monitors: {meminfo: {every: 100ms}}\ndesign: {trials: 6}\n";
        let plan = Experiment::parse(yaml, "story.yaml")
            .unwrap()
            .plan()
            .unwrap();
        let boots: Vec<&str> = plan
            .trials
            .iter()
            .filter(|trial| trial.boot.is_some())
            .map(|trial| trial.id.as_str())
            .collect();
        assert_eq!(boots, ["t01", "t05", "t09"]);
        let mut manifest = Manifest::new("r", RecordKind::Run, Replication::Boot);
        let open = ["t03", "t04", "t05", "t08", "t12"];
        manifest.trials = plan
            .trials
            .iter()
            .map(|planned| {
                let mut trial = Trial::new(&planned.id, &planned.condition);
                if !open.contains(&planned.id.as_str()) {
                    trial.state = State::Complete;
                }
                trial
            })
            .collect();
        let rest = rest(&plan, &manifest);
        let found: Vec<(&str, bool)> = rest
            .trials
            .iter()
            .map(|trial| (trial.id.as_str(), trial.boot.is_some()))
            .collect();
        assert_eq!(
            found,
            [
                ("t03", true),
                ("t04", false),
                ("t05", true),
                ("t08", false),
                ("t12", true)
            ]
        );
    }
}
