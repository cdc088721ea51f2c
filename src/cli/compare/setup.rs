//! How a record's figures were made, in a few lines above its comparison.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::ascii::{escaped, excerpt};
use crate::experiment::{Condition, Experiment, Workload, WorkloadKind};
use crate::record::{HostFacts, Record, RecordKind, State};
use crate::series::Phase;
use crate::stats;
use crate::unit::Unit;

/// Most characters of a line of its own, and of one that is wrapped once.
const SHORT: usize = 66;
const LONG: usize = 130;

/// Most characters of a source: three lines hold its Message-ID too.
const SOURCE: usize = 200;

/// Hosts described; more are counted.
const HOSTS: usize = 2;

/// Hosts, workload, conditions, design, boots and maker; of an import its source. Bounded and escaped.
pub(super) fn setup(record: &Record) -> Vec<String> {
    let manifest = record.manifest();
    let made = format!("made {} by {}", manifest.created, manifest.made_by);
    let mut lines = Vec::new();
    match manifest.kind {
        RecordKind::Import => {
            if let Some(source) = &manifest.source {
                lines.push(cut(&format!("source: {}", source.citation()), SOURCE));
            }
        }
        RecordKind::Run => {
            lines.extend(hosts(record));
            lines.extend(experiment(record).iter().flat_map(|e| design(e, record)));
            lines.extend(boots(record));
        }
    }
    lines.push(cut(&made, SHORT));
    lines
}

fn cut(text: &str, most: usize) -> String {
    excerpt(&escaped(text), most)
}

fn hosts(record: &Record) -> Vec<String> {
    let hosts = &record.manifest().hosts;
    let most = if hosts.len() > 1 { SHORT } else { LONG };
    let shown = hosts.iter().take(HOSTS);
    let mut lines: Vec<String> = shown
        .map(|facts| cut(&host(facts, &record.manifest().kernels(facts)), most))
        .collect();
    if hosts.len() > HOSTS {
        lines.push(format!("and {} more hosts", hosts.len() - HOSTS));
    }
    lines
}

