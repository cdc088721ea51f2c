//! The host's CLOCK_BOOTTIME: it counts while the host sleeps, and no wall clock that is set changes it.

use std::fmt;

use rustix::thread::ClockId;
use rustix::time::{Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds since the host's boot.
pub fn now_ns() -> u64 {
    ns(clock_gettime(rustix::time::ClockId::Boottime))
}

/// Microseconds of processor time that this process took so far, with all its threads.
pub fn cpu_us() -> u64 {
    ns(clock_gettime(rustix::time::ClockId::ProcessCPUTime)) / 1_000
}

/// Sleeps until a time; an absolute one, so that what is done between two sleeps adds no drift.
pub fn sleep_until(until_ns: u64) {
    // Only a signal ends it early, and who calls looks at the clock again.
    let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Boottime, &timespec(until_ns));
}

/// A duration as the kernel takes it.
pub fn timespec(duration_ns: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration_ns / NS_PER_S).unwrap_or(i64::MAX),
        tv_nsec: (duration_ns % NS_PER_S) as _,
    }
}

/// Milliseconds as nanoseconds; what is beyond centuries stays there.
pub const fn ms(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(1_000_000)
}

fn ns(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(NS_PER_S).saturating_add(rest)
}

/// Shows nanoseconds as seconds with six digits after the point.
pub struct Seconds(pub u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let us = self.0 / 1_000;
        write!(f, "{}.{:06}", us / 1_000_000, us % 1_000_000)
    }
}
