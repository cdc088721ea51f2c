//! The sentences that go with a comparison, each with its next step.

use super::{ALPHA, Arm, Assumption, Comparison, Options, Verdict};
use crate::report::p_digits;
use crate::stats::{self, Permutation};
use crate::unit::significant;

/// A name from outside, bounded and escaped, in backticks.
pub(super) fn quoted(name: &str) -> String {
    let mut short: String = name.chars().take(40).collect();
    if short.len() < name.len() {
        short.push_str("...");
    }
    format!("`{}`", short.escape_default())
}

/// What the values themselves give reason to say; `trials` are the ids behind each arm's values where they are known.
pub(super) fn of_values(
    comparison: &Comparison,
    trials: [&[&str]; 2],
    permutation: Option<Permutation>,
    options: &Options,
) -> Vec<String> {
    let arms = [
        (&comparison.condition_a, &comparison.a),
        (&comparison.condition_b, &comparison.b),
    ];
    let mut warnings = Vec::new();
    for (condition, arm) in arms {
        let strange = arm.values.iter().filter(|x| !x.is_finite()).count();
        if strange > 0 {
            warnings.push(format!(
                "{strange} of {} values of {} are not finite numbers, or became larger than a double holds (1.8e308) when they were summed up or converted: nothing is computed from that arm; use a larger unit, or correct them at the source",
                arm.n,
                quoted(condition)
            ));
        }
    }
    let finite = |arm: &Arm| arm.n > 0 && arm.values.iter().all(|x| x.is_finite());
    if comparison.difference.is_none() && finite(&comparison.a) && finite(&comparison.b) {
        warnings.push("the difference is larger than a double holds (1.8e308), though the values are finite: use a larger unit".into());
    }
    warnings.extend(few(comparison));
    warnings.extend(no_spread(comparison));
    for ((condition, arm), trials) in arms.into_iter().zip(trials) {
        let named = (condition.as_str(), trials);
        warnings.extend(outlying(comparison, named, arm, options));
    }
    warnings.extend(permutation.and_then(|p| chance(comparison, p)));
    if permutation.is_none() && comparison.p_welch.is_some() {
        warnings.push(
            "too many values for a permutation test: none is made; at this n Welch's p says the same, use it".into(),
        );
    }
    warnings
}

/// Few values.
fn few(comparison: &Comparison) -> Option<String> {
    let (a, b) = (&comparison.a, &comparison.b);
    let enough = stats::smallest_arm(ALPHA)?;
    let which = |n: usize| {
        let names = [(a, &comparison.condition_a), (b, &comparison.condition_b)]
            .into_iter()
            .filter(|(arm, _)| arm.n == n)
            .map(|(_, condition)| quoted(condition));
        names.collect::<Vec<_>>().join(" and ")
    };
    match (a.n.min(b.n), a.n.max(b.n)) {
        (0, _) => Some(format!(
            "no value of {}: nothing is compared; look at why its trials gave none",
            which(0)
        )),
        (1, 1) => Some(format!(
            "n = 1 each: no test is made; run each condition at least {enough} times"
        )),
        (1, _) => Some(format!(
            "n = 1 in {}: no test is made; run it at least {enough} times",
            which(1)
        )),
        (2, _) => Some(format!(
            "n = 2 in {}: the spread rests on two values; run at least {enough} + {enough}",
            which(2)
        )),
        _ => None,
    }
}

/// No spread in either arm.
fn no_spread(comparison: &Comparison) -> Option<String> {
    if comparison.a.sd != Some(0.0) || comparison.b.sd != Some(0.0) {
        return None;
    }
    Some(if comparison.difference == Some(0.0) {
        "all values are equal: there is no spread to test by; check that the metric can change and is read finely enough".into()
    } else {
        match comparison.assumption {
            Assumption::Normal => "no spread in either condition: Welch's test cannot be made, so the difference is not shown under `normal`; use --assume exact".into(),
            Assumption::Exact => "no spread in either condition: there is no Welch interval; check that the trials ran independently".into(),
        }
    })
}

/// One value that stands out by Grubbs' test at 0.05: shown, with and without, never dropped.
fn outlying(
    comparison: &Comparison,
    (condition, trials): (&str, &[&str]),
    arm: &Arm,
    options: &Options,
) -> Option<String> {
    let index = stats::outlier(&arm.values, ALPHA)?;
    let value = *arm.values.get(index)?;
    let mut rest = arm.values.clone();
    rest.remove(index);
    let (a, b) = if std::ptr::eq(arm, &comparison.a) {
        (&rest, &comparison.b.values)
    } else {
        (&comparison.a.values, &rest)
    };
    let without = match options.assumption {
        Assumption::Normal => stats::welch(a, b, ALPHA).map(|w| w.p),
        Assumption::Exact => stats::permutation(a, b, options.seed).map(|p| p.p),
    };
    let show = |p: Option<f64>| p.map_or("none".into(), p_digits);
    let which = trials.get(index).map_or_else(
        || format!("value {}", index + 1),
        |trial| format!("trial {}", quoted(trial)),
    );
    Some(format!(
        "{which} of {} stands out, {} (Grubbs' test): p is {} with it and {} without; it is kept, look at what was different in that trial",
        quoted(condition),
        comparison.unit.show(value),
        show(comparison.p()),
        show(without)
    ))
}

/// A p value from random splits that is too near to 0.05 to trust the verdict.
fn chance(comparison: &Comparison, permutation: Permutation) -> Option<String> {
    let near = (permutation.p - ALPHA).abs() < 2.0 * permutation.standard_error;
    (near && comparison.assumption == Assumption::Exact).then(|| {
        format!(
            "p is {} +- {} from {} random splits: another seed could change the verdict; add trials",
            p_digits(permutation.p),
            significant(permutation.standard_error),
            permutation.splits
        )
    })
}

/// What the exact test could not have reached at this n, in a family of this size.
pub(super) fn of_reach(comparison: &Comparison, family: usize) -> Option<String> {
    let (n_a, n_b, least) = (comparison.a.n, comparison.b.n, comparison.p_min?);
    let family = family.max(1) as f64;
    let adjusted = (least * family).min(1.0);
    if n_a < 2 || n_b < 2 || adjusted <= ALPHA {
        return None;
    }
    let mut reach = format!(
        "the exact test's smallest p at n = {n_a} + {n_b} is {}",
        p_digits(least)
    );
    if family > 1.0 {
        reach.push_str(&format!(
            ", {} for the first of {family} comparisons after Holm",
            p_digits(adjusted)
        ));
    }
    let enough = stats::smallest_arm(ALPHA / family)?;
    match (comparison.assumption, comparison.verdict) {
        (Assumption::Normal, Verdict::Supported) => Some(format!(
            "{reach}: the verdict rests on the assumption of roughly normal values; run {enough} + {enough} to do without it"
        )),
        (Assumption::Exact, Verdict::NotShown | Verdict::CannotBeShown) => {
            Some(format!("{reach}; run at least {enough} + {enough}"))
        }
        _ => None,
    }
}
