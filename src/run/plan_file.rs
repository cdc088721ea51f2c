//! `plan.yaml` of a record: the trials in order, what their supervisor is told, and every script.

use std::collections::BTreeMap;

use ktrial_agent::Spec;
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, WorkloadKind};
use crate::monitor;
use crate::series::Cell;
use crate::supervisor::{self, Kind};
use crate::workload;

use super::preflight;

#[derive(Serialize)]
struct PlanFile<'a> {
    preflight: String,
    identity: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    boot: BTreeMap<&'static str, &'static str>,
    monitors: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<String>,
    trials: Vec<TrialEntry<'a>>,
}

#[derive(Serialize)]
struct BootEntry<'a> {
    kernel: Option<&'a str>,
    command_line: &'a [String],
}

#[derive(Serialize)]
struct TrialEntry<'a> {
    id: &'a str,
    host: &'a str,
    condition: &'a str,
    #[serde(skip_serializing_if = "Cell::is_empty")]
    cell: &'a Cell,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot: Option<BootEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<Spec>,
}

/// The file's content.
pub(super) fn content(plan: &Plan) -> Result<Vec<u8>> {
    let planned = workload::planned(&plan.experiment);
    let has_phases = plan.experiment.workload.kind != WorkloadKind::Boot;
    let first = plan.trials.first().filter(|_| has_phases);
    let file = PlanFile {
        shell: first.map(|trial| {
            let spec = supervisor::spec(trial, &plan.experiment, Kind::Shell, None);
            supervisor::shell_script(&spec)
        }),
        preflight: preflight::script(plan),
        identity: workload::boot::IDENTITY,
        boot: workload::boot::scripts(plan).into_iter().collect(),
        monitors: plan
            .experiment
            .monitors
            .iter()
            .map(|m| (m.kind.name(), monitor::script(m, planned)))
            .collect(),
        trials: plan
            .trials
            .iter()
            .map(|trial| TrialEntry {
                id: &trial.id,
                host: &trial.host,
                condition: &trial.condition,
                cell: &trial.cell,
                boot: trial.boot.as_ref().map(|boot| BootEntry {
                    kernel: boot.kernel.as_deref(),
                    command_line: &boot.command_line,
                }),
                spec: has_phases
                    .then(|| supervisor::spec(trial, &plan.experiment, Kind::Agent, None)),
            })
            .collect(),
    };
    serde_yaml::to_string(&file)
        .map(String::into_bytes)
        .map_err(|e| Error::new(ErrorKind::Record, "cannot write the plan").because(e))
}
