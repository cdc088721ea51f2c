//! The JSON report. docs/json.md explains every key; keys are added, never changed, within a schema.

use serde::Serialize;

use crate::compare::{Arm, Assumption, Comparison};
use crate::report::Report;
use crate::series::Cell;

/// The schema that this version writes.
const SCHEMA: u32 = 1;

/// Most values of an arm that are written out.
const MOST_VALUES: usize = 1000;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    comparisons: Vec<ComparisonObject<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

/// Numbers that are not finite cannot be had: serde_json writes them as null.
#[derive(Serialize)]
struct ComparisonObject<'a> {
    metric: &'a str,
    unit: Option<&'a str>,
    condition_a: &'a str,
    condition_b: &'a str,
    a: ArmObject<'a>,
    b: ArmObject<'a>,
    difference: Option<f64>,
    difference_ci: Option<[f64; 2]>,
    ratio: Option<f64>,
    p: Option<f64>,
    p_method: Option<String>,
    p_min: Option<f64>,
    p_adjusted: Option<f64>,
    hodges_lehmann: Option<HodgesLehmannObject>,
    cliffs_delta: Option<f64>,
    verdict: &'static str,
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Cell::is_empty")]
    cell: &'a Cell,
    primary: bool,
    assumption: &'static str,
    p_welch: Option<f64>,
    p_permutation: Option<f64>,
    hedges_g: Option<f64>,
    detectable_difference: Option<f64>,
}

#[derive(Serialize)]
struct ArmObject<'a> {
    n: usize,
    mean: Option<f64>,
    median: Option<f64>,
    sd: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    values: Option<&'a [f64]>,
}

#[derive(Serialize)]
struct HodgesLehmannObject {
    shift: f64,
    low: f64,
    high: f64,
    coverage: f64,
}

pub(super) fn render(report: &Report) -> String {
    let document = Document {
        schema: SCHEMA,
        comparisons: report.comparisons.iter().map(comparison).collect(),
        notes: &report.notes,
    };
    // Maps have string keys and nothing here fails by itself, so there is always a text.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn comparison(c: &Comparison) -> ComparisonObject<'_> {
    let p = c.p();
    ComparisonObject {
        metric: &c.metric,
        unit: Some(c.unit.symbol()).filter(|symbol| !symbol.is_empty()),
        condition_a: &c.condition_a,
        condition_b: &c.condition_b,
        a: arm(&c.a),
        b: arm(&c.b),
        difference: c.difference,
        difference_ci: c.difference_ci.map(|(low, high)| [low, high]),
        ratio: c.ratio,
        p,
        p_method: p.and_then(|_| p_method(c)),
        p_min: c.p_min,
        p_adjusted: c.p_adjusted,
        hodges_lehmann: c.hodges_lehmann.map(|h| HodgesLehmannObject {
            shift: h.shift,
            low: h.low,
            high: h.high,
            coverage: h.coverage,
        }),
        cliffs_delta: c.cliffs_delta,
        verdict: c.verdict.words(),
        warnings: &c.warnings,
        cell: &c.cell,
        primary: c.primary,
        assumption: match c.assumption {
            Assumption::Normal => "normal",
            Assumption::Exact => "exact",
        },
        p_welch: c.p_welch,
        p_permutation: c.p_permutation,
        hedges_g: c.hedges_g,
        detectable_difference: c.detectable_difference,
    }
}

fn p_method(c: &Comparison) -> Option<String> {
    match c.assumption {
        Assumption::Normal => Some("welch".into()),
        Assumption::Exact => c
            .permutation_method
            .map(|method| format!("permutation-{method}")),
    }
}

fn arm(arm: &Arm) -> ArmObject<'_> {
    ArmObject {
        n: arm.n,
        mean: arm.mean,
        median: arm.median,
        sd: arm.sd,
        min: arm.min,
        max: arm.max,
        values: Some(arm.values.as_slice()).filter(|values| values.len() <= MOST_VALUES),
    }
}
