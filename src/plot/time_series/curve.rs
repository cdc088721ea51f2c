//! Lines made ready to draw: grouped by condition, with their median, their peak and their phases.

use crate::plot::Line;
use crate::plot::axis::drawable;
use crate::series::{Phase, PhaseSpan};

/// The trials of one condition.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub name: String,
    pub trials: Vec<Trial>,
}

/// One trial's samples `(time in s, value)`, ascending in time; NaN values are gaps.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// When its workload began and ended, in s, when known.
    workload_s: Option<(f64, f64)>,
}

/// The highest sample of a condition's workloads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peak {
    pub time_s: f64,
    pub value: f64,
    pub trial: String,
}

/// The lines by condition, in order of first appearance. Lines without a single sample are left out.
pub(super) fn conditions(lines: &[Line]) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = Vec::new();
    for line in lines {
        let trial = Trial::new(line);
        if trial.samples().next().is_none() {
            continue;
        }
        match conditions
            .iter_mut()
            .find(|condition| condition.name == line.condition)
        {
            Some(condition) => condition.trials.push(trial),
            None => conditions.push(Condition {
                name: line.condition.clone(),
                trials: vec![trial],
            }),
        }
    }
    conditions
}

impl Trial {
    fn new(line: &Line) -> Trial {
        let mut points: Vec<(f64, f64)> = line
            .time_s
            .iter()
            .zip(&line.values)
            .filter(|(time, _)| drawable(**time))
            .map(|(&time, &value)| (time, if drawable(value) { value } else { f64::NAN }))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Trial {
            label: line.label.clone(),
            points,
            workload_s: known(&line.phases)
                .find(|span| span.phase == Phase::Workload)
                .map(|span| (span.start_s, span.end_s)),
        }
    }

    /// The samples of the workload, or all when its phase is not known: what a summary's peak is of.
    fn workload_samples(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let (start, end) = self
            .workload_s
            .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        self.samples()
            .filter(move |(time, _)| (start..=end).contains(time))
    }

    /// The points that are no gap.
    pub fn samples(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.points
            .iter()
            .copied()
            .filter(|point| !point.1.is_nan())
    }

    /// The value at a time, on the straight line between two neighbours; none within a gap or outside.
    fn at(&self, time_s: f64) -> Option<f64> {
        let next = self.points.partition_point(|point| point.0 < time_s);
        let (t1, v1) = *self.points.get(next)?;
        if t1 == time_s {
            return Some(v1).filter(|value| !value.is_nan());
        }
        let (t0, v0) = *self.points.get(next.checked_sub(1)?)?;
        let share = (time_s - t0) / (t1 - t0);
        Some(v0 * (1.0 - share) + v1 * share).filter(|value| !value.is_nan())
    }
}

impl Condition {
    /// Every sample of every trial.
    pub fn samples(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.trials.iter().flat_map(|trial| trial.samples())
    }

    /// The median of the trials at each of the times; NaN where a trial has no value, since the median would jump
    /// where trials begin and end. Trials that share no time need half of them at least.
    pub fn median(&self, times_s: &[f64]) -> Vec<(f64, f64)> {
        let values: Vec<Vec<f64>> = times_s
            .iter()
            .map(|&time| self.trials.iter().filter_map(|t| t.at(time)).collect())
            .collect();
        let all = self.trials.len();
        let shared = values.iter().any(|values| values.len() == all);
        let needed = if shared { all } else { all.div_ceil(2) };
        times_s
            .iter()
            .zip(values)
            .map(|(&time, mut values)| {
                let enough = values.len() >= needed;
                let median = enough.then(|| median(&mut values)).flatten();
                (time, median.unwrap_or(f64::NAN))
            })
            .collect()
    }

    /// The highest sample of all trials' workloads, the first of equals.
    pub fn peak(&self) -> Option<Peak> {
        let mut peak: Option<Peak> = None;
        for trial in &self.trials {
            for (time_s, value) in trial.workload_samples() {
                if peak.as_ref().is_none_or(|peak| value > peak.value) {
                    peak = Some(Peak {
                        time_s,
                        value,
                        trial: trial.label.clone(),
                    });
                }
            }
        }
        peak
    }

    /// Whether the workload of any trial is known, so that the highest sample is a peak of workloads.
    pub fn knows_workload(&self) -> bool {
        self.trials.iter().any(|trial| trial.workload_s.is_some())
    }

    /// When the trials' workloads end, the median, in s.
    pub fn workload_end_s(&self) -> Option<f64> {
        let ends = self.trials.iter().filter_map(|trial| trial.workload_s);
        median(&mut ends.map(|(_, end)| end).collect::<Vec<_>>())
    }
}

/// The phases that are known and can be drawn.
fn known(phases: &[PhaseSpan]) -> impl Iterator<Item = &PhaseSpan> {
    phases
        .iter()
        .filter(|span| drawable(span.start_s) && drawable(span.end_s))
}

/// The phases of the figure: for each phase the median of the trials' boundaries, in order of time.
pub(super) fn phases<'a>(lines: impl Iterator<Item = &'a Line> + Clone) -> Vec<PhaseSpan> {
    [Phase::Idle, Phase::Workload, Phase::Settle]
        .into_iter()
        .filter_map(|phase| {
            let spans = || {
                let all = lines.clone().flat_map(|line| known(&line.phases));
                all.filter(|span| span.phase == phase)
            };
            let start_s = median(&mut spans().map(|span| span.start_s).collect::<Vec<_>>())?;
            let end_s = median(&mut spans().map(|span| span.end_s).collect::<Vec<_>>())?;
            (start_s < end_s).then_some(PhaseSpan {
                phase,
                start_s,
                end_s,
            })
        })
        .collect()
}

