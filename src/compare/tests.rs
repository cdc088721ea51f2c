use super::*;
use crate::record::Replication;
use crate::summary::Summary;

fn sample(condition: &str, values: &[f64]) -> Sample {
    Sample {
        condition: condition.into(),
        values: values.to_vec(),
    }
}

fn compared(a: &[f64], b: &[f64], assumption: Assumption) -> Comparison {
    let options = Options {
        assumption,
        ..Options::default()
    };
    let (a, b) = (sample("before", a), sample("after", b));
    let mut one = [compare("m", &Unit::Second, &Cell::new(), &a, &b, &options)];
    adjust(&mut one);
    let [one] = one;
    one
}

fn normal(a: &[f64], b: &[f64]) -> Comparison {
    compared(a, b, Assumption::Normal)
}

fn exact(a: &[f64], b: &[f64]) -> Comparison {
    compared(a, b, Assumption::Exact)
}

fn warns(c: &Comparison, words: &str) -> bool {
    c.warnings.iter().any(|w| w.contains(words))
}

const LOW: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
const HIGH: [f64; 4] = [11.0, 12.0, 13.0, 14.0];

#[test]
fn one_value_each_makes_no_test() {
    let c = normal(&[528732.0], &[442516.0]);
    assert_eq!(c.difference, Some(-86216.0));
    assert_eq!((c.p_welch, c.p_permutation, c.p()), (None, None, None));
    assert_eq!((c.difference_ci, c.hodges_lehmann), (None, None));
    assert_eq!(c.verdict, Verdict::CannotBeShown);
    assert_eq!(
        c.warnings,
        ["n = 1 each: no test is made; run each condition at least 4 times"]
    );
}

#[test]
fn one_value_in_one_arm_makes_no_test_either() {
    let c = exact(&[1.0], &[2.0; 60]);
    assert_eq!((c.p_permutation, c.verdict), (None, Verdict::CannotBeShown));
    assert!(warns(&c, "n = 1 in `before`"));
}

#[test]
fn no_values_at_all() {
    let c = normal(&[], &LOW);
    assert_eq!((c.difference, c.ratio, c.p_min), (None, None, None));
    assert_eq!(c.verdict, Verdict::CannotBeShown);
    assert!(warns(&c, "no value of `before`"));
    assert!(warns(&normal(&[], &[]), "no value of `before` and `after`"));
}

#[test]
fn two_values_are_said_to_be_few() {
    let c = normal(&[1.0, 2.0], &[1.5, 2.5]);
    assert!(warns(&c, "n = 2 in `before` and `after`"));
    assert_eq!(c.verdict, Verdict::NotShown);
    assert!(c.detectable_difference.unwrap() > 1.0);
}

#[test]
fn exact_cannot_show_with_three_each_and_can_with_four() {
    let c = exact(&LOW[..3], &HIGH[..3]);
    assert_eq!((c.p_min, c.verdict), (Some(0.1), Verdict::CannotBeShown));
    assert!(warns(&c, "n = 3 + 3 is 0.100; run at least 4 + 4"));

    let c = exact(&LOW, &HIGH);
    assert_eq!(c.verdict, Verdict::Supported);
    assert_eq!(c.p_adjusted, Some(2.0 / 70.0));
    assert!(c.warnings.is_empty(), "{:?}", c.warnings);
}

#[test]
fn supported_by_welch_where_exact_could_not_is_said() {
    let c = normal(&LOW[..3], &HIGH[..3]);
    assert_eq!(c.verdict, Verdict::Supported);
    assert!(warns(&c, "rests on the assumption"));
    assert!(normal(&LOW, &HIGH).warnings.is_empty());
}

#[test]
fn no_spread_is_never_supported_by_a_division_by_zero() {
    let c = normal(&[5.0; 4], &[6.0; 4]);
    assert_eq!((c.p_welch, c.verdict), (None, Verdict::NotShown));
    assert!(warns(&c, "use --assume exact"));
    let c = exact(&[5.0; 4], &[6.0; 4]);
    assert_eq!(c.verdict, Verdict::Supported);
    let c = exact(&[0.1; 4], &[0.1; 4]);
    assert_eq!((c.p_permutation, c.verdict), (Some(1.0), Verdict::NotShown));
    assert!(warns(&c, "all values are equal"));
}

#[test]
fn an_outlying_value_is_shown_with_and_without_and_kept() {
    let c = normal(
        &[32.806, 29.901, 28.640, 29.498],
        &[28.765, 28.292, 34.588, 28.641],
    );
    assert_eq!(c.b.n, 4);
    let said = &c.warnings[0];
    assert!(said.starts_with("value 3 of `after` stands out, 34.6 s"));
    assert!(
        said.contains("p is 0.940 with it and 0.166 without"),
        "{said}"
    );
}

