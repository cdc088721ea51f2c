//! An experiment written back as YAML, for the record: whole, whatever it extended.

use crate::experiment::draft::{
    BootDraft, DesignDraft, Draft, Entries, MonitorDraft, MonitorsDraft, WorkloadDraft,
};
use crate::experiment::{Experiment, MonitorKind, WorkloadKind, duration};

pub(super) fn write(experiment: &Experiment) -> String {
    // Texts, lists and mappings of them: there is nothing in a draft that YAML cannot say.
    serde_yaml::to_string(&draft(experiment)).unwrap_or_default()
}

fn draft(experiment: &Experiment) -> Draft {
    let workload = &experiment.workload;
    let measures_boots = workload.kind == WorkloadKind::Boot;
    let mut workload_draft = WorkloadDraft {
        duration: Some(duration::show(workload.duration)),
        ..WorkloadDraft::default()
    };
    *workload_draft.arguments(workload.kind) = Some(workload.arguments.clone());
    let boot = experiment.boot.as_ref().map(|boot| BootDraft {
        every: Some(boot.every.words()),
        kernel: boot.kernel.clone(),
        command_line: some(boot.command_line.clone()),
    });
    let settings = experiment.settings.iter();
    let settings = settings.map(|setting| (setting.file.clone(), setting.value.clone()));
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
        secondary: some(experiment.secondary.clone()),
        notes: some(experiment.notes.clone()),
        hosts: Some(experiment.hosts.clone()),
        conditions: Some(Entries(conditions.collect())),
        params: some(params).map(Entries),
        boot,
        settings: some(settings.collect()).map(Entries),
        workload: Some(workload_draft),
        idle: (!measures_boots).then(|| duration::show(experiment.idle)),
        settle: (!measures_boots).then(|| duration::show(experiment.settle)),
        monitors: (!measures_boots).then(|| MonitorsDraft {
            meminfo: monitor(MonitorKind::Meminfo),
            vmstat: monitor(MonitorKind::Vmstat),
            free: monitor(MonitorKind::Free),
        }),
        design: Some(DesignDraft {
            trials: Some(experiment.design.trials.to_string()),
            order: Some(experiment.design.order.word().to_owned()),
            seed: Some(experiment.design.seed.to_string()),
        }),
    }
}

/// None for an empty list, which stands for a key that was not given.
fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
