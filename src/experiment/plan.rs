//! The plan: the ordered trials that an experiment's design expands to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::experiment::{
    BOOT_TAKES, Condition, Every, Experiment, PlannedBoot, Setting, WorkloadKind, order, template,
};
use crate::series::Cell;
use crate::{stats, workload};

/// Trials that a plan may have.
pub(super) const MAX_TRIALS: u64 = 10_000;

/// The level that a plan should be able to reach.
const LEVEL: f64 = 0.05;

/// What a trial takes beside its phases, for the estimate: starting monitors, fetching what they wrote.
pub const OVERHEAD_A_TRIAL: Duration = Duration::from_secs(1);

/// An experiment and its trials in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The experiment.
    pub experiment: Experiment,
    /// Trials, in the order they run. Hosts run side by side, each its own trials in this order.
    pub trials: Vec<PlannedTrial>,
}

/// One trial to come, with every `{variable}` filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTrial {
    /// `t01`, `t02`, ... in order.
    pub id: String,
    /// Condition's name.
    pub condition: String,
    /// Parameters' values.
    pub cell: Cell,
    /// Host's name.
    pub host: String,
    /// Program and arguments as they will run (for `stress-ng` and `kmod` with `stress-ng` or `kmod.sh` in front;
    /// nothing where the boot is the workload).
    pub argv: Vec<String>,
    /// The boot that it begins with.
    pub boot: Option<PlannedBoot>,
    /// What is set while it runs.
    pub settings: Vec<Setting>,
}

impl Plan {
    /// Whether the hosts' work needs root: reboots, settings and modules do.
    pub fn needs_root(&self) -> bool {
        let of_trial = |trial| workload::needs_root(trial, &self.experiment);
        self.experiment.boot.is_some() || self.trials.iter().any(of_trial)
    }

    /// How long it takes: the busiest host's trials, as hosts run side by side, each with its phases,
    /// [`OVERHEAD_A_TRIAL`], and [`BOOT_TAKES`] where it begins with a boot.
    pub fn estimated_time(&self) -> Duration {
        let experiment = &self.experiment;
        let measures_boots = experiment.workload.kind == WorkloadKind::Boot;
        let phases = experiment.idle + experiment.workload.duration + experiment.settle;
        let mut hosts: BTreeMap<&str, Duration> = BTreeMap::new();
        for trial in &self.trials {
            let boot = match trial.boot.is_some() && !measures_boots {
                true => BOOT_TAKES,
                false => Duration::ZERO,
            };
            let time = hosts.entry(&trial.host).or_default();
            *time = time.saturating_add(phases + boot + OVERHEAD_A_TRIAL);
        }
        hosts.into_values().max().unwrap_or_default()
    }

    /// The hosts that take part, each once, in order of their first trial.
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        for trial in &self.trials {
            if seen.insert(trial.host.as_str()) {
                hosts.push(&trial.host);
            }
        }
        hosts
    }

    /// Trials of a condition that one comparison has: those of every host, in one cell.
    pub fn trials_a_condition(&self) -> u32 {
        let hosts = u32::try_from(self.experiment.hosts.len()).unwrap_or(u32::MAX);
        self.experiment.design.trials.saturating_mul(hosts)
    }

    /// The smallest two-sided p that an exact permutation test of two conditions can give.
    pub fn smallest_p(&self) -> f64 {
        let n = self.trials_a_condition() as usize;
        stats::smallest_p(n, n).unwrap_or(1.0)
    }

    /// What to know before it runs, each a sentence.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (n, p) = (self.trials_a_condition(), self.smallest_p());
        if let Some(enough) = stats::smallest_arm(LEVEL)
            && let Some(p_enough) = stats::smallest_p(enough, enough)
            && p > LEVEL
        {
            warnings.push(format!(
                "{n} + {n} trials: an exact test cannot go below {}; {enough} + {enough} can reach {}",
                show_p(p),
                show_p(p_enough)
            ));
        }
        // Otherwise only some trials of a condition begin with a boot, and all with the same.
        let boots_differ = self
            .experiment
            .boot
            .as_ref()
            .is_some_and(|b| b.every == Every::Trial);
        let mut commands = BTreeMap::new();
        for trial in &self.trials {
            let all = (&trial.cell, &trial.argv, &trial.settings, &trial.host);
            let boot = trial.boot.as_ref().map(|b| (&b.kernel, &b.command_line));
            let boot = boot.filter(|_| boots_differ);
            if let Some(other) = commands.insert((all, boot), &trial.condition)
                && *other != trial.condition
            {
                warnings.push(format!(
                    "{other} and {} run the same: what differs between them is noise",
                    trial.condition
                ));
                break;
            }
        }
        warnings.extend(self.confounded());
        warnings.extend(self.too_many_samples());
        warnings
    }

    /// Each condition on hosts of its own.
    fn confounded(&self) -> Option<String> {
        let mut conditions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for trial in &self.trials {
            let hosts = conditions.entry(&trial.condition).or_default();
            hosts.insert(&trial.host);
        }
        let mut seen = BTreeSet::new();
        let apart = conditions.values().flatten().all(|host| seen.insert(*host));
        (apart && conditions.len() > 1).then(|| {
            "each condition has hosts of its own: a difference may be that of the hosts; one host booted into each \
             kernel can tell them apart"
                .to_owned()
        })
    }
}

