//! The record of a run while it goes on: what is on disk is never behind by more than a phase.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::experiment::Plan;
use crate::record::{
    FileEntry, HostFacts, Manifest, OnHost, RawFile, Record, RecordKind, RecordWriter, Replication,
    State, Trial, compress_raw, plain_name, sha256_hex, sync_raw,
};

use super::{again, attempt, preflight};

/// How many runs may begin within one second under one name.
const SAME_NAME: usize = 1000;

/// The record being written, shared by the hosts' threads.
pub(super) struct Ledger {
    dir: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    writer: RecordWriter,
    manifest: Manifest,
}

impl Ledger {
    /// Begins the record `<folder>/<UTC time>-<name>` with every trial of the plan as not run.
    pub(super) fn begin(folder: &Path, plan: &Plan, hosts: Vec<HostFacts>) -> Result<Ledger> {
        let experiment = &plan.experiment;
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H%M%SZ");
        let writer = create(folder, &format!("{now}-{}", experiment.name))?;
        let dir = writer.dir().to_owned();
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let replication = match experiment.boot {
            Some(_) => Replication::Boot,
            None => Replication::Trial,
        };
        let mut manifest = Manifest::new(&name, RecordKind::Run, replication);
        manifest.question = Some(experiment.question.clone());
        manifest.primary = Some(experiment.primary.clone());
        manifest.secondary.clone_from(&experiment.secondary);
        manifest.conditions = experiment
            .conditions
            .iter()
            .map(|c| c.name.clone())
            .collect();
        manifest.state = State::Running;
        manifest.notes.clone_from(&experiment.notes);
        let boots = experiment.boot.is_some();
        let told = hosts.iter().flat_map(|host| preflight::notes(host, boots));
        manifest.notes.extend(told);
        manifest.hosts = hosts;
        manifest.trials = plan
            .trials
            .iter()
            .map(|planned| Trial {
                cell: planned.cell.clone(),
                host: Some(planned.host.clone()),
                ..Trial::new(&planned.id, &planned.condition)
            })
            .collect();
        writer.save(&manifest).inspect_err(|_| {
            // Nothing is in it yet; a folder without a manifest would be no record.
            let _ = std::fs::remove_dir(&dir);
        })?;
        Ok(Ledger {
            dir,
            inner: Mutex::new(Inner { writer, manifest }),
        })
    }

    /// Goes on with a record. `hosts` are those that the rest of the plan needs, as they are now; the record keeps
    /// them as they were first, and notes what differs.
    pub(super) fn resume(
        writer: RecordWriter,
        record: &Record,
        rest: &Plan,
        hosts: Vec<HostFacts>,
        mut notes: Vec<String>,
    ) -> Result<Ledger> {
        let mut manifest = record.manifest().clone();
        manifest.state = State::Running;
        // The trials' files become more; those of the run stay as they were written.
        manifest.files.retain(|file| !file.path.starts_with("raw/"));
        let boots = rest.experiment.boot.is_some();
        for now in hosts {
            match manifest.hosts.iter().find(|first| first.name == now.name) {
                Some(first) => {
                    notes.extend(again::difference(first, &now, boots));
                    notes.extend(preflight::busy(&now, boots));
                }
                None => {
                    notes.extend(preflight::notes(&now, boots));
                    manifest.hosts.push(now);
                }
            }
        }
        notes.retain(|note| !manifest.notes.contains(note));
        manifest.notes.extend(notes);
        for trial in &mut manifest.trials {
            if trial.state == State::Running && trial.on_host.is_none() {
                trial.state = State::Interrupted;
                trial.reason = Some("its ktrial ended without a word".to_owned());
            }
        }
        writer.save(&manifest)?;
        writer.remove_partial()?;
        let trials = manifest.trials.len();
        let ledger = Ledger {
            dir: writer.dir().to_owned(),
            inner: Mutex::new(Inner { writer, manifest }),
        };
        for index in 0..trials {
            let slot = Slot {
                ledger: &ledger,
                index,
            };
            // More may come of it.
            if slot.on_host().is_some() {
                continue;
            }
            slot.compress()?;
            slot.remove_twins(record)?;
        }
        Ok(ledger)
    }

