//! What must hold of the statistics whatever the data are.

use ktrial::compare::{Assumption, Comparison, Options, Sample, Verdict, adjust, compare};
use ktrial::stats;
use ktrial::unit::Unit;
use proptest::prelude::*;

fn any_values() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any::<f64>(), 0..7)
}

/// What counters and clocks give: few digits, ties are frequent.
fn readings() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-2000..2000).prop_map(|i| f64::from(i) / 8.0), 2..7)
}

fn compared(a: &[f64], b: &[f64], assumption: Assumption) -> Comparison {
    let sample = |condition: &str, values: &[f64]| Sample {
        condition: condition.into(),
        values: values.to_vec(),
    };
    let options = Options {
        assumption,
        seed: 1,
    };
    let (a, b) = (sample("a", a), sample("b", b));
    compare("m", &Unit::KiB, &Default::default(), &a, &b, &options)
}

fn mapped(values: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|&x| f(x)).collect()
}

fn near(x: Option<f64>, y: Option<f64>) -> bool {
    match (x, y) {
        (Some(x), Some(y)) => (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0),
        _ => x == y,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_number_makes_a_panic_or_a_number_that_is_none(a in any_values(), b in any_values()) {
        for assumption in [Assumption::Normal, Assumption::Exact] {
            let mut one = [compared(&a, &b, assumption)];
            adjust(&mut one);
            let [c] = one;
            let numbers = [
                c.a.mean, c.a.sd, c.a.median, c.difference, c.ratio, c.p_welch, c.p_permutation, c.p_min,
                c.p_adjusted, c.cliffs_delta, c.hedges_g, c.detectable_difference,
                c.difference_ci.map(|i| i.0), c.difference_ci.map(|i| i.1),
                c.hodges_lehmann.map(|h| h.shift), c.hodges_lehmann.map(|h| h.low), c.hodges_lehmann.map(|h| h.high),
            ];
            prop_assert!(numbers.iter().flatten().all(|x| x.is_finite()), "{c:?}");
            for p in [c.p_welch, c.p_permutation, c.p_adjusted].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&p));
            }
            if a.len() < 2 || b.len() < 2 {
                prop_assert_eq!(c.verdict, Verdict::CannotBeShown);
            }
        }
        stats::outlier(&a, 0.05);
        stats::quantile(&a, b.first().copied().unwrap_or(0.3));
        stats::holm(&mapped(&a, |x| x).into_iter().map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn a_shift_of_both_arms_changes_no_difference(a in readings(), b in readings(), shift in -4096i32..4096) {
        let shifted = |v: &[f64]| mapped(v, |x| x + f64::from(shift));
        let x = compared(&a, &b, Assumption::Exact);
        let y = compared(&shifted(&a), &shifted(&b), Assumption::Exact);
        prop_assert!(near(x.difference, y.difference));
        prop_assert!(near(x.p_welch, y.p_welch));
        prop_assert_eq!(x.p_permutation, y.p_permutation);
        prop_assert_eq!(x.hodges_lehmann, y.hodges_lehmann);
        prop_assert_eq!(x.cliffs_delta, y.cliffs_delta);
        prop_assert!(near(x.hedges_g, y.hedges_g));
    }

    #[test]
    fn a_shift_of_one_arm_moves_the_estimates_by_it(a in readings(), b in readings(), shift in -64i32..64) {
        let shift = f64::from(shift);
        let moved = |x: Option<f64>| x.map(|x| x + shift);
        let x = compared(&a, &b, Assumption::Normal);
        let y = compared(&a, &mapped(&b, |x| x + shift), Assumption::Normal);
        prop_assert!(near(moved(x.difference), y.difference));
        prop_assert!(near(moved(x.difference_ci.map(|i| i.0)), y.difference_ci.map(|i| i.0)));
        prop_assert!(near(moved(x.hodges_lehmann.map(|h| h.shift)), y.hodges_lehmann.map(|h| h.shift)));
        prop_assert!(near(x.detectable_difference, y.detectable_difference));
    }

    #[test]
    fn swapped_arms_turn_every_sign_and_keep_every_p(a in readings(), b in readings()) {
        let x = compared(&a, &b, Assumption::Normal);
        let y = compared(&b, &a, Assumption::Normal);
        let turned = |x: Option<f64>| x.map(|x| -x);
        prop_assert!(near(turned(x.difference), y.difference));
        prop_assert!(near(turned(x.difference_ci.map(|i| i.0)), y.difference_ci.map(|i| i.1)));
        prop_assert!(near(turned(x.cliffs_delta), y.cliffs_delta));
        prop_assert!(near(turned(x.hedges_g), y.hedges_g));
        prop_assert!(near(turned(x.hodges_lehmann.map(|h| h.low)), y.hodges_lehmann.map(|h| h.high)));
        prop_assert_eq!(x.p_permutation, y.p_permutation);
        prop_assert!(near(x.p_welch, y.p_welch));
    }

    #[test]
    fn turned_signs_keep_every_p_and_scales_keep_every_ratio(a in readings(), b in readings(), power in -900i32..900) {
        // A power of two is exact, so nothing may change but the scale.
        let scale = -(2f64.powi(power));
        let (c, d) = (mapped(&a, |x| x * scale), mapped(&b, |x| x * scale));
        let x = compared(&a, &b, Assumption::Exact);
        let y = compared(&c, &d, Assumption::Exact);
        prop_assert!(near(x.p_welch, y.p_welch));
        prop_assert_eq!(x.p_permutation, y.p_permutation);
        let z = compared(&mapped(&c, |x| -x), &mapped(&d, |x| -x), Assumption::Exact);
        prop_assert!(near(x.ratio, z.ratio));
        prop_assert!(x.ratio.is_none() || y.ratio.is_none());
        prop_assert!(near(x.cliffs_delta, y.cliffs_delta.map(|d| -d)));
        prop_assert!(near(x.hedges_g, y.hedges_g.map(|g| -g)));
    }

    #[test]
    fn no_exact_p_is_below_the_designs_smallest(a in readings(), b in readings()) {
        let c = compared(&a, &b, Assumption::Exact);
        prop_assert!(c.p_permutation >= c.p_min);
    }

    #[test]
    fn order_within_an_arm_does_not_matter(a in readings(), b in readings()) {
        let mut turned = a.clone();
        turned.reverse();
        let x = compared(&a, &b, Assumption::Exact);
        let y = compared(&turned, &b, Assumption::Exact);
        prop_assert_eq!(x.p_permutation, y.p_permutation);
        prop_assert!(near(x.p_welch, y.p_welch));
        prop_assert_eq!(x.a.median, y.a.median);
    }
}