#[test]
fn an_outlying_value_is_named_by_its_trial_and_a_tie_of_two_in_three_is_none() {
    let mut summaries = arms("peak");
    for (s, value) in summaries[4..].iter_mut().zip([12.0, 10.0, 10.001, 10.002]) {
        s.value = value;
    }
    // A duplicate is left out before the values are counted.
    summaries[5].duplicate_of = Some("b0".into());
    summaries.push(summary("b9", "b", "peak", 10.001));
    let c = &all(&summaries, &["a", "b"])[0];
    assert!(warns(c, "trial `b0` of `b` stands out"), "{:?}", c.warnings);
    summaries.push(summary("b10", "b", "peak", 99.0));
    summaries[4].value = 10.0;
    let c = &all(&summaries, &["a", "b"])[0];
    assert!(
        warns(c, "trial `b10` of `b` stands out"),
        "{:?}",
        c.warnings
    );

    let c = normal(&LOW, &[10.0, 10.0, 12.0]);
    assert!(!warns(&c, "stands out"), "{:?}", c.warnings);
    let c = normal(&LOW, &[1e9, 1e9 + 1.0, 1e9 + 2.0, 1e9 + 90.0]);
    assert!(warns(&c, "p is <0.0001 with it and"), "{:?}", c.warnings);
}

#[test]
fn what_is_not_a_number_is_counted_and_nothing_computed() {
    let c = normal(&[1.0, f64::NAN, 3.0], &LOW);
    assert_eq!((c.a.mean, c.difference, c.p()), (None, None, None));
    assert_eq!(c.b.mean, Some(2.5));
    assert_eq!(c.verdict, Verdict::NotShown);
    assert!(warns(&c, "1 of 3 values of `before` are not finite"));
}

#[test]
fn ratios_across_zero_are_none() {
    assert_eq!(normal(&[0.0, 0.0], &[1.0, 2.0]).ratio, None);
    assert_eq!(normal(&[-1.0, -2.0], &[1.0, 2.0]).ratio, None);
    assert_eq!(normal(&[-1.0, -2.0], &[-2.0, -4.0]).ratio, None);
    assert_eq!(normal(&[1.0, 2.0], &[-1.0, -2.0]).ratio, None);
    assert_eq!(normal(&[-1.0, -2.0], &[0.0, 0.0]).ratio, None);
    assert_eq!(normal(&[1.0, 2.0], &[2.0, 4.0]).ratio, Some(2.0));
    assert_eq!(normal(&[1.0, 2.0], &[0.0, 0.0]).ratio, Some(0.0));
}

#[test]
fn names_from_outside_are_escaped_and_bounded() {
    let (a, b) = (
        sample("\u{1b}[31mred\n", &[1.0]),
        sample(&"x".repeat(99), &[]),
    );
    let c = compare("m", &Unit::None, &Cell::new(), &a, &b, &Options::default());
    assert!(warns(&c, &format!("no value of `{}...`", "x".repeat(40))));
    let c = compare("m", &Unit::None, &Cell::new(), &b, &a, &Options::default());
    assert!(
        c.warnings
            .iter()
            .all(|w| w.is_ascii() && !w.contains('\u{1b}'))
    );
}

#[test]
fn the_primary_metric_stands_alone_and_the_others_are_one_family() {
    let mut several = vec![normal(&LOW, &HIGH), normal(&LOW, &HIGH), normal(&LOW, &LOW)];
    several.push(normal(&[1.0], &HIGH));
    several[0].primary = true;
    let p = several[0].p_welch.unwrap();
    adjust(&mut several);
    assert_eq!(several[0].p_adjusted, Some(p));
    assert_eq!(several[1].p_adjusted, Some(2.0 * p));
    assert_eq!(several[2].p_adjusted, Some(1.0));
    assert_eq!(several[3].p_adjusted, None);
    let before = several.clone();
    adjust(&mut several);
    assert_eq!(several, before, "adjusting twice changes nothing");
}

#[test]
fn exact_after_holm_says_how_many_would_do() {
    let mut six: Vec<Comparison> = (0..6).map(|_| exact(&LOW, &HIGH)).collect();
    adjust(&mut six);
    assert!(six.iter().all(|c| c.verdict == Verdict::NotShown));
    assert!(
        warns(&six[0], "0.171 for the first of 6"),
        "{:?}",
        six[0].warnings
    );
    assert!(warns(&six[0], "run at least 5 + 5"));
}

fn summary(trial: &str, condition: &str, metric: &str, value: f64) -> Summary {
    Summary {
        trial: trial.into(),
        condition: condition.into(),
        cell: Cell::new(),
        host: None,
        boot_id: None,
        duplicate_of: None,
        metric: metric.into(),
        unit: Unit::KiB,
        value,
        further: 0,
        missed_share: 0.0,
    }
}

fn arms(metric: &str) -> Vec<Summary> {
    let arm = |condition: &'static str, values: [f64; 4]| {
        let metric = metric.to_owned();
        values
            .into_iter()
            .enumerate()
            .map(move |(i, value)| summary(&format!("{condition}{i}"), condition, &metric, value))
    };
    arm("a", LOW).chain(arm("b", HIGH)).collect()
}

