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
    monitors: BTreeMap<&'static str, String>,
    trials: Vec<TrialEntry<'a>>,
}

#[derive(Serialize)]
struct TrialEntry<'a> {
    id: &'a str,
    host: &'a str,
    condition: &'a str,
    #[serde(skip_serializing_if = "Cell::is_empty")]
    cell: &'a Cell,
    script: String,
}

/// The file's content.
pub(super) fn content(plan: &Plan) -> Result<Vec<u8>> {
    let planned = workload::planned(&plan.experiment);
    let file = PlanFile {
        preflight: preflight::script(plan),
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
                script: workload::script(trial, &plan.experiment),
            })
            .collect(),
    };
    serde_yaml::to_string(&file)
        .map(String::into_bytes)
        .map_err(|e| Error::new(ErrorKind::Record, "cannot write the plan").because(e))
}
