//! A script that runs below sudo, and what of its output is its own.

use std::collections::VecDeque;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::fence::Fence;
use crate::host::{Event, Running};
use crate::process::shown;

/// A script below sudo. On the controller itself, dropping it cannot end it: it is root's.
pub(super) struct Rooted {
    pub(super) running: Box<dyn Running>,
    pub(super) stdout: Fence,
    stderr: Fence,
    pub(super) group: i32,
    pub(super) waiting: VecDeque<Event>,
}

impl Rooted {
    pub(super) fn new(running: Box<dyn Running>, sentinel: &str) -> Rooted {
        Rooted {
            running,
            stdout: Fence::new(sentinel),
            stderr: Fence::new(sentinel),
            group: 0,
            waiting: VecDeque::new(),
        }
    }

    /// The next event of the script's own; none when no fence comes.
    pub(super) fn receive(&mut self, timeout: Duration) -> Result<Option<Event>> {
        let event = self.running.next(timeout)?;
        Ok(self.own(event))
    }

    /// What of an event is the script's own; none when no fence comes.
    pub(super) fn own(&mut self, event: Event) -> Option<Event> {
        let event = match event {
            Event::Stdout(bytes) => self.stdout.pass(bytes).map(Event::Stdout),
            Event::Stderr(bytes) => self.stderr.pass(bytes).map(Event::Stderr),
            other => Ok(other),
        };
        event.ok().map(|event| match event {
            // What came was not the script's.
            Event::Stdout(bytes) | Event::Stderr(bytes) if bytes.is_empty() => Event::Quiet,
            event => event,
        })
    }

    pub(super) fn noise(&self) -> Vec<u8> {
        [self.stdout.noise(), self.stderr.noise()].concat()
    }
}

impl Running for Rooted {
    fn group(&self) -> i32 {
        self.group
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.running.feed(bytes);
    }

    fn end_input(&mut self) {
        self.running.end_input();
    }

    fn next(&mut self, timeout: Duration) -> Result<Event> {
        if let Some(event) = self.waiting.pop_front() {
            return Ok(event);
        }
        let event = self.receive(timeout)?;
        event.ok_or_else(|| {
            let said = shown(&self.noise());
            Error::new(
                ErrorKind::HostStable,
                format!("sudo says too much before a script: {said}"),
            )
        })
    }
}
