//! The text report: plain ASCII, 72 columns, ready to paste into a mail.

mod table;

use crate::ascii::{escaped, excerpt};
use crate::compare::{Assumption, Comparison, Verdict};
use crate::report::Report;
use crate::report::wrap::{WIDTH, wrapped};
use crate::unit::{Unit, significant};

/// Smaller p values are not written out.
const LEAST_P: f64 = 0.0001;

/// Most characters of a name within a sentence or a table.
const LONGEST_NAME: usize = 40;

pub(super) fn render(report: &Report) -> String {
    let comparisons = report.comparisons.as_slice();
    let mut parts = vec![headlines(comparisons), wrapped(&escaped(&report.title), 2)];
    for group in by_conditions(comparisons) {
        parts.push(legend(group) + &table::render(group));
    }
    parts.push(tests(comparisons));
    for figure in &report.figures {
        parts.push(figure.to_text(WIDTH).trim_end().to_owned() + "\n");
    }
    parts.push(notes(report));
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n")
}

/// The verdict in a sentence: of the primary metric when one was named, of the only comparison when there is one,
/// else of each that is supported, else of the first.
fn headlines(comparisons: &[Comparison]) -> String {
    let supported = |c: &&Comparison| c.verdict == Verdict::Supported;
    let mut told: Vec<&Comparison> = comparisons.iter().filter(|c| c.primary).collect();
    let mut text = String::new();
    let tested = comparisons.iter().filter(|c| c.p().is_some()).count();
    if told.is_empty() && tested > 0 && comparisons.len() > 1 {
        told = comparisons.iter().filter(supported).collect();
        text += &wrapped(
            &format!(
                "{} of {} comparisons supported.",
                told.len(),
                comparisons.len()
            ),
            0,
        );
    }
    if told.is_empty() {
        told.extend(comparisons.first());
    }
    for comparison in told {
        text += &wrapped(&headline(comparison), 2);
    }
    if comparisons.is_empty() {
        text += "Nothing was compared.\n";
    }
    text
}

/// One sentence: what was found, its size, interval and n, the verdict and its p value. Escaped for plain text.
pub(crate) fn headline(c: &Comparison) -> String {
    let (a, b) = condition_names(c);
    let found = match c.difference {
        None => format!("{}: nothing can be compared", label(c)),
        Some(0.0) => format!("{}: no difference between {a} and {b}", label(c)),
        Some(d) => {
            let direction = if d < 0.0 { "lower" } else { "higher" };
            let size = c.unit.show(d.abs());
            format!("{} {size} {direction} in {b} than in {a}", label(c))
        }
    };
    let mut facts = Vec::new();
    if let Some(ratio) = c.ratio.filter(|_| c.difference != Some(0.0)) {
        facts.extend(percent(ratio));
    }
    if let Some(interval) = c.difference_ci {
        facts.push(format!("95 % interval {}", span(&c.unit, interval)));
    }
    facts.push(format!("n = {} + {}", c.a.n, c.b.n));
    let mut text = format!("{found} ({}): {}", facts.join(", "), c.verdict.words());
    if let Some(p) = c.p() {
        text += &format!(", {} {}", method(c), p_value(p));
        if let Some(adjusted) = c.p_adjusted.filter(|&adjusted| adjusted != p) {
            text += &format!(" ({} after Holm)", p_value(adjusted));
        }
    }
    text + "."
}

/// Comparisons of the same two conditions, in order.
fn by_conditions(comparisons: &[Comparison]) -> impl Iterator<Item = &[Comparison]> {
    comparisons.chunk_by(|x, y| x.condition_a == y.condition_a && x.condition_b == y.condition_b)
}

/// The conditions' names within a sentence; `a` and `b`, as in the legend, when they are too long for one.
fn condition_names(c: &Comparison) -> (String, String) {
    let (a, b) = (escaped(&c.condition_a), escaped(&c.condition_b));
    if a.len().max(b.len()) > LONGEST_NAME {
        ("a".into(), "b".into())
    } else {
        (a, b)
    }
}

fn legend(group: &[Comparison]) -> String {
    group.first().map_or_else(String::new, |c| {
        let (a, b) = (escaped(&c.condition_a), escaped(&c.condition_b));
        let what = if c.a.n == 1 && c.b.n == 1 {
            "values"
        } else {
            "means"
        };
        let line = format!("a = {a}, b = {b}: {what}; the difference is b - a.");
        if line.len() <= WIDTH {
            return line + "\n";
        }
        wrapped(&format!("a = {a}"), 4)
            + &wrapped(&format!("b = {b}"), 4)
            + &format!("a and b: {what}; the difference is b - a.\n")
    })
}

