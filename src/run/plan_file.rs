//! `plan.yaml` of a record: the trials in order and every script, as they run on the hosts; `TOKEN` stands for each trial's own word.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::Plan;
use crate::monitor;
use crate::series::Cell;
use crate::workload;

use super::preflight;

#[derive(Serialize)]
struct PlanFile<'a> {
    preflight: String,
    identity: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    boot: BTreeMap<&'static str, &'static str>,
    monitors: BTreeMap<&'static str, String>,
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
    script: String,
}

/// The file's content.
pub(super) fn content(plan: &Plan) -> Result<Vec<u8>> {
    let planned = workload::planned(&plan.experiment);
    let file = PlanFile {
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
                script: workload::script(trial, &plan.experiment),
            })
            .collect(),
    };
    serde_yaml::to_string(&file)
        .map(String::into_bytes)
        .map_err(|e| Error::new(ErrorKind::Record, "cannot write the plan").because(e))
}
