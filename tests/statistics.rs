//! The statistics against numbers that others computed: SciPy on seeded random data, and the published boot times.

use ktrial::compare::{Layout, Options, Verdict, compare_summaries};
use ktrial::record::Replication;
use ktrial::series::Cell;
use ktrial::stats::{cliffs_delta, hodges_lehmann, permutation, welch};
use ktrial::summary::Summary;
use ktrial::unit::Unit;
use serde_json::Value;

/// Equal to 1e-9 of `scale`, or of the number where that is larger.
fn assert_near(what: &str, computed: f64, expected: f64, scale: f64) {
    let allowed = 1e-9 * expected.abs().max(scale);
    let near = (computed - expected).abs() <= allowed;
    assert!(near, "{what}: {computed:e} instead of {expected:e}");
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(number).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn agrees_with_scipy_on_random_data() {
    let text = include_str!("reference/scipy_reference.txt");
    let sets: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
    assert_eq!(sets.len(), 92);
    for set in sets {
        let (name, columns) = set.split_once('\t').unwrap();
        let mut columns = columns.split('\t').map(|column| {
            let list = column.split(' ').map(|x| x.parse().unwrap());
            list.collect::<Vec<f64>>()
        });
        let mut next = || columns.next().unwrap();
        let (a, b) = (next(), next());
        let near = |what: &str, computed, expected, scale| {
            assert_near(&format!("{name}, {what}"), computed, expected, scale);
        };

        let w = welch(&a, &b, 0.05).unwrap();
        let [t, df, p, low, high] = next().try_into().unwrap();
        near("t", w.t, t, 0.0);
        near("df", w.df, df, 0.0);
        near("p", w.p, p, 0.0);
        let width = high - low;
        near("low", w.low, low, width);
        near("high", w.high, high, width);

        let p = permutation(&a, &b, 0).unwrap().p;
        near("permutation", p, next()[0], 0.0);
        let delta = cliffs_delta(&a, &b).unwrap();
        near("Cliff", delta, next()[0], 1.0);

        let hl = hodges_lehmann(&a, &b, 0.05).unwrap();
        let [shift, low, high, coverage] = next().try_into().unwrap();
        near("shift", hl.shift, shift, width);
        near("shift, low", hl.low, low, width);
        near("shift, high", hl.high, high, width);
        near("coverage", hl.coverage, coverage, 1.0);
    }
}

/// The boot times as summaries; the boot that was posted twice is marked.
fn boots(expected: &Value) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for (name, cell) in expected["cells"].as_object().unwrap() {
        let (config, metric) = name.split_once('/').unwrap();
        for (condition, list) in [("before", "before_s"), ("after", "after_s")] {
            for (i, value) in numbers(&cell[list]).into_iter().enumerate() {
                let trial = |i: usize| format!("{config}-{condition}-{i}");
                let repeated = (config, condition, i) == ("!debug", "after", 1);
                summaries.push(Summary {
                    trial: trial(i),
                    condition: condition.into(),
                    cell: Cell::from([("config".into(), config.into())]),
                    host: None,
                    boot_id: None,
                    duplicate_of: repeated.then(|| trial(0)),
                    metric: metric.into(),
                    unit: Unit::Second,
                    value,
                    further: 0,
                    missed_share: 0.0,
                });
            }
        }
    }
    summaries
}

fn expected_boots() -> Value {
    serde_json::from_str(include_str!("data/udev-expected.json")).unwrap()
}

fn layout(conditions: &[String], keep_duplicates: bool) -> Layout<'_> {
    Layout {
        conditions,
        primary: None,
        metrics: &[],
        replication: Replication::Boot,
        keep_duplicates,
    }
}

#[test]
fn published_boot_times_as_posted() {
    let expected = expected_boots();
    let conditions = ["before".to_owned(), "after".to_owned()];
    let layout = layout(&conditions, true);
    let normal = compare_summaries(&boots(&expected), &layout, &Options::default());
    let exact = Options {
        assumption: ktrial::compare::Assumption::Exact,
        ..Options::default()
    };
    let exact = compare_summaries(&boots(&expected), &layout, &exact);
    assert_eq!(normal.len(), 6);

    for (c, by_exact) in normal.iter().zip(&exact) {
        let name = format!("{}/{}", c.cell["config"], c.metric);
        let cell = &expected["cells"][&name];
        let near = |key: &str, computed: Option<f64>| {
            let computed = computed.unwrap_or(f64::NAN);
            assert_near(&format!("{name} {key}"), computed, number(&cell[key]), 0.0);
        };
        near("mean_a", c.a.mean);
        near("mean_b", c.b.mean);
        near("med_a", c.a.median);
        near("med_b", c.b.median);
        near("sd_a", c.a.sd);
        near("sd_b", c.b.sd);
        near("diff", c.difference);
        near("pct", c.ratio.map(|r| (r - 1.0) * 100.0));
        let w = welch(&c.a.values, &c.b.values, 0.05).unwrap();
        near("t", Some(w.t));
        near("df", Some(w.df));
        near("p_welch", c.p_welch);
        near("p_perm", c.p_permutation);
        near("cliff", c.cliffs_delta);
        near("g", c.hedges_g);
        near("holm_welch", c.p_adjusted);
        near("holm_perm", by_exact.p_adjusted);
        let hl = c.hodges_lehmann.unwrap();
        near("hl", Some(hl.shift));
        let ci = c.difference_ci.unwrap();
        let intervals = [
            (&cell["ci"][0], ci.0),
            (&cell["ci"][1], ci.1),
            (&cell["hl_ci"][0], hl.low),
            (&cell["hl_ci"][1], hl.high),
            (&cell["hl_ci"][2], hl.coverage),
        ];
        for (end, computed) in intervals {
            assert_near(&name, computed, number(end), 0.0);
        }
        let shown = name == "!debug/settle";
        assert_eq!(c.verdict == Verdict::Supported, shown, "{name}");
        assert_eq!(by_exact.verdict, Verdict::NotShown, "{name}");
        assert_eq!(c.permutation_method, Some("exact"));
    }
    let named = |c: &&ktrial::compare::Comparison| c.warnings.iter().any(|w| w.contains("repeats"));
    assert_eq!(normal.iter().filter(named).count(), 3);
}

#[test]
fn the_boot_posted_twice_counts_once() {
    let conditions = ["before".to_owned(), "after".to_owned()];
    let summaries = boots(&expected_boots());
    let comparisons =
        compare_summaries(&summaries, &layout(&conditions, false), &Options::default());
    let settle = comparisons.iter().find(|c| c.metric == "settle").unwrap();
    assert_eq!((settle.a.n, settle.b.n), (4, 3));
    let percent = (settle.ratio.unwrap() - 1.0) * 100.0;
    assert!((percent + 18.83).abs() < 0.005, "{percent}");
    let (low, high) = settle.difference_ci.unwrap();
    assert!((low + 1.630).abs() < 0.0005 && (high + 0.539).abs() < 0.0005);
    assert!((settle.p_welch.unwrap() - 0.0072).abs() < 0.00005);
    assert_eq!(settle.verdict, Verdict::Supported);
    assert_eq!(settle.p_min, Some(2.0 / 35.0));
    assert_eq!(settle.p_permutation, Some(2.0 / 35.0));
    let warnings = settle.warnings.join("\n");
    assert!(warnings.contains("`!debug-after-1` repeats `!debug-after-0`: counted once"));
    assert!(warnings.contains("n = 4 + 3 is 0.0571"), "{warnings}");
    let others = comparisons
        .iter()
        .filter(|c| c.verdict != Verdict::NotShown);
    assert_eq!(others.count(), 1);
}
