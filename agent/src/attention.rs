//! What wakes a supervisor: signals, and children that ended.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

use crate::clock::{ms, now_ns, timespec};

/// The longest wait without a look around.
const TURN_NS: u64 = ms(100);

/// Signals and the ends of children.
#[derive(Debug)]
pub struct Attention {
    wake: UnixStream,
    told: Arc<AtomicBool>,
    ended: HashMap<i32, Exit>,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// As a shell gives it: 128 and the number of the signal that ended it.
    pub code: i32,
    /// When it was seen.
    pub at_ns: u64,
}

impl Attention {
    /// Begins to listen. A signal that is listened to has its default in programs that are started from here, whatever
    /// this program was started with.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn new() -> io::Result<Attention> {
        let (wake, send) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        send.set_nonblocking(true)?;
        let told = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&told))?;
            signal_hook::low_level::pipe::register(signal, send.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, send.try_clone()?)?;
        // A limit of a file's size is an error of the write then.
        signal_hook::low_level::pipe::register(SIGXFSZ, send)?;
        Ok(Attention {
            wake,
            told,
            ended: HashMap::new(),
        })
    }

    /// Whether a signal told this process to end.
    pub fn is_told_to_end(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    /// Waits until a time, a signal, or the end of a child, but never longer than 100 ms.
    pub fn pause(&mut self, until_ns: u64) {
        let left = until_ns.saturating_sub(now_ns()).min(TURN_NS);
        if left > 0 {
            let mut fds = [PollFd::new(&self.wake, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&timespec(left)));
        }
        let mut bytes = [0; 256];
        while (&self.wake)
            .read(&mut bytes)
            .is_ok_and(|n| n == bytes.len())
        {}
        // Also those that were left to this process by their parents.
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let signal = status.terminating_signal().map(|signal| 128 + signal);
            if let Some(code) = status.exit_status().or(signal) {
                let at_ns = now_ns();
                self.ended
                    .insert(pid.as_raw_nonzero().get(), Exit { code, at_ns });
            }
        }
    }

    /// How a child ended; none while it runs.
    pub fn exit(&self, child: Pid) -> Option<Exit> {
        self.ended.get(&child.as_raw_nonzero().get()).copied()
    }

    /// Forgets the end of a former child with this number.
    pub fn forget(&mut self, child: Pid) {
        self.ended.remove(&child.as_raw_nonzero().get());
    }
}