/// The p values with how they were had, of the primary metric when one was named; and the rule of the verdict.
fn tests(comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    let named = comparisons.iter().any(|c| c.primary);
    for c in comparisons.iter().filter(|c| c.primary || !named) {
        let mut facts = Vec::new();
        if let Some(p) = c.p_welch {
            facts.push(format!("Welch {}", p_value(p)));
        }
        if let (Some(p), Some(method)) = (c.p_permutation, c.permutation_method) {
            facts.push(format!("permutation {} ({method})", p_value(p)));
        }
        if facts.is_empty() {
            continue;
        }
        if let Some(least) = c.p_min {
            facts.push(format!("smallest attainable {}", p_value(least)));
        }
        if let (Some(d), Verdict::NotShown) = (c.detectable_difference, c.verdict) {
            facts.push(format!(
                "a difference of {} would have been seen with 80 % power",
                c.unit.show(d.abs())
            ));
        }
        if comparisons.len() == 1 {
            facts.extend(effect_sizes(c));
        }
        let facts = facts.join("; ");
        text += &wrapped(
            &match comparisons.len() {
                1 => facts,
                _ => format!("{}: {facts}", label(c)),
            },
            2,
        );
    }
    text + &rule(comparisons)
}

fn effect_sizes(c: &Comparison) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(h) = c.hodges_lehmann {
        facts.push(format!(
            "Hodges-Lehmann shift {}, {} interval {}",
            c.unit.show_signed(h.shift),
            percentage(h.coverage * 100.0),
            span(&c.unit, (h.low, h.high))
        ));
    }
    if let Some(delta) = c.cliffs_delta {
        facts.push(format!("Cliff's delta {}", significant(delta)));
    }
    facts
}

fn rule(comparisons: &[Comparison]) -> String {
    let Some(c) = comparisons.iter().find(|c| c.p().is_some()) else {
        return String::new();
    };
    let which = match c.assumption {
        Assumption::Normal => "Welch's p",
        Assumption::Exact => "the permutation p",
    };
    let adjusted = if comparisons.len() > 1 {
        " after Holm"
    } else {
        ""
    };
    wrapped(
        &format!("rule: supported when {which}{adjusted} is below 0.05"),
        2,
    )
}

fn notes(report: &Report) -> String {
    let mut seen = Vec::new();
    let all = report
        .comparisons
        .iter()
        .flat_map(|c| c.warnings.iter().map(move |w| (Some(c), w)))
        .chain(report.notes.iter().map(|note| (None, note)));
    for (comparison, note) in all {
        // What is said of some comparisons only names the first of them; what is said of all names none.
        let general = report.comparisons.iter().all(|c| c.warnings.contains(note));
        let line = match comparison {
            Some(c) if !general => format!("note: {}: {}", label(c), escaped(note)),
            _ => format!("note: {}", escaped(note)),
        };
        if !seen.contains(&line) {
            seen.push(line);
        }
    }
    seen.iter().map(|line| wrapped(line, 2)).collect()
}

/// Metric and cell.
/// The metric and its cell, `metric [config=debug]`. Escaped for plain text.
pub(crate) fn label(c: &Comparison) -> String {
    let metric = name(&c.metric);
    if c.cell.is_empty() {
        return metric;
    }
    let cell: Vec<String> = c
        .cell
        .iter()
        .map(|(key, value)| format!("{}={}", name(key), name(value)))
        .collect();
    format!("{metric} [{}]", cell.join(", "))
}

fn name(text: &str) -> String {
    excerpt(text, LONGEST_NAME)
}

fn method(c: &Comparison) -> &'static str {
    match c.assumption {
        Assumption::Normal => "Welch",
        Assumption::Exact => "permutation",
    }
}

/// None when the change is too large for a double.
fn percent(ratio: f64) -> Option<String> {
    let change = (ratio - 1.0) * 100.0;
    let sign = if change > 0.0 { "+" } else { "" };
    change
        .is_finite()
        .then(|| format!("{sign}{}", percentage(change)))
}

fn percentage(value: f64) -> String {
    Unit::Percent.show(value)
}

/// Two numbers in the unit in which the larger reads best: `-1.64 to -0.541 s`.
fn span(unit: &Unit, (low, high): (f64, f64)) -> String {
    let best = unit.scaled_for(low.abs().max(high.abs()));
    let factor = unit.factor_to(&best).unwrap_or(1.0);
    format!(
        "{} to {}",
        significant(low * factor),
        best.show_in(high * factor, &best)
    )
}

/// `p = 0.0286`, `p < 0.0001`.
fn p_value(p: f64) -> String {
    if p < LEAST_P {
        format!("p < {LEAST_P}")
    } else {
        format!("p = {}", p_digits(p))
    }
}

/// The p value alone, as in the table.
pub(crate) fn p_digits(p: f64) -> String {
    match p {
        _ if p < LEAST_P => format!("<{LEAST_P}"),
        _ if p < 0.1 => format!("{p:.4}"),
        _ => format!("{p:.3}"),
    }
}
