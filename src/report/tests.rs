use super::*;
use crate::compare::{Options, Sample, Verdict, adjust, compare};
use crate::series::Cell;
use crate::unit::Unit;

fn comparison(metric: &str, unit: &Unit, cell: &Cell, a: &[f64], b: &[f64]) -> Comparison {
    let sample = |condition: &str, values: &[f64]| Sample {
        condition: condition.into(),
        values: values.into(),
    };
    let (a, b) = (sample("before", a), sample("after", b));
    compare(metric, unit, cell, &a, &b, &Options::default())
}

fn report(mut comparisons: Vec<Comparison>) -> Report {
    adjust(&mut comparisons);
    Report {
        title: "Look-alike numbers.".into(),
        setup: Vec::new(),
        comparisons,
        figures: Vec::new(),
        notes: Vec::new(),
    }
}

fn assert_fit_for_a_mail(text: &str) {
    for line in text.lines() {
        assert!(line.len() <= 72, "{} columns: {line}", line.len());
        assert!(line.bytes().all(|b| (b' '..=b'~').contains(&b)), "{line:?}");
        assert_eq!(line, line.trim_end(), "trailing space");
    }
}

const BEFORE: [f64; 4] = [5.7, 5.4, 5.8, 6.2];
const AFTER: [f64; 4] = [4.6, 4.7, 4.65, 4.75];

#[test]
fn the_verdict_comes_first_with_estimate_interval_n_and_p() {
    let text = report(vec![comparison(
        "settle",
        &Unit::Second,
        &Cell::new(),
        &BEFORE,
        &AFTER,
    )])
    .to_text();
    assert_fit_for_a_mail(&text);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.starts_with("settle 1.10 s lower in after than in before (-19.0 %, 95 % interval")
    );
    for part in [
        "n = 4 + 4): supported, Welch p = 0.00",
        "permutation p = 0.0286 (exact)",
        "smallest attainable p = 0.0286",
        "Hodges-Lehmann shift",
        "rule: supported when Welch's p is below 0.05",
    ] {
        assert!(flat.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn cells_give_a_row_each_and_the_adjusted_p() {
    let cells = ["debug", "!debug"].map(|value| Cell::from([("config".into(), value.into())]));
    let comparisons = cells
        .iter()
        .zip([&AFTER, &[5.8, 5.6, 5.5, 6.0]])
        .map(|(cell, after)| comparison("settle", &Unit::Second, cell, &BEFORE, after))
        .collect();
    let text = report(comparisons).to_text();
    assert_fit_for_a_mail(&text);
    assert!(
        text.starts_with("1 of 2 comparisons supported.\n"),
        "{text}"
    );
    assert!(text.contains("\nsettle [config=debug]"), "{text}");
    assert!(text.contains("\nsettle [config=!debug]"), "{text}");
    assert!(text.contains("p (Holm)"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("would have been seen with 80 % power"),
        "{text}"
    );
}

#[test]
fn every_size_of_number_and_name_fits_in_72_ascii_columns() {
    let name = "a-very-long-name-of-a-metric-\u{1b}[31m-".repeat(5);
    let samples: [&[f64]; 7] = [
        &[],
        &[1.0],
        &[0.0, 0.0, 0.0],
        &[1e-300, 2e-300, 5e-300],
        &[1e308, -1e308, 1.7e308],
        &[123456789012345.0, 999999999999999.0, 5.0],
        &BEFORE,
    ];
    for unit in [
        Unit::None,
        Unit::KiB,
        Unit::Second,
        Unit::Other("x".repeat(24)),
    ] {
        for metric in ["m", "memory.used.median", name.as_str()] {
            for a in samples {
                for b in samples {
                    let cell = Cell::from([(name.clone(), "\u{fc}".into())]);
                    for cell in [Cell::new(), cell] {
                        let report = report(vec![comparison(metric, &unit, &cell, a, b)]);
                        assert_fit_for_a_mail(&report.to_text());
                        let json = report.to_json();
                        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
                    }
                }
            }
        }
    }
}

#[test]
fn json_has_the_keys_of_schema_1_in_their_order() {
    let json = report(vec![comparison(
        "settle",
        &Unit::None,
        &Cell::new(),
        &BEFORE,
        &[],
    )])
    .to_json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], 1);
    let comparison = &value["comparisons"][0];
    for key in [
        "unit",
        "difference",
        "difference_ci",
        "ratio",
        "p",
        "p_method",
        "hodges_lehmann",
    ] {
        assert!(comparison[key].is_null(), "{key}");
    }
    assert!(comparison.get("cell").is_none());
    assert_eq!(comparison["verdict"], Verdict::CannotBeShown.words());
    let keys = [
        "metric",
        "unit",
        "condition_a",
        "condition_b",
        "a",
        "b",
        "difference",
        "difference_ci",
        "ratio",
        "p",
        "p_method",
        "p_min",
        "p_adjusted",
        "hodges_lehmann",
        "cliffs_delta",
        "verdict",
        "warnings",
    ];
    let places: Vec<usize> = keys
        .iter()
        .map(|key| json.find(&format!("\n      \"{key}\":")).expect(key))
        .collect();
    assert!(places.is_sorted());
}

#[test]
fn a_warning_of_all_comparisons_is_told_once() {
    let mut comparisons = vec![
        comparison("x", &Unit::None, &Cell::new(), &[1.0], &[2.0]),
        comparison("y", &Unit::None, &Cell::new(), &[1.0], &[2.0]),
    ];
    for comparison in &mut comparisons {
        comparison.warnings = vec!["both".into()];
    }
    comparisons[1].warnings.push("only y".into());
    let text = report(comparisons).to_text();
    assert_eq!(text.matches("note: both\n").count(), 1);
    assert!(text.contains("note: y: only y\n"), "{text}");
}

#[test]
fn equal_warnings_of_some_are_told_once_and_names_are_not_repeated() {
    let cells = ["debug", "!debug"].map(|value| Cell::from([("config".into(), value.into())]));
    let mut comparisons: Vec<Comparison> = [("x", 0), ("y", 0), ("x", 1), ("y", 1)]
        .into_iter()
        .map(|(metric, cell)| {
            let cell = cells.get(cell).unwrap();
            comparison(metric, &Unit::None, cell, &[1.0], &[2.0])
        })
        .collect();
    for (comparison, warnings) in comparisons.iter_mut().zip([
        vec!["whole cell", "diagonal"],
        vec!["whole cell"],
        vec![],
        vec!["diagonal", "alone", "alone too"],
    ]) {
        comparison.warnings = warnings.into_iter().map(String::from).collect();
    }
    let text = report(comparisons).to_text();
    for line in [
        "note: [config=debug]: whole cell\n",
        "note: x [config=debug] and y [config=!debug]: diagonal\n",
        "notes on y [config=!debug]:\n- alone\n- alone too\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in {text}");
    }
}