fn all(summaries: &[Summary], conditions: &[&str]) -> Vec<Comparison> {
    let conditions: Vec<String> = conditions.iter().map(|&c| c.into()).collect();
    let layout = Layout {
        conditions: &conditions,
        primary: Some("peak"),
        metrics: &[],
        replication: Replication::Boot,
        keep_duplicates: false,
    };
    compare_summaries(summaries, &layout, &Options::default())
}

#[test]
fn every_metric_and_cell_against_each_other_condition() {
    let mut summaries = [arms("peak"), arms("mean")].concat();
    for value in ["2", "1"] {
        let mut cell = arms("peak");
        for s in &mut cell {
            s.cell = Cell::from([("loops".into(), value.into())]);
        }
        summaries.extend(cell);
    }
    summaries.push(summary("c0", "c", "peak", 1.0));
    let found = all(&summaries, &["a", "b", "c", "d"]);
    let told: Vec<_> = found
        .iter()
        .map(|c| {
            let loops = c.cell.get("loops").map_or("", String::as_str);
            (
                c.metric.as_str(),
                loops,
                c.condition_b.as_str(),
                c.b.n,
                c.primary,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("peak", "", "b", 4, true),
            ("peak", "", "c", 1, true),
            ("peak", "", "d", 0, true),
            ("peak", "1", "b", 4, true),
            ("peak", "1", "c", 0, true),
            ("peak", "1", "d", 0, true),
            ("peak", "2", "b", 4, true),
            ("peak", "2", "c", 0, true),
            ("peak", "2", "d", 0, true),
            ("mean", "", "b", 4, false),
            ("mean", "", "c", 0, false),
            ("mean", "", "d", 0, false),
        ]
    );
    assert!(all(&summaries, &[]).is_empty());
}

#[test]
fn units_of_one_family_are_converted_and_others_left_out() {
    let mut summaries = arms("peak");
    for s in summaries.iter_mut().filter(|s| s.condition == "b") {
        (s.unit, s.value) = (Unit::MiB, s.value / 1024.0);
    }
    let c = &all(&summaries, &["a", "b"])[0];
    assert_eq!(c.b.values, HIGH);
    assert!(warns(c, "values of `b` in `MiB` were converted to `KiB`"));

    summaries[5].unit = Unit::Second;
    let c = &all(&summaries, &["a", "b"])[0];
    assert_eq!((c.b.n, c.difference), (0, None));
    assert!(warns(
        c,
        "`b` has values in `s` where the reference has `KiB`"
    ));
    assert_eq!(c.verdict, Verdict::CannotBeShown);
}

#[test]
fn a_duplicate_counts_when_its_original_is_missing_and_chains_count_once() {
    let mut summaries = arms("peak");
    summaries[5].duplicate_of = Some("b0".into());
    summaries[6].duplicate_of = Some("b1".into());
    let c = &all(&summaries, &["a", "b"])[0];
    assert_eq!(c.b.values, [11.0, 14.0]);
    assert!(warns(
        c,
        "`b1` repeats `b0`, `b2` repeats `b1`: counted once"
    ));

    // b0 has no such metric: its repetition is the only witness.
    summaries.remove(4);
    let c = &all(&summaries, &["a", "b"])[0];
    assert_eq!(c.b.values, [12.0, 14.0]);

    // A circle ends.
    summaries[4].duplicate_of = Some("b2".into());
    assert_eq!(all(&summaries, &["a", "b"])[0].b.n, 3);
}

#[test]
fn trials_in_one_boot_and_hosts_apart_are_said() {
    let mut summaries = arms("peak");
    for s in &mut summaries {
        s.host = Some(format!("host-{}", s.condition));
    }
    summaries[0].boot_id = Some("x".into());
    summaries[2].boot_id = Some("x".into());
    let c = &all(&summaries, &["a", "b"])[0];
    assert!(warns(c, "in `a`: `a0` and `a2` ran in one boot"));
    assert!(warns(c, "cannot be told from the host"));
    summaries[0].host = Some("host-b".into());
    assert!(!warns(&all(&summaries, &["a", "b"])[0], "from the host"));
}

#[test]
fn named_metrics_are_the_only_family() {
    let summaries = [arms("peak"), arms("mean"), arms("p95"), arms("median")].concat();
    let conditions = ["a".to_owned(), "b".to_owned()];
    let named = ["mean".to_owned()];
    let layout = Layout {
        conditions: &conditions,
        primary: Some("peak"),
        metrics: &named,
        replication: Replication::Boot,
        keep_duplicates: false,
    };
    let found = compare_summaries(&summaries, &layout, &Options::default());
    let metrics: Vec<&str> = found.iter().map(|c| c.metric.as_str()).collect();
    assert_eq!(metrics, ["peak", "mean"]);
    // Alone in its family, nothing is added to its p.
    assert_eq!(found[1].p_adjusted, found[1].p());
}
