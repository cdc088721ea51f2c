//! The text report: plain ASCII, 72 columns, ready to paste into a mail.

mod table;

use crate::ascii::{escaped, excerpt};
use crate::compare::{Assumption, Comparison, Verdict};
use crate::report::Report;
use crate::report::wrap::{WIDTH, wrapped};
use crate::series::Cell;
use crate::unit::{Unit, significant};

/// Smaller p values are not written out.
const LEAST_P: f64 = 0.0001;

/// Most characters of a name within a sentence or a table.
const LONGEST_NAME: usize = 40;

pub(super) fn render(report: &Report) -> String {
    let comparisons = report.comparisons.as_slice();
    let mut parts = vec![headlines(comparisons), wrapped(&escaped(&report.title), 2)];
    parts.push(lines(&report.setup));
    for group in by_conditions(comparisons) {
        parts.push(legend(group) + &table::render(group) + star(group));
    }
    parts.push(tests(comparisons));
    for figure in &report.figures {
        parts.push(figure.to_text(WIDTH).trim_end().to_owned() + "\n");
    }
    parts.push(notes(report));
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n")
}

fn lines(texts: &[String]) -> String {
    let lines = texts.iter().map(|text| wrapped(&escaped(text), 2));
    lines.collect()
}

/// What the star in the table means, when there is one.
fn star(group: &[Comparison]) -> &'static str {
    match group.iter().any(|c| c.primary) {
        true => "* primary metric, named before the run\n",
        false => "",
    }
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
    let scale = c.scale();
    let found = match c.difference {
        None => format!("{}: nothing can be compared", label(c)),
        Some(0.0) => format!("{}: no difference between {a} and {b}", label(c)),
        Some(d) => {
            let direction = if d < 0.0 { "lower" } else { "higher" };
            let size = scale.with_unit(&scale.difference(d.abs()));
            format!("{} {size} {direction} in {b} than in {a}", label(c))
        }
    };
    let mut facts = Vec::new();
    if let Some(ratio) = c.ratio.filter(|_| c.difference != Some(0.0)) {
        facts.extend(percent(ratio));
    }
    if let Some(interval) = c.difference_ci {
        facts.push(format!(
            "95 % interval {}",
            scale.with_unit(&scale.span(interval))
        ));
    }
    facts.push(format!("n = {} + {}", c.a.n, c.b.n));
    let mut text = format!("{found} ({}): {}", facts.join(", "), c.verdict.words());
    if let Some(p) = c.p() {
        text += &format!(", {} {}", method(c), p_value(p));
        if let Some(adjusted) = c.p_adjusted.filter(|_| is_adjusted(c)) {
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
        let scale = c.scale();
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
                scale.with_unit(&scale.difference(d.abs()))
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
    let scale = c.scale();
    if let Some(h) = c.hodges_lehmann {
        facts.push(format!(
            "Hodges-Lehmann shift {}, {} interval {}",
            scale.with_unit(&scale.signed(h.shift)),
            percentage(h.coverage * 100.0),
            scale.with_unit(&scale.span((h.low, h.high)))
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
    // What stands here may be a part of its family: the p values tell whether Holm changed them, their number not.
    let is_adjusted_of = |primary| {
        comparisons
            .iter()
            .any(|c| c.primary == primary && is_adjusted(c))
    };
    let named = comparisons.iter().any(|c| c.primary);
    let rule = match (named, is_adjusted_of(true), is_adjusted_of(false)) {
        (_, false, false) => format!("{which} is below 0.05"),
        (true, false, true) => {
            format!("{which} is below 0.05, after Holm for all but the primary metric")
        }
        _ => format!("{which} after Holm is below 0.05"),
    };
    wrapped(&format!("rule: supported when {rule}"), 2)
}

/// Whether the p value was changed by Holm's adjustment.
fn is_adjusted(c: &Comparison) -> bool {
    c.p_adjusted.is_some() && c.p_adjusted != c.p()
}

/// Each note once: what is said of several comparisons names them together, and what is said of the same ones
/// stands under one name.
fn notes(report: &Report) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let mut told: Vec<&str> = Vec::new();
    let warnings = report.comparisons.iter().flat_map(|c| &c.warnings);
    for note in warnings.chain(&report.notes).map(String::as_str) {
        if told.contains(&note) {
            continue;
        }
        told.push(note);
        let about = about(report, note);
        match groups.iter_mut().find(|(of, _)| *of == about) {
            Some((_, notes)) => notes.push(note),
            None => groups.push((about, vec![note])),
        }
    }
    let mut text = String::new();
    for (about, notes) in groups {
        match notes.as_slice() {
            [note] if !about.is_empty() => {
                text += &wrapped(&format!("note: {about}: {}", escaped(note)), 2);
            }
            notes if about.is_empty() => {
                for note in notes {
                    text += &wrapped(&format!("note: {}", escaped(note)), 2);
                }
            }
            notes => {
                text += &wrapped(&format!("notes on {about}:"), 2);
                for note in notes {
                    text += &wrapped(&format!("- {}", escaped(note)), 2);
                }
            }
        }
    }
    text
}

/// Which comparisons a note is of: nothing when it is of all or of the whole, a cell when it is of all in it.
fn about(report: &Report, note: &str) -> String {
    const NAMED: usize = 3;
    let has = |c: &&Comparison| c.warnings.iter().any(|warning| warning == note);
    let of: Vec<&Comparison> = report.comparisons.iter().filter(has).collect();
    let (Some(first), false) = (
        of.first(),
        of.len() == report.comparisons.len() || report.notes.iter().any(|n| n == note),
    ) else {
        return String::new();
    };
    let in_cell = report.comparisons.iter().filter(|c| c.cell == first.cell);
    let one_cell = of.iter().all(|c| c.cell == first.cell);
    if of.len() > 1 && one_cell && !first.cell.is_empty() && in_cell.count() == of.len() {
        return cell_label(&first.cell);
    }
    let mut names: Vec<String> = of.iter().take(NAMED).map(|c| label(c)).collect();
    if of.len() > NAMED {
        names.push(format!("{} more", of.len() - NAMED));
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The metric and its cell, `metric [config=debug]`. Escaped for plain text.
pub(crate) fn label(c: &Comparison) -> String {
    let metric = name(&c.metric);
    if c.cell.is_empty() {
        return metric;
    }
    format!("{metric} {}", cell_label(&c.cell))
}

fn cell_label(cell: &Cell) -> String {
    let cell: Vec<String> = cell
        .iter()
        .map(|(key, value)| format!("{}={}", name(key), name(value)))
        .collect();
    format!("[{}]", cell.join(", "))
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
