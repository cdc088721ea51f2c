//! The plan as JSON, schema 1. Its fields are in docs/experiment.md.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::experiment::{Experiment, Plan, PlannedTrial};
use crate::supervisor::{self, Kind};
use crate::{monitor, run, workload};

fn settings(trial: &PlannedTrial, experiment: &Experiment) -> BTreeMap<String, String> {
    let settings = workload::settings::of(trial, experiment).into_iter();
    settings.map(|s| (s.file, s.value)).collect()
}

/// The scripts that deal with a trial on its host.
fn trial_scripts(plan: &Plan, kind: Kind) -> Vec<Value> {
    let Some(trial) = plan.trials.first() else {
        return Vec::new();
    };
    let spec = supervisor::spec(trial, &plan.experiment, kind, None);
    let scripts = run::trial_scripts(&spec, kind).into_iter();
    scripts
        .map(|(what, script)| json!({"for": what, "script": script}))
        .collect()
}

pub fn render(plan: &Plan) -> String {
    let experiment = &plan.experiment;
    let planned = workload::planned(experiment);
    let conditions: Vec<Value> = experiment
        .conditions
        .iter()
        .map(|condition| json!({"name": condition.name, "variables": condition.variables}))
        .collect();
    let monitors: Vec<Value> = experiment
        .monitors
        .iter()
        .map(|chosen| {
            json!({
                "name": chosen.kind.name(),
                "every_s": chosen.period.as_secs_f64(),
                "script": monitor::script(chosen, planned),
            })
        })
        .collect();
    let boot: Vec<Value> = workload::boot::scripts(plan)
        .into_iter()
        .map(|(what, script)| json!({"for": what, "script": script}))
        .collect();
    let mut seen = BTreeSet::new();
    let workloads: Vec<Value> = plan
        .trials
        .iter()
        .filter(|trial| seen.insert((&trial.condition, &trial.cell)))
        .map(|trial| {
            json!({
                "condition": trial.condition,
                "cell": trial.cell,
                "argv": trial.argv,
                "spec": supervisor::spec(trial, experiment, Kind::Agent, None),
            })
        })
        .collect();
    let trials: Vec<Value> = plan
        .trials
        .iter()
        .map(|trial| {
            json!({
                "id": trial.id,
                "host": trial.host,
                "condition": trial.condition,
                "cell": trial.cell,
                "boot": trial.boot.as_ref().map(|boot| json!({
                    "kernel": boot.kernel,
                    "command_line": boot.command_line,
                })),
                "settings": settings(trial, experiment),
            })
        })
        .collect();
    let plan = json!({
        "schema": 1,
        "name": experiment.name,
        "question": experiment.question,
        "primary": experiment.primary,
        "secondary": experiment.secondary,
        "notes": experiment.notes,
        "hosts": plan.hosts(),
        "conditions": conditions,
        "params": experiment.params,
        "design": {
            "trials": experiment.design.trials,
            "order": experiment.design.order.word(),
            "seed": experiment.design.seed,
        },
        "phases_s": {
            "idle": experiment.idle.as_secs_f64(),
            "workload": experiment.workload.duration.as_secs_f64(),
            "settle": experiment.settle.as_secs_f64(),
        },
        "as_root": plan.needs_root(),
        "estimated_s": plan.estimated_time().as_secs_f64(),
        "trials_a_condition": plan.trials_a_condition(),
        "smallest_p": plan.smallest_p(),
        "warnings": plan.warnings(),
        "trials": trials,
        "commands": {
            "root_check": plan.needs_root().then_some(run::ROOT_CHECK),
            "preflight": run::preflight_script(plan),
            "identity": workload::boot::IDENTITY,
            "boot": boot,
            "place": run::place_script(),
            "agent": run::agent_script(),
            "send": run::send_script(),
            "by_agent": trial_scripts(plan, Kind::Agent),
            "by_shell": trial_scripts(plan, Kind::Shell),
            "monitors": monitors,
            "workloads": workloads,
        },
    });
    format!("{plan:#}\n")
}
