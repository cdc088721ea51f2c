//! The thread that samples.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use std::io::Write as _;

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use super::Counts;
use super::account::SelfAccount;
use super::target::Target;
use super::writer::Batch;
use crate::clock::{Seconds, ms, now_ns, sleep_until};

/// Samples wait for their file no longer than this.
const FLUSH_NS: u64 = ms(250);

/// Bytes that are given to the writer at once.
const BATCH_BYTES: usize = 64 << 10;

/// Batches that may wait for a slow disk; what is due beyond them is missed.
const WAITING: usize = 512;

/// How soon the thread sees that it is to stop.
const STOP_NS: u64 = ms(100);

/// Above everything that is not real-time, below what others made real-time.
const PRIORITY: u8 = 1;

/// Nice value where real time is not allowed.
const NICE: i32 = -10;

/// One file and when it is due.
pub struct Paced {
    name: String,
    target: Target,
    period_ns: u64,
    due_ns: u64,
    blocks: Vec<u8>,
    since_ns: u64,
    is_whole: bool,
    gone: bool,
}

impl Paced {
    /// Due from the begin of the thread on.
    pub fn new(name: &str, target: Target, period_ns: u64) -> Paced {
        Paced {
            name: name.to_owned(),
            target,
            period_ns: period_ns.max(1),
            due_ns: 0,
            blocks: Vec::with_capacity(BATCH_BYTES * 2),
            since_ns: 0,
            is_whole: false,
            gone: false,
        }
    }
}

/// All files, and the ways to the other threads.
pub struct Sampler {
    paced: Vec<Paced>,
    counts: Arc<Vec<Counts>>,
    batches: Sender<Batch>,
    empty: Receiver<Vec<u8>>,
    notes: Sender<String>,
    pool: Vec<Vec<u8>>,
    /// Batches that the writer has.
    waiting: usize,
}

impl Sampler {
    pub fn new(
        paced: Vec<Paced>,
        counts: Arc<Vec<Counts>>,
        batches: Sender<Batch>,
        empty: Receiver<Vec<u8>>,
        notes: Sender<String>,
    ) -> Sampler {
        let spare = |_: &Paced| Vec::with_capacity(BATCH_BYTES * 2);
        Sampler {
            pool: paced.iter().map(spare).collect(),
            paced,
            counts,
            batches,
            empty,
            notes,
            waiting: 0,
        }
    }

    /// Samples until it is stopped.
    pub fn run(mut self, stop: &AtomicBool) {
        self.take_precedence();
        let account_number = self.paced.len();
        let mut account = SelfAccount::new();
        let begin_ns = now_ns();
        let mut account_due_ns = begin_ns;
        for paced in &mut self.paced {
            paced.due_ns = begin_ns;
        }
        while !stop.load(Ordering::Relaxed) {
            let now_ns = now_ns();
            for number in 0..self.paced.len() {
                self.look(number, now_ns);
            }
            if now_ns >= account_due_ns {
                let mut bytes = self.buffer();
                account.write(&self.counts, &mut bytes);
                self.send(account_number, bytes, true);
                account_due_ns += ms(1_000) * (1 + (now_ns - account_due_ns) / ms(1_000));
            }
            let due = self.paced.iter().filter(|p| !p.gone).map(|p| p.due_ns);
            let flush = self.paced.iter().filter(|p| !p.blocks.is_empty());
            let next_ns = due.chain(flush.map(|p| p.since_ns + FLUSH_NS)).min();
            let next_ns = next_ns.unwrap_or(u64::MAX).min(account_due_ns);
            sleep_until(next_ns.min(now_ns + STOP_NS));
        }
        for number in 0..self.paced.len() {
            self.flush(number);
        }
        let mut bytes = self.buffer();
        account.write(&self.counts, &mut bytes);
        self.send(account_number, bytes, true);
    }

    /// Takes what is due of a file, and hands on what waited long enough.
    fn look(&mut self, number: usize, now_ns: u64) {
        // A whole block begins a batch, so that a batch that is lost takes no later one along.
        let is_due = |p: &&Paced| !p.gone && now_ns >= p.due_ns && p.target.is_whole_due(now_ns);
        let is_whole_due = self.paced.get(number).as_ref().is_some_and(is_due);
        if is_whole_due {
            self.flush(number);
        }
        let Some((paced, counts)) = self.paced.get_mut(number).zip(self.counts.get(number)) else {
            return;
        };
        if !paced.gone && now_ns >= paced.due_ns {
            let mut late = (now_ns - paced.due_ns) / paced.period_ns;
            paced.due_ns += (late + 1) * paced.period_ns;
            let is_empty = paced.blocks.is_empty();
            // The disk does not keep up: nothing more is kept for it.
            let has_room = self.waiting < WAITING;
            late += u64::from(!has_room);
            if is_empty {
                paced.since_ns = now_ns;
                paced.is_whole = false;
            }
            if late > 0 {
                counts.missed.fetch_add(late, Ordering::Relaxed);
                // A Vec takes all that is written.
                let _ = writeln!(paced.blocks, "! {} {late}", Seconds(now_ns));
            }
            if has_room {
                match paced.target.sample(is_whole_due, &mut paced.blocks) {
                    Ok(is_whole) => {
                        paced.is_whole |= is_empty && is_whole;
                        counts.taken.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(e) => {
                        paced.gone = true;
                        let note = format!(
                            "the monitor {} cannot read its file any more: {e}",
                            paced.name
                        );
                        let _ = self.notes.send(note);
                    }
                }
            }
        }
        let waited = now_ns >= paced.since_ns + FLUSH_NS || paced.period_ns >= FLUSH_NS;
        let is_full = paced.blocks.len() >= BATCH_BYTES;
        if !paced.blocks.is_empty() && (waited || is_full) {
            self.flush(number);
        }
    }

    fn flush(&mut self, number: usize) {
        let mut empty = self.buffer();
        if let Some(paced) = self.paced.get_mut(number).filter(|p| !p.blocks.is_empty()) {
            std::mem::swap(&mut paced.blocks, &mut empty);
            let is_whole = paced.is_whole;
            self.send(number, empty, is_whole);
        } else {
            self.pool.push(empty);
        }
    }

    fn send(&mut self, file: usize, bytes: Vec<u8>, is_whole: bool) {
        self.waiting += 1;
        // The writer ends after this thread.
        let _ = self.batches.send(Batch {
            file,
            bytes,
            is_whole,
        });
    }

    fn buffer(&mut self) -> Vec<u8> {
        for empty in self.empty.try_iter() {
            self.waiting = self.waiting.saturating_sub(1);
            self.pool.push(empty);
        }
        let new = || Vec::with_capacity(BATCH_BYTES * 2);
        self.pool.pop().unwrap_or_else(new)
    }

    /// Makes the thread run when it has to, as far as it is allowed.
    fn take_precedence(&self) {
        let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::try_from(PRIORITY);
        let set = priority.is_ok_and(|priority| {
            set_thread_priority_and_policy(thread_native_id(), priority, fifo).is_ok()
        });
        if set {
            return;
        }
        // Others wait up to 50 us longer than they asked for.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Of this thread only, as Linux has it.
        if rustix::process::setpriority_process(None, NICE).is_err() {
            let note =
                "sampling has no precedence over other processes: on a busy host it may be late";
            let _ = self.notes.send(note.to_owned());
        }
    }
}