#[test]
fn the_rule_follows_from_the_p_values_and_not_from_how_many_are_shown() {
    let of = |metric| comparison(metric, &Unit::Second, &Cell::new(), &BEFORE, &AFTER);
    let mut family = report(vec![of("x"), of("y")]);
    family.comparisons.truncate(1);
    let text = family.to_text();
    assert!(text.contains("Welch's p after Holm is below"), "{text}");

    let mut primary = [of("x"), of("y"), of("z")];
    primary[0].primary = true;
    let text = report(primary.to_vec()).to_text();
    let rule = "rule: supported when Welch's p is below 0.05, after Holm for all but the\n  primary metric";
    assert!(text.contains(rule), "{text}");
    assert!(
        text.contains("\n* primary metric, named before the run\n"),
        "{text}"
    );
}

#[test]
fn means_that_differ_are_printed_as_different_in_one_unit() {
    let a = [10.25, 10.25, 10.26, 10.24];
    let b = [10.21, 10.20, 10.21, 10.22];
    let text = report(vec![comparison("x", &Unit::Second, &Cell::new(), &a, &b)]).to_text();
    assert!(
        text.contains("10.250 s  10.210 s   -0.0400 s  -0.0541 to -0.0259 s"),
        "{text}"
    );
    assert!(text.starts_with("x 0.0400 s lower"), "{text}");
}

#[test]
fn names_too_long_for_a_sentence_are_in_the_legend_only() {
    let mut long = comparison("x", &Unit::None, &Cell::new(), &[1.0], &[2.0]);
    long.condition_a = "a".repeat(90) + "-before";
    long.condition_b = "a".repeat(90) + "-after";
    let text = report(vec![long]).to_text();
    assert!(text.starts_with("x 1.00 higher in b than in a ("), "{text}");
    assert!(
        text.contains("-before\n") && text.contains("-after\n"),
        "{text}"
    );
    assert_fit_for_a_mail(&text);
}
