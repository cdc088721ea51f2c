//! An experiment written back as YAML, for the record: whole, whatever it extended.

use crate::experiment::draft::{
    DesignDraft, Draft, Entries, MonitorDraft, MonitorsDraft, WorkloadDraft,
};
use crate::experiment::{Experiment, MonitorKind, WorkloadKind, duration};

pub(super) fn write(experiment: &Experiment) -> String {
    // Texts, lists and mappings of them: there is nothing in a draft that YAML cannot say.
    serde_yaml::to_string(&draft(experiment)).unwrap_or_default()
}

fn draft(experiment: &Experiment) -> Draft {
    let workload = &experiment.workload;
    let arguments = |kind| (workload.kind == kind).then(|| workload.arguments.clone());
    let monitor = |kind| {
        experiment
            .monitors
            .iter()
            .find(|monitor| monitor.kind == kind)
            .map(|monitor| MonitorDraft {
                every: Some(duration::show(monitor.period)),
            })
    };
    let conditions = experiment.conditions.iter().map(|condition| {
        let variables = condition.variables.clone().into_iter().collect();
        (condition.name.clone(), Entries(variables))
    });
    let params: Vec<_> = experiment.params.clone().into_iter().collect();
    Draft {
        extends: None,
        name: Some(experiment.name.clone()),
        question: Some(experiment.question.clone()),
        primary: Some(experiment.primary.clone()),
        hosts: Some(experiment.hosts.clone()),
        conditions: Some(Entries(conditions.collect())),
        params: (!params.is_empty()).then_some(Entries(params)),
        workload: Some(WorkloadDraft {
            stress_ng: arguments(WorkloadKind::StressNg),
            command: arguments(WorkloadKind::Command),
            duration: Some(duration::show(workload.duration)),
        }),
        idle: Some(duration::show(experiment.idle)),
        settle: Some(duration::show(experiment.settle)),
        monitors: Some(MonitorsDraft {
            meminfo: monitor(MonitorKind::Meminfo),
            free: monitor(MonitorKind::Free),
        }),
        design: Some(DesignDraft {
            trials: Some(experiment.design.trials.to_string()),
            order: Some(experiment.design.order.word().to_owned()),
            seed: Some(experiment.design.seed.to_string()),
        }),
    }
}