/// `host loopback: kernel 6.1.0, Debian GNU/Linux 12, x86_64, 2 CPUs, 3.83 GiB`.
fn host(host: &HostFacts, kernels: &[String]) -> String {
    let fact = |name: &str| host.facts.get(name).map(String::as_str);
    let memory = fact("memory_kib").and_then(|kib| kib.parse().ok());
    let facts: Vec<String> = [
        (!kernels.is_empty()).then(|| format!("kernel {}", kernels.join(" and "))),
        fact("os").map(str::to_owned),
        fact("machine").map(str::to_owned),
        fact("cpus").map(|cpus| format!("{cpus} CPUs")),
        memory.map(|kib| Unit::KiB.show(kib)),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("host {}: {}", host.name, facts.join(", "))
}

/// The experiment with every default, where the record holds it and it can be read: the rest is told without it.
fn experiment(record: &Record) -> Option<Experiment> {
    let path = record.dir().join("experiment-full.yaml");
    // Never a pipe or a device: a record may come from anywhere.
    let is_file = path.symlink_metadata().is_ok_and(|file| file.is_file());
    is_file.then(|| Experiment::read(path).ok()).flatten()
}

fn design(experiment: &Experiment, record: &Record) -> Vec<String> {
    let conditions = experiment.conditions.iter().map(condition);
    let conditions: Vec<String> = conditions.collect();
    let design = &experiment.design;
    let cells = match experiment.cells().len() {
        1 => String::new(),
        count => format!(" in each of {count} cells"),
    };
    let several = if experiment.hosts.len() > 1 {
        " on each host"
    } else {
        ""
    };
    let mut lines = vec![
        cut(&workload(&experiment.workload), LONG),
        cut(&format!("conditions: {}", conditions.join("; ")), LONG),
        format!(
            "design: {} {} of each condition{cells}{several}, order {}",
            design.trials,
            if design.trials == 1 {
                "trial"
            } else {
                "trials"
            },
            design.order.word()
        ),
    ];
    lines.extend(prepared(experiment).map(|text| cut(&text, LONG)));
    // A boot has none.
    if experiment.workload.kind != WorkloadKind::Boot {
        lines.push(phases(experiment, record));
    }
    lines
}

/// How hosts are booted and what is set, as the experiment's file says it.
fn prepared(experiment: &Experiment) -> impl Iterator<Item = String> {
    let boot = experiment.boot.as_ref().map(|boot| {
        let kernel = boot
            .kernel
            .as_ref()
            .map(|kernel| format!(", kernel {kernel}"));
        let words = match boot.command_line.is_empty() {
            true => String::new(),
            false => format!(", command line {}", boot.command_line.join(" ")),
        };
        let every = boot.every.words();
        format!("boot: every {every}{}{words}", kernel.unwrap_or_default())
    });
    let settings = experiment.settings.iter();
    let settings = settings.map(|setting| format!("setting: {}={}", setting.file, setting.value));
    boot.into_iter().chain(settings.collect::<Vec<_>>())
}

/// The phases as planned, and how long the workload really took where that was another time.
fn phases(experiment: &Experiment, record: &Record) -> String {
    let planned = experiment.workload.duration;
    let trials = record.manifest().trials.iter();
    let complete = trials.filter(|trial| trial.state == State::Complete);
    let spans = complete.flat_map(|trial| &trial.phases);
    let took: Vec<f64> = spans
        .filter(|span| span.phase == Phase::Workload)
        .map(|span| span.end_s - span.start_s)
        .collect();
    let (least, most) = (stats::min(&took), stats::max(&took));
    let workload = match least.zip(most) {
        Some((least, most))
            if (most - planned.as_secs_f64()).abs() >= 1.0 || most - least >= 1.0 =>
        {
            format!("{least:.0} to {most:.0} s (planned {})", seconds(planned))
        }
        _ => seconds(planned),
    };
    format!(
        "phases: idle {}, workload {workload}, settle {}",
        seconds(experiment.idle),
        seconds(experiment.settle)
    )
}

fn workload(workload: &Workload) -> String {
    let program = match workload.kind {
        WorkloadKind::StressNg => "stress-ng ",
        WorkloadKind::Kmod => "kmod.sh ",
        WorkloadKind::Boot => "boot ",
        WorkloadKind::Command => "",
    };
    let arguments = workload.arguments.iter().map(|argument| {
        match argument.is_empty() || argument.contains(char::is_whitespace) {
            true => format!("'{argument}'"),
            false => argument.clone(),
        }
    });
    let arguments: Vec<String> = arguments.collect();
    format!("workload: {program}{}", arguments.join(" "))
}

/// `before vm_bytes=512m`.
fn condition(condition: &Condition) -> String {
    let mut text = condition.name.clone();
    for (name, value) in &condition.variables {
        text += &format!(" {name}={value}");
    }
    text
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// What the trials repeat: a reader must know when all ran within one boot.
fn boots(record: &Record) -> Option<String> {
    let trials = &record.manifest().trials;
    let complete: Vec<_> = trials
        .iter()
        .filter(|trial| trial.state == State::Complete)
        .collect();
    let boots: Option<BTreeSet<&str>> = complete.iter().map(|t| t.boot_id.as_deref()).collect();
    let boots = boots?.len();
    (complete.len() > 1).then(|| match boots {
        1 => "all trials within one boot: n counts repetitions within that boot".to_owned(),
        _ => format!("{} trials in {boots} boots", complete.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Manifest, RecordWriter, Replication, Trial};

    const EXPERIMENT: &str = "
question: Does it?
primary: memory.used.peak
hosts: [local]
conditions: {before: {size: 512m}, after: {size: 64m}}
workload: {stress-ng: [--vm-bytes, '{size}'], duration: 3s}
monitors: {meminfo: {every: 100ms}}
design: {trials: 2}
";

    fn of(experiment: &str, boots: [&str; 2]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new("r", RecordKind::Run, Replication::Trial);
        manifest.hosts.push(HostFacts {
            name: "local".into(),
            facts: [("kernel", "6.1.0\u{1b}[31m"), ("memory_kib", "4194304")]
                .map(|(name, fact)| (name.to_owned(), fact.to_owned()))
                .into(),
        });
        for (id, boot) in ["t01", "t02"].into_iter().zip(boots) {
            let mut trial = Trial::new(id, "before");
            trial.state = State::Complete;
            trial.boot_id = Some(boot.into());
            manifest.trials.push(trial);
        }
        let mut writer = RecordWriter::create(&dir.path().join("r")).unwrap();
        writer
            .write_raw("experiment-full.yaml", experiment.as_bytes())
            .unwrap();
        setup(&writer.finish(manifest).unwrap()).join("\n")
    }

    #[test]
    fn a_run_tells_host_workload_conditions_design_and_boots() {
        let text = of(EXPERIMENT, ["one", "one"]);
        for line in [
            "host local: kernel 6.1.0\\u{1b}[31m, 4.00 GiB\n",
            "workload: stress-ng --vm-bytes {size}\n",
            "conditions: before size=512m; after size=64m\n",
            "design: 2 trials of each condition, order abba\n",
            "phases: idle 2 s, workload 3 s, settle 2 s\n",
            "all trials within one boot",
            "by ktrial ",
        ] {
            assert!(text.contains(line), "{line:?} is not in {text}");
        }
        assert!(of(EXPERIMENT, ["one", "two"]).contains("2 trials in 2 boots"));
    }

    #[test]
    fn what_cannot_be_read_is_left_out_and_what_is_long_is_cut() {
        let text = of("hosts: [", ["one", "one"]);
        assert!(
            text.contains("host local") && !text.contains("workload:"),
            "{text}"
        );
        let long = EXPERIMENT.replace("512m", &"9".repeat(5000));
        assert!(
            of(&long, ["one", "one"])
                .lines()
                .all(|line| line.len() <= LONG + 3)
        );
    }
}
