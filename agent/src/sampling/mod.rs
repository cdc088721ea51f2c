//! Sampling files at fixed times, whatever else the host does.

mod account;
mod delta;
mod sampler;
mod target;
mod writer;

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Builder, JoinHandle};

use rustix::mm::{MlockAllFlags, mlockall};

use crate::event::Events;
use crate::folder::Folder;
use sampler::{Paced, Sampler};
use target::Target;

/// Bytes of a thread's stack; all of it is locked in memory.
const STACK_BYTES: usize = 128 << 10;

/// A file to sample.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The monitor's name.
    pub name: String,
    /// The file.
    pub path: String,
    /// Nanoseconds from a sample to the next.
    pub period_ns: u64,
}

/// What became of one monitor.
#[derive(Debug, Clone)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Samples that were taken.
    pub taken: u64,
    /// Samples that were due and were not.
    pub missed: u64,
    /// Bytes that the disk had no room for.
    pub lost_bytes: u64,
}

/// Counts of a monitor, as the sampling thread goes on.
#[derive(Debug, Default)]
struct Counts {
    taken: AtomicU64,
    missed: AtomicU64,
}

/// Sampling under way.
pub struct Sampling {
    names: Vec<String>,
    counts: Arc<Vec<Counts>>,
    stop: Arc<AtomicBool>,
    notes: Receiver<String>,
    sampler: JoinHandle<()>,
    writer: JoinHandle<Vec<u64>>,
}

impl Sampling {
    /// Begins to sample these files.
    ///
    /// # Errors
    /// When one of them cannot be read, or there are no threads to have.
    pub fn start(
        wishes: &[Wish],
        folder: &Folder,
        events: &mut Events,
    ) -> Result<Sampling, String> {
        let mut paced = Vec::new();
        let mut files = Vec::new();
        for wish in wishes {
            let name = &wish.name;
            let target = Target::open(&wish.path)
                .map_err(|e| format!("the monitor {name} cannot read {}: {e}", wish.path))?;
            paced.push(Paced::new(name, target, wish.period_ns));
            files.push(create(folder, &format!("{name}.txt"))?);
        }
        files.push(create(folder, "agent.txt")?);
        let counts: Arc<Vec<Counts>> = Arc::new(wishes.iter().map(|_| Counts::default()).collect());
        let stop = Arc::new(AtomicBool::new(false));
        let (send_batch, batches) = channel();
        let (send_empty, empty) = channel();
        let (send_note, notes) = channel();
        let thread = |name: &str| Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let writer = thread("write")
            .spawn(move || writer::write(files, &batches, &send_empty))
            .map_err(|e| format!("a thread: {e}"))?;
        let sampler = Sampler::new(paced, Arc::clone(&counts), send_batch, empty, send_note);
        // What is used from now on stays in memory. Without privileges there may not be enough that can be locked for
        // what comes, and an allocation that fails would end the trial.
        let flags = match rustix::process::geteuid().is_root() {
            true => MlockAllFlags::CURRENT | MlockAllFlags::FUTURE,
            false => MlockAllFlags::CURRENT,
        };
        if mlockall(flags).is_err() {
            events.note("sampling is not locked in memory: when memory is short it may be late");
        }
        let stopped = Arc::clone(&stop);
        let sampler = thread("sample")
            .spawn(move || sampler.run(&stopped))
            .map_err(|e| format!("a thread: {e}"))?;
        Ok(Sampling {
            names: wishes.iter().map(|wish| wish.name.clone()).collect(),
            counts,
            stop,
            notes,
            sampler,
            writer,
        })
    }

    /// How many samples each monitor has taken so far.
    pub fn taken(&self) -> impl Iterator<Item = (&str, &AtomicU64)> {
        let counts = self.counts.iter().map(|counts| &counts.taken);
        self.names.iter().map(String::as_str).zip(counts)
    }

    /// What a reader has to know, since the last call.
    pub fn notes(&self) -> Vec<String> {
        self.notes.try_iter().collect()
    }

    /// Ends it, with everything written.
    pub fn end(self) -> Vec<Account> {
        self.stop.store(true, Ordering::Relaxed);
        // A panic there would have ended the process.
        let _ = self.sampler.join();
        let lost = self.writer.join().unwrap_or_default();
        let accounts = self.names.into_iter().zip(self.counts.iter()).enumerate();
        let account = |(number, (name, counts)): (usize, (String, &Counts))| Account {
            name,
            taken: counts.taken.load(Ordering::Relaxed),
            missed: counts.missed.load(Ordering::Relaxed),
            lost_bytes: lost.get(number).copied().unwrap_or(0),
        };
        let mut all: Vec<Account> = accounts.map(account).collect();
        all.push(Account {
            name: "agent".to_owned(),
            taken: 0,
            missed: 0,
            lost_bytes: lost.last().copied().unwrap_or(0),
        });
        all
    }
}

fn create(folder: &Folder, name: &str) -> Result<File, String> {
    folder.append(name).map_err(|e| format!("{name}: {e}"))
}