    /// Opens a record to fetch what hosts still have of its trials, and changes nothing yet.
    pub(super) fn open(writer: RecordWriter, record: &Record) -> Ledger {
        Ledger {
            dir: writer.dir().to_owned(),
            inner: Mutex::new(Inner {
                writer,
                manifest: record.manifest().clone(),
            }),
        }
    }

    /// Gives the record back as it stands.
    pub(super) fn into_writer(self) -> RecordWriter {
        let inner = self.inner.into_inner();
        inner.unwrap_or_else(PoisonError::into_inner).writer
    }

    /// The record's directory.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file of the run as a whole, and lists it: what changes it before the run ends is seen.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let mut inner = self.lock();
        inner.writer.write_raw(path, bytes)?;
        inner.manifest.files.push(FileEntry {
            path: path.to_owned(),
            bytes: bytes.len() as u64,
            sha256: sha256_hex(bytes),
        });
        inner.writer.save(&inner.manifest)
    }

    /// Adds what a reader of the record has to know.
    pub(super) fn note(&self, note: String) -> Result<()> {
        let mut inner = self.lock();
        if !inner.manifest.notes.contains(&note) {
            inner.manifest.notes.push(note);
        }
        inner.writer.save(&inner.manifest)
    }

    /// The place of the trial with this id.
    pub(super) fn slot(&self, id: &str) -> Slot<'_> {
        let inner = self.lock();
        let index = inner.manifest.trials.iter().position(|t| t.id == id);
        Slot {
            ledger: self,
            // Past the end there is no trial to change.
            index: index.unwrap_or(usize::MAX),
        }
    }

    /// Hashes every file and closes the record. A run is complete when every trial is.
    pub(super) fn finish(self, interrupted: bool) -> Result<Record> {
        let Inner {
            writer,
            mut manifest,
        } = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let complete = manifest.trials.iter().all(|t| t.state == State::Complete);
        manifest.state = match (complete, interrupted) {
            (true, _) => State::Complete,
            (false, true) => State::Interrupted,
            (false, false) => State::Failed,
        };
        writer.finish(manifest)
    }

    /// A thread that panicked left the manifest whole: it changes in one step, under the lock.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn create(folder: &Path, name: &str) -> Result<RecordWriter> {
    for number in 1..=SAME_NAME {
        let dir = match number {
            1 => folder.join(name),
            _ => folder.join(format!("{name}-{number}")),
        };
        match RecordWriter::create(&dir) {
            Err(_) if dir.exists() => {}
            other => return other,
        }
    }
    Err(Error::input("has a record for every name that was tried").at(folder.join(name)))
}

/// One trial's place in the record.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a> {
    ledger: &'a Ledger,
    index: usize,
}

