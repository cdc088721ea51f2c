//! How many samples a plan's trials give, and whether a record has room for them.

use std::time::Duration;

use crate::experiment::{Monitor, Plan};
use crate::{monitor, workload};

impl Plan {
    /// A sentence for each monitor of which a trial would write more than a record keeps.
    pub(super) fn too_many_samples(&self) -> impl Iterator<Item = String> {
        let planned = workload::planned(&self.experiment);
        let monitors = self.experiment.monitors.iter();
        monitors.filter_map(move |monitor| {
            let bytes = bytes(monitor, planned);
            (bytes > monitor::MOST_BYTES).then(|| {
                format!(
                    "{} would give about {} MiB a trial, and a record keeps the first {} MiB of it: sample less often, \
                     or make trials shorter (an estimate, {} bytes a sample; on a quiet host it is less)",
                    monitor.kind.name(),
                    bytes >> 20,
                    monitor::MOST_BYTES >> 20,
                    monitor::bytes_a_sample(monitor)
                )
            })
        })
    }
}

/// About what a monitor writes in a trial.
fn bytes(monitor: &Monitor, planned: Duration) -> u64 {
    let samples = planned.as_micros() / monitor.period.as_micros().max(1);
    let samples = u64::try_from(samples).unwrap_or(u64::MAX);
    samples.saturating_mul(monitor::bytes_a_sample(monitor))
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn warnings(duration: &str, monitors: &str) -> Vec<String> {
        let text = format!(
            "question: q\nprimary: memory.used.peak\nhosts: [h]\nconditions: {{a: {{n: 1}}, b: {{n: 2}}}}\n\
             workload: {{command: [sleep, '{{n}}'], duration: {duration}}}\nmonitors: {{{monitors}}}\n\
             design: {{trials: 4}}\n"
        );
        let plan = Experiment::parse(&text, "e.yaml").unwrap().plan().unwrap();
        plan.warnings()
    }

    #[test]
    fn a_kilohertz_fits_for_minutes_and_more_is_told() {
        let both = "meminfo: {every: 1ms}, vmstat: {every: 1ms}";
        assert_eq!(warnings("10min", both), Vec::<String>::new());
        let [vmstat] = &warnings("20min", both)[..] else {
            panic!("{:?}", warnings("20min", both));
        };
        // 1,204,000 samples of 300 bytes.
        let said =
            "vmstat would give about 344 MiB a trial, and a record keeps the first 256 MiB of it";
        assert!(vmstat.starts_with(said), "{vmstat}");
        assert_eq!(warnings("1h", both).len(), 2);
        assert_eq!(warnings("24h", "meminfo: {every: 1s}").len(), 0);
    }
}