/// The phases where the conditions' workloads end at different times: the workload up to the first of the ends,
/// where all conditions are under it, and the rest as in the condition whose workload ends last.
pub(super) fn common_phases(lines: &[Line], conditions: &[Condition]) -> Vec<PhaseSpan> {
    let ends = || {
        let ends = conditions.iter();
        ends.filter_map(|condition| Some((condition.workload_end_s()?, &condition.name)))
    };
    let first = ends().min_by(|a, b| a.0.total_cmp(&b.0));
    let last = ends().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some((first_s, _)), Some((_, last))) = (first, last) else {
        return phases(lines.iter());
    };
    let of_last = lines.iter().filter(|line| line.condition == *last);
    let mut common = phases(of_last);
    for span in &mut common {
        if span.phase == Phase::Workload {
            span.end_s = first_s;
        }
    }
    common.retain(|span| span.start_s < span.end_s);
    common
}

/// The word of a phase.
pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Workload => "workload",
        Phase::Settle => "settle",
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(values.len() / 2 - 1)?;
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(label: &str, condition: &str, values: &[f64]) -> Line {
        Line {
            label: label.into(),
            condition: condition.into(),
            time_s: (0..values.len()).map(|i| i as f64).collect(),
            values: values.to_vec(),
            phases: Vec::new(),
        }
    }

    #[test]
    fn the_median_stands_where_every_trial_has_a_value() {
        let lines = [
            line("t01", "a", &[1.0, 2.0, 3.0, f64::NAN, 5.0]),
            line("t02", "a", &[3.0, 4.0]),
            line("t03", "a", &[8.0, 8.0, 9.0]),
        ];
        let conditions = conditions(&lines);
        assert_eq!(conditions.len(), 1);
        let median = conditions[0].median(&[0.0, 0.5, 2.0]);
        assert_eq!(median[..2], [(0.0, 3.0), (0.5, 3.5)]);
        assert!(median[2].1.is_nan(), "the second trial has ended");
    }

    #[test]
    fn trials_that_share_no_time_have_a_median_of_half_of_them() {
        let mut late = line("t02", "a", &[7.0, 7.0]);
        late.time_s = vec![10.0, 11.0];
        let conditions = conditions(&[line("t01", "a", &[1.0, 2.0]), late]);
        let median = conditions[0].median(&[0.0, 10.0]);
        assert_eq!(median, [(0.0, 1.0), (10.0, 7.0)]);
    }

    #[test]
    fn the_highest_sample_names_its_trial() {
        let lines = [
            line("t01", "a", &[1.0, 7.0]),
            line("t02", "a", &[7.0, f64::INFINITY]),
        ];
        let peak = conditions(&lines)[0].peak().unwrap();
        assert_eq!(
            (peak.time_s, peak.value, peak.trial.as_str()),
            (1.0, 7.0, "t01")
        );
    }

    #[test]
    fn the_peak_is_the_workloads_where_that_is_known() {
        let mut lines = [
            line("t01", "a", &[9.0, 1.0, 2.0, 8.0]),
            line("t02", "a", &[4.0, 3.0]),
        ];
        lines[0].phases = vec![PhaseSpan {
            phase: Phase::Workload,
            start_s: 1.0,
            end_s: 2.0,
        }];
        let condition = &conditions(&lines)[0];
        assert!(condition.knows_workload());
        let peak = condition.peak().unwrap();
        assert_eq!((peak.value, peak.trial.as_str()), (4.0, "t02"));
        assert!(!conditions(&lines[1..])[0].knows_workload());
    }

    #[test]
    fn workloads_that_end_apart_share_their_beginning() {
        let span = |phase, start_s, end_s| PhaseSpan {
            phase,
            start_s,
            end_s,
        };
        let under_load = |condition: &str, end_s: f64| Line {
            phases: vec![
                span(Phase::Idle, -2.0, 0.0),
                span(Phase::Workload, 0.0, end_s),
                span(Phase::Settle, end_s, end_s + 1.0),
            ],
            ..line("t01", condition, &[1.0, 2.0])
        };
        let lines = [under_load("a", 12.0), under_load("b", 10.0)];
        assert_eq!(
            common_phases(&lines, &conditions(&lines)),
            [
                span(Phase::Idle, -2.0, 0.0),
                span(Phase::Workload, 0.0, 10.0),
                span(Phase::Settle, 12.0, 13.0),
            ]
        );
    }

    #[test]
    fn lines_without_samples_are_no_condition() {
        assert!(conditions(&[line("t01", "a", &[]), line("t02", "b", &[f64::NAN])]).is_empty());
    }

    #[test]
    fn phases_take_the_median_of_the_boundaries() {
        let mut lines = [
            line("t01", "a", &[]),
            line("t02", "a", &[]),
            line("t03", "b", &[]),
        ];
        for (line, start_s) in lines.iter_mut().zip([-5.0, -4.0, -9.0]) {
            line.phases = vec![PhaseSpan {
                phase: Phase::Idle,
                start_s,
                end_s: 0.0,
            }];
        }
        assert_eq!(
            phases(lines.iter()),
            [PhaseSpan {
                phase: Phase::Idle,
                start_s: -5.0,
                end_s: 0.0
            }]
        );
    }
}
