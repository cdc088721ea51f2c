//! What a supervisor is told to do: a trial of a plan as [`Spec`].

use std::time::Duration;

use ktrial_agent::{Monitor, Setting, Source, Spec};

use super::Kind;
use crate::experiment::{self, Experiment, PlannedTrial};
use crate::{monitor, workload};

/// How long after its planned end a trial goes on without a controller, unless another lease is asked for.
pub const LEASE: Duration = Duration::from_secs(600);

/// The shortest period of the shell's monitors: each sample starts a program there.
const SHELL_PERIOD: Duration = Duration::from_secs(1);

/// A trial as its supervisor has to know it.
///
/// `lease` is how long it goes on without a controller, from the last sign of one: its planned time and [`LEASE`] when
/// none is given.
///
/// A boot that is the workload has no phases and needs no supervisor; the command is then what is asked after it.
pub fn spec(
    trial: &PlannedTrial,
    experiment: &Experiment,
    kind: Kind,
    lease: Option<Duration>,
) -> Spec {
    let scripts = workload::scripts(trial, experiment);
    let settings = workload::settings::of(trial, experiment);
    let mut guarded = workload::settings::guarded(trial, experiment);
    guarded.retain(|file| settings.iter().all(|setting| setting.file != *file));
    let planned = workload::planned(experiment);
    let monitors = experiment.monitors.iter();
    Spec {
        trial: trial.id.clone(),
        idle_ms: ms(experiment.idle),
        settle_ms: ms(experiment.settle),
        limit_ms: ms(workload::deadline(&experiment.workload)),
        grace_ms: ms(workload::grace(trial, experiment)),
        lease_ms: ms(lease.unwrap_or(planned + LEASE)),
        monitors: monitors.map(|m| sampled(m, planned, kind)).collect(),
        settings: settings
            .into_iter()
            .map(|experiment::Setting { file, value }| Setting { file, value })
            .collect(),
        guarded,
        reports: workload::report(experiment).into_iter().collect(),
        prepare: scripts.prepare,
        command: scripts.command,
        restore: scripts.restore,
    }
}

fn sampled(chosen: &experiment::Monitor, planned: Duration, kind: Kind) -> Monitor {
    let mut chosen = chosen.clone();
    if kind == Kind::Shell {
        chosen.period = chosen.period.max(SHELL_PERIOD);
    }
    let source = match (kind, monitor::file(chosen.kind)) {
        (Kind::Agent, Some(file)) => Source::File(file.to_owned()),
        _ => Source::Script(monitor::script(&chosen, planned)),
    };
    Monitor {
        name: chosen.kind.name().to_owned(),
        period_us: u64::try_from(chosen.period.as_micros()).unwrap_or(u64::MAX),
        source,
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
