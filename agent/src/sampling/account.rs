//! What supervising and sampling itself takes.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use super::Counts;
use crate::clock::{Seconds, cpu_us, now_ns};

/// Tells of this process.
pub struct SelfAccount {
    statm: Option<File>,
    page_kib: u64,
}

impl SelfAccount {
    pub fn new() -> SelfAccount {
        SelfAccount {
            statm: File::open("/proc/self/statm").ok(),
            page_kib: rustix::param::page_size() as u64 / 1024,
        }
    }

    /// Appends a block: processor time so far, resident memory, samples of all monitors taken and missed so far.
    pub fn write(&mut self, counts: &[Counts], out: &mut Vec<u8>) {
        let taken: u64 = counts.iter().map(|c| c.taken.load(Ordering::Relaxed)).sum();
        let missed: u64 = counts
            .iter()
            .map(|c| c.missed.load(Ordering::Relaxed))
            .sum();
        // A Vec takes all that is written.
        let _ = write!(
            out,
            "@ {}\ncpu_us: {}\nrss_kib: {}\nsamples: {taken}\nmissed: {missed}\n",
            Seconds(now_ns()),
            cpu_us(),
            self.resident_kib().unwrap_or(0),
        );
    }

    fn resident_kib(&self) -> Option<u64> {
        let mut bytes = [0; 256];
        let read = self.statm.as_ref()?.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(bytes.get(..read)?).ok()?;
        let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages * self.page_kib)
    }
}
