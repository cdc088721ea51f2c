//! The distribution of Mann and Whitney's U when nothing changed and no values are equal.

use statrs::distribution::{ContinuousCDF, Normal};

/// Beyond this many steps (smaller arm times pairs; 270 + 270 values) the normal form is used.
const STEPS: usize = 20_000_000;

/// The largest u with P(U <= u) <= `tail`, and that probability. None when even P(U <= 0) is larger.
///
/// Exact by the generating function of the counts, Andrews, G. E. (1976), The Theory of Partitions, chapter 3:
/// product over i = 1 .. n of (1 - q^(m + i)) / (1 - q^i). For large arms (from 270 + 270 values)
/// by the normal distribution with continuity correction, whose error is below 1e-5 there.
pub(super) fn lower_quantile(n_a: usize, n_b: usize, tail: f64) -> Option<(usize, f64)> {
    let (small, large) = (n_a.min(n_b), n_a.max(n_b));
    let pairs = small.checked_mul(large)?;
    if pairs.checked_mul(small).is_none_or(|steps| steps > STEPS) {
        return lower_quantile_normal(small, large, tail);
    }
    let mut found = None;
    let mut cumulative = 0.0;
    for (u, probability) in lower_half(small, large).into_iter().enumerate() {
        cumulative += probability;
        if cumulative > tail {
            break;
        }
        found = Some((u, cumulative));
    }
    found
}

/// P(U = u) for u up to half the pairs.
fn lower_half(small: usize, large: usize) -> Vec<f64> {
    let mut p = vec![0.0; small * large / 2 + 1];
    p[0] = 1.0;
    for i in 1..=small {
        for u in i..p.len() {
            p[u] += p[u - i];
        }
        for u in (large + i..p.len()).rev() {
            p[u] -= p[u - large - i];
        }
        // Probabilities at every step, so that no count leaves the range of numbers.
        let share = i as f64 / (large + i) as f64;
        p.iter_mut().for_each(|p| *p *= share);
    }
    p
}

fn lower_quantile_normal(small: usize, large: usize, tail: f64) -> Option<(usize, f64)> {
    let (n, m) = (small as f64, large as f64);
    let centre = n * m / 2.0;
    let sd = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let normal = Normal::standard();
    let u = (centre - 0.5 + sd * normal.inverse_cdf(tail)).floor();
    (u >= 0.0).then(|| (u as usize, normal.cdf((u + 0.5 - centre) / sd)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every ordering counted, the plain way: f(n, m, u) = f(n - 1, m, u - m) + f(n, m - 1, u).
    fn count(n: usize, m: usize, u: usize) -> f64 {
        let mut table = vec![vec![vec![0.0; u + 1]; m + 1]; n + 1];
        for i in 0..=n {
            for j in 0..=m {
                for k in 0..=u {
                    table[i][j][k] = if i == 0 || j == 0 {
                        f64::from(u8::from(k == 0))
                    } else {
                        let last_is_large = if k >= j { table[i - 1][j][k - j] } else { 0.0 };
                        last_is_large + table[i][j - 1][k]
                    };
                }
            }
        }
        table[n][m][u]
    }

    #[test]
    fn probabilities_are_the_counts() {
        for (n, m) in [(1, 1), (1, 7), (2, 5), (4, 4), (7, 9), (20, 31), (40, 40)] {
            let p = lower_half(n, m);
            let orderings = (1..=n).fold(1.0, |c, i| c * (m + i) as f64 / i as f64);
            for u in [0, n * m / 7, n * m / 5, n * m / 3, n * m / 2] {
                let expected = count(n, m, u) / orderings;
                assert!((p[u] / expected - 1.0).abs() < 1e-12, "{n} {m} {u}");
            }
        }
    }

    #[test]
    fn four_each() {
        assert_eq!(lower_quantile(4, 4, 0.025), Some((0, 1.0 / 70.0)));
        assert_eq!(lower_quantile(3, 4, 0.025), None);
        assert_eq!(lower_quantile(0, 4, 0.025), None);
    }

    #[test]
    fn the_normal_form_takes_over_smoothly() {
        let (exact_u, exact_p) = lower_quantile(270, 270, 0.025).unwrap();
        let (u, p) = lower_quantile_normal(270, 270, 0.025).unwrap();
        assert!(u.abs_diff(exact_u) <= 1);
        assert!((p - exact_p).abs() < 1e-5);
    }
}