impl Slot<'_> {
    /// Changes the trial and saves the manifest.
    pub(super) fn update(&self, change: impl FnOnce(&mut Trial)) -> Result<()> {
        let mut inner = self.ledger.lock();
        if let Some(trial) = inner.manifest.trials.get_mut(self.index) {
            change(trial);
        }
        inner.writer.save(&inner.manifest)
    }

    /// Adds what a reader of the trial has to know, each once.
    pub(super) fn note(&self, notes: Vec<String>) -> Result<()> {
        if notes.is_empty() {
            return Ok(());
        }
        self.update(|trial| {
            for note in notes {
                if !trial.notes.contains(&note) {
                    trial.notes.push(note);
                }
            }
        })
    }

    /// The trial's boot_id, once it is known.
    pub(super) fn boot_id(&self) -> Option<String> {
        let inner = self.ledger.lock();
        let trial = inner.manifest.trials.get(self.index)?;
        trial.boot_id.clone()
    }

    /// What became of the trial so far.
    pub(super) fn state(&self) -> Option<State> {
        let inner = self.ledger.lock();
        let trial = inner.manifest.trials.get(self.index)?;
        Some(trial.state)
    }

    /// Where the trial is on its host.
    pub(super) fn on_host(&self) -> Option<OnHost> {
        let inner = self.ledger.lock();
        let trial = inner.manifest.trials.get(self.index)?;
        trial.on_host.clone()
    }

    /// Another trial that has this boot_id.
    pub(super) fn other_of_boot(&self, boot_id: &str) -> Option<String> {
        let inner = self.ledger.lock();
        let mut trials = inner.manifest.trials.iter().enumerate();
        let other = trials.find(|(index, trial)| {
            *index != self.index && trial.boot_id.as_deref() == Some(boot_id)
        });
        other.map(|(_, trial)| trial.id.clone())
    }

    /// Begins the trial, anew when it was tried before.
    pub(super) fn begin(&self) -> Result<()> {
        self.update(attempt::begin)
    }

    /// Says what became of the trial, once its files are on the disk: a crash must not leave a complete trial without
    /// its samples.
    pub(super) fn end(&self, state: State, reason: Option<&str>) -> Result<()> {
        for raw in self.raw() {
            // Without the lock: the other hosts' threads go on.
            sync_raw(self.ledger.dir(), &raw.path)?;
        }
        self.update(|trial| {
            trial.state = state;
            trial.reason = reason.map(str::to_owned);
        })
    }

    /// Says why the trial is not run. What became of an earlier attempt stays as it is.
    pub(super) fn pass_over(&self, why: &str) -> Result<()> {
        self.update(|trial| {
            if trial.state == State::NotRun {
                trial.reason = Some(why.to_owned());
            }
        })
    }

    /// Opens a raw file of the trial in its folder, and lists it.
    pub(super) fn open_raw(&self, monitor: &str, file: &str) -> Result<File> {
        let mut inner = self.ledger.lock();
        let Inner { writer, manifest } = &mut *inner;
        let Some(trial) = manifest.trials.get_mut(self.index) else {
            return Err(Error::usage("the plan has no such trial"));
        };
        let path = format!("{}/{file}", attempt::folder(trial));
        trial.raw.push(RawFile {
            monitor: monitor.to_owned(),
            path: path.clone(),
        });
        // First: a file that nobody knows of could not be gone on with.
        writer.save(manifest)?;
        writer.append_raw(&path)
    }

    /// Opens a raw file of the trial that another ktrial began, to write on at its end, with what is in it; none when
    /// it was not begun.
    pub(super) fn reopen_raw(&self, monitor: &str) -> Result<Option<(File, Vec<u8>)>> {
        let listed = self.raw().into_iter().find(|raw| raw.monitor == monitor);
        let mut inner = self.ledger.lock();
        listed
            .map(|raw| inner.writer.reopen_raw(&raw.path))
            .transpose()
    }

    /// Puts the compressed form in the place of the trial's large raw files, once nothing writes to them.
    /// At every moment the manifest names files that are whole, and one form of each is there.
    pub(super) fn compress(&self) -> Result<()> {
        let dir = self.ledger.dir();
        for raw in self.raw() {
            // Without the lock: the other hosts' threads go on.
            let Some(compressed) = compress_raw(dir, &raw.path)? else {
                continue;
            };
            self.update(|trial| {
                if let Some(listed) = trial.raw.iter_mut().find(|r| r.path == raw.path) {
                    listed.path = compressed;
                }
            })?;
            self.ledger.lock().writer.remove_raw(&raw.path)?;
        }
        Ok(())
    }

    /// Removes the plain files that are left beside their compressed form, of a ktrial that ended in between.
    fn remove_twins(&self, record: &Record) -> Result<()> {
        for raw in self.raw() {
            let Some(plain) = plain_name(&raw.path) else {
                continue;
            };
            if !record.dir().join(plain).exists() {
                continue;
            }
            // Another file of that name stays, and so does the only one that can be read.
            let both = (record.read_file(plain), record.read_file(&raw.path));
            if matches!(both, (Ok(plain), Ok(compressed)) if plain == compressed) {
                self.ledger.lock().writer.remove_raw(plain)?;
            }
        }
        Ok(())
    }

    fn raw(&self) -> Vec<RawFile> {
        let inner = self.ledger.lock();
        let trial = inner.manifest.trials.get(self.index);
        trial.map(|trial| trial.raw.clone()).unwrap_or_default()
    }
}