impl Experiment {
    /// Trials in all; `u64::MAX` when there are more.
    pub(super) fn total_trials(&self) -> u64 {
        [
            self.hosts.len() as u64,
            self.conditions.len() as u64,
            u64::from(self.design.trials),
        ]
        .into_iter()
        .chain(self.params.values().map(|values| values.len() as u64))
        .fold(1, u64::saturating_mul)
    }
}

/// A p value with two digits, for people.
pub fn show_p(p: f64) -> String {
    if p < 1e-4 {
        return "0.0001 or less".to_owned();
    }
    let decimals = (1.0 - p.log10().floor()).max(0.0) as usize;
    let text = format!("{p:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Lays an experiment's trials out.
pub(super) fn plan(experiment: &Experiment) -> Result<Plan> {
    let total = experiment.total_trials();
    if total > MAX_TRIALS {
        return Err(Error::input(format!(
            "the plan would have {total} trials; at most {MAX_TRIALS} are allowed"
        )));
    }
    let cells = experiment.cells();
    let mut slots = Vec::new();
    for cell in &cells {
        for condition in &experiment.conditions {
            slots.push(Slot::new(experiment, condition, cell)?);
        }
    }
    let design = &experiment.design;
    let every = experiment.boot.as_ref().map(|boot| boot.every);
    let sequences: Vec<Vec<Vec<usize>>> = (0u64..)
        .zip(&experiment.hosts)
        .map(|(host, _)| {
            let blocks = design.trials as usize;
            order::blocks(design.order, design.seed, host, blocks, slots.len())
        })
        .collect();
    let digits = total.to_string().len().max(2);
    let mut trials = Vec::new();
    for block in 0..design.trials as usize {
        for place in 0..slots.len() {
            for (host, sequence) in sequences.iter().enumerate() {
                let slot = sequence.get(block).and_then(|block| block.get(place));
                let Some(slot) = slot.and_then(|slot| slots.get(*slot)) else {
                    continue;
                };
                let begins = every.is_some_and(|every| every.begins(block, place));
                trials.push(PlannedTrial {
                    id: format!("t{:0digits$}", trials.len() + 1),
                    condition: slot.condition.to_owned(),
                    cell: slot.cell.clone(),
                    host: slot.hosts.get(host).cloned().unwrap_or_default(),
                    argv: slot.argv.clone(),
                    boot: slot.boot.clone().filter(|_| begins),
                    settings: slot.settings.clone(),
                });
            }
        }
    }
    Ok(Plan {
        experiment: experiment.clone(),
        trials,
    })
}

/// A condition in a cell, with every `{variable}` filled in.
struct Slot<'a> {
    condition: &'a str,
    cell: &'a Cell,
    argv: Vec<String>,
    /// One for each of the experiment's hosts.
    hosts: Vec<String>,
    boot: Option<PlannedBoot>,
    settings: Vec<Setting>,
}

impl<'a> Slot<'a> {
    fn new(
        experiment: &'a Experiment,
        condition: &'a Condition,
        cell: &'a Cell,
    ) -> Result<Slot<'a>> {
        let values = values(condition, cell);
        let fill = |text: &String| fill(condition, "an entry", text, &values);
        let fill_all = |texts: &[String]| texts.iter().map(fill).collect::<Result<Vec<_>>>();
        let settings = experiment.settings.iter().map(|setting| {
            let (file, value) = (setting.file.clone(), fill(&setting.value)?);
            Ok(Setting { file, value })
        });
        let boot = experiment.boot.as_ref().map(|boot| {
            Ok(PlannedBoot {
                kernel: boot.kernel.as_ref().map(fill).transpose()?,
                command_line: fill_all(&boot.command_line)?,
            })
        });
        Ok(Slot {
            condition: &condition.name,
            cell,
            argv: argv(experiment, condition, cell)?,
            hosts: fill_all(&experiment.hosts)?,
            boot: boot.transpose()?,
            settings: settings.collect::<Result<_>>()?,
        })
    }
}

