//! What a run tells while it goes on.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::record::State;
use crate::series::Phase;

/// One thing that happened. Words that come from a host are escaped already.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Update<'a> {
    /// The hosts passed their preflight and the record is begun.
    RunStarted {
        /// The record's directory.
        record: &'a Path,
        /// How many trials are planned.
        trials: usize,
        /// The plan's hosts, each with the ids of its trials in order.
        hosts: &'a BTreeMap<&'a str, Vec<&'a str>>,
    },
    /// A host is not ready, and the run goes on without it.
    LeftOut {
        /// The host.
        host: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A trial began.
    TrialStarted {
        /// Its host.
        host: &'a str,
        /// Its id.
        trial: &'a str,
        /// Its condition.
        condition: &'a str,
        /// How long it is planned to take.
        planned: Duration,
    },
    /// A trial that another ktrial began is fetched from its host, and followed while it goes on there.
    Fetching {
        /// Its host.
        host: &'a str,
        /// Its id.
        trial: &'a str,
        /// Its condition.
        condition: &'a str,
        /// How long it is planned to take, from its begin.
        planned: Duration,
    },
    /// A host is started anew for a trial.
    Booting {
        /// The host.
        host: &'a str,
        /// The trial's id.
        trial: &'a str,
        /// The kernel that is asked for; none when any will do.
        kernel: Option<&'a str>,
    },
    /// A host is up again.
    Up {
        /// The host.
        host: &'a str,
        /// The trial's id.
        trial: &'a str,
        /// What `uname -r` says.
        kernel: &'a str,
        /// Time since it was started anew.
        took: Duration,
    },
    /// A trial's next phase began.
    PhaseStarted {
        /// Its host.
        host: &'a str,
        /// Its id.
        trial: &'a str,
        /// The phase.
        phase: Phase,
    },
    /// Samples came in.
    Sampled {
        /// The host.
        host: &'a str,
        /// The trial's id.
        trial: &'a str,
        /// How many samples its first monitor gave by now.
        samples: u64,
    },
    /// A trial ended.
    TrialEnded {
        /// Its host.
        host: &'a str,
        /// Its id.
        trial: &'a str,
        /// What became of it.
        state: State,
        /// Why, when it is not complete.
        reason: Option<&'a str>,
    },
    /// The connection to a host broke and is tried again.
    Reconnecting {
        /// The host.
        host: &'a str,
        /// Which try, from 1.
        attempt: usize,
    },
    /// A host is reached again; its trial went on meanwhile.
    Reconnected {
        /// The host.
        host: &'a str,
    },
    /// A host's trials are over.
    HostDone {
        /// The host.
        host: &'a str,
    },
}

/// Takes what a run tells; called from one thread a host.
pub trait Progress: Sync {
    /// Takes one thing that happened. Must not wait long: the trial waits with it.
    fn update(&self, update: Update<'_>);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn update(&self, _: Update<'_>) {}
}