fn values<'a>(condition: &'a Condition, cell: &'a Cell) -> BTreeMap<&'a str, &'a str> {
    let pairs = condition.variables.iter().chain(cell);
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

fn fill(
    condition: &Condition,
    what: &str,
    text: &str,
    values: &BTreeMap<&str, &str>,
) -> Result<String> {
    template::fill(text, values)
        .map_err(|why| Error::input(format!("condition `{}`: {what} {why}", condition.name)))
}

/// Program and arguments under a condition in a cell.
///
/// # Errors
/// `Input` when a variable has no value.
pub(super) fn argv(
    experiment: &Experiment,
    condition: &Condition,
    cell: &Cell,
) -> Result<Vec<String>> {
    let values = values(condition, cell);
    let program = match experiment.workload.kind {
        WorkloadKind::StressNg => Some(Ok("stress-ng".to_owned())),
        WorkloadKind::Kmod => Some(Ok("kmod.sh".to_owned())),
        WorkloadKind::Boot => return Ok(Vec::new()),
        WorkloadKind::Command => None,
    };
    let arguments = experiment.workload.arguments.iter();
    let arguments =
        arguments.map(|text| fill(condition, "an argument of the workload", text, &values));
    program.into_iter().chain(arguments).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::experiment::Order;

    fn experiment(hosts: usize, conditions: usize, values: usize, design: &str) -> Experiment {
        let hosts: Vec<String> = (0..hosts).map(|i| format!("h{i}")).collect();
        let conditions: Vec<String> = (0..conditions).map(|i| format!("c{i}: {{}}")).collect();
        let values: Vec<String> = (0..values).map(|i| i.to_string()).collect();
        let text = format!(
            "question: q\nprimary: free.used.peak\nhosts: [{}]\nconditions: {{{}}}\n\
             workload: {{command: [true, '{{p}}'], duration: 3s}}\nidle: 2s\nsettle: 4s\n\
             monitors: {{free: {{}}}}\ndesign: {{{design}}}\nparams: {{p: [{}]}}\n",
            hosts.join(", "),
            conditions.join(", "),
            values.join(", ")
        );
        Experiment::parse(&text, "e.yaml").unwrap()
    }

    fn order(experiment: &Experiment) -> Vec<String> {
        let plan = experiment.plan().unwrap();
        plan.trials.into_iter().map(|t| t.condition).collect()
    }

    #[test]
    fn abba_over_two_and_three_conditions() {
        let two = experiment(1, 2, 1, "trials: 3");
        assert_eq!(order(&two), ["c0", "c1", "c1", "c0", "c0", "c1"]);
        let three = experiment(1, 3, 1, "trials: 2, order: abba");
        assert_eq!(order(&three), ["c0", "c1", "c2", "c2", "c1", "c0"]);
    }

    #[test]
    fn cells_are_within_blocks_and_hosts_side_by_side() {
        let plan = experiment(2, 2, 2, "trials: 2").plan().unwrap();
        let first_host: Vec<String> = plan
            .trials
            .iter()
            .filter(|trial| trial.host == "h0")
            .map(|trial| format!("{}{}", trial.condition, trial.cell["p"]))
            .collect();
        let expected = ["c00", "c10", "c01", "c11", "c11", "c01", "c10", "c00"];
        assert_eq!(first_host, expected);
        assert_eq!(plan.trials[0].host, "h0");
        assert_eq!(plan.trials[1].host, "h1");
        assert_eq!(plan.trials[15].id, "t16");
        // Eight trials a host, each 2 + 3 + 4 + 1 s.
        assert_eq!(plan.estimated_time(), Duration::from_secs(80));
    }

    #[test]
    fn a_condition_may_have_a_host_of_its_own() {
        let text = "question: q\nprimary: free.used.peak\nhosts: ['kdevops-{host}']\n\
            conditions: {before: {host: kmod}, after: {host: kmod-dev}}\n\
            workload: {command: ['true'], duration: 3s}\nidle: 0s\nsettle: 0s\n\
            monitors: {free: {}}\nboot: {every: trial}\ndesign: {trials: 2}\n";
        let plan = Experiment::parse(text, "e.yaml").unwrap().plan().unwrap();
        assert_eq!(plan.hosts(), ["kdevops-kmod", "kdevops-kmod-dev"]);
        let of_after = plan.trials.iter().filter(|t| t.condition == "after");
        assert!(of_after.clone().all(|t| t.host == "kdevops-kmod-dev"));
        assert_eq!(of_after.count(), 2);
        // Two trials a host, each 3 + 1 s and a boot.
        assert_eq!(
            plan.estimated_time(),
            2 * (Duration::from_secs(4) + BOOT_TAKES)
        );
        let warnings = plan.warnings().join("; ");
        assert!(
            warnings.contains("each condition has hosts of its own"),
            "{warnings}"
        );
    }

    #[test]
    fn settings_and_boots_are_filled_in_and_tell_conditions_apart() {
        let text = "question: q\nprimary: free.used.peak\nhosts: [h]\n\
            conditions: {off: {v: 0}, on: {v: 1}}\nboot: {every: 2 blocks, kernel: '6.12'}\n\
            settings: {vm.swappiness: '{v}'}\nworkload: {command: ['true'], duration: 3s}\n\
            monitors: {free: {}}\ndesign: {trials: 4}\n";
        let plan = Experiment::parse(text, "e.yaml").unwrap().plan().unwrap();
        let values: Vec<&str> = plan
            .trials
            .iter()
            .map(|t| t.settings[0].value.as_str())
            .collect();
        assert_eq!(values, ["0", "1", "1", "0", "0", "1", "1", "0"]);
        let boots: Vec<usize> = (0..8).filter(|&i| plan.trials[i].boot.is_some()).collect();
        assert_eq!(boots, [0, 4]);
        assert!(plan.warnings().is_empty(), "{:?}", plan.warnings());
        let again = Experiment::parse(&plan.experiment.to_yaml(), "e.yaml").unwrap();
        assert_eq!(again, plan.experiment);
    }

    #[test]
    fn a_seed_decides_the_random_order() {
        let with = |seed| {
            order(&experiment(
                1,
                2,
                1,
                &format!("trials: 20, order: random, seed: {seed}"),
            ))
        };
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }

    #[test]
    fn designs_that_cannot_show_anything_are_told() {
        let warnings = |trials| {
            let plan = experiment(1, 2, 1, &format!("trials: {trials}"))
                .plan()
                .unwrap();
            plan.warnings().join("; ")
        };
        let three = "3 + 3 trials: an exact test cannot go below 0.1; 4 + 4 can reach 0.029";
        assert!(warnings(3).contains(three), "{}", warnings(3));
        assert!(!warnings(4).contains("exact test"), "{}", warnings(4));
        assert!(warnings(4).contains("c0 and c1 run the same"));
    }

    #[test]
    fn p_values_have_two_digits() {
        assert_eq!(show_p(2.0 / 70.0), "0.029");
        assert_eq!(show_p(0.1), "0.1");
        assert_eq!(show_p(1.0), "1");
        assert_eq!(show_p(1e-9), "0.0001 or less");
        let plan = experiment(2, 2, 1, "trials: 2").plan().unwrap();
        assert_eq!(show_p(plan.smallest_p()), "0.029");
    }

    proptest! {
        #[test]
        fn plans_are_balanced(hosts in 1usize..3, conditions in 2usize..5, values in 1usize..4,
                              trials in 1u32..6, random: bool, seed: u64) {
            let word = if random { Order::Random } else { Order::Abba }.word();
            let design = format!("trials: {trials}, order: {word}, seed: {seed}");
            let plan = experiment(hosts, conditions, values, &design).plan().unwrap();
            let mut counts: BTreeMap<_, u32> = BTreeMap::new();
            let mut ids = std::collections::BTreeSet::new();
            for trial in &plan.trials {
                let count = counts.entry((&trial.host, &trial.condition, &trial.cell)).or_default();
                *count += 1;
                prop_assert!(ids.insert(&trial.id));
            }
            prop_assert_eq!(counts.len(), hosts * conditions * values);
            prop_assert!(counts.values().all(|count| *count == trials));
            // On each host, each block holds everything once.
            for host in &plan.experiment.hosts {
                let own: Vec<_> = plan.trials.iter().filter(|t| t.host == *host).collect();
                for block in own.chunks(conditions * values) {
                    let all: std::collections::BTreeSet<_> =
                        block.iter().map(|t| (&t.condition, &t.cell)).collect();
                    prop_assert_eq!(all.len(), conditions * values);
                }
            }
        }

        #[test]
        fn what_is_written_back_reads_the_same(values in 1usize..4, trials in 1u32..6, seed: u64) {
            let before = experiment(2, 3, values, &format!("trials: {trials}, order: random, seed: {seed}"));
            let after = Experiment::parse(&before.to_yaml(), "x.yaml").unwrap();
            prop_assert_eq!(after, before);
        }
    }
}
