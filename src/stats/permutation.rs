//! The permutation test of the difference of means.
//!
//! When nothing changed, every split of the pooled values into arms of the same sizes was as likely as the one seen.
//! The p value is twice the smaller share of the splits whose difference is at least as small or at least as large
//! as the one seen, at most 1. (Twice the smaller tail and not the share of larger absolute differences:
//! so the smallest p depends on the design alone, also when the arms differ in size.)
//!
//! Fisher, R. A. (1935), The Design of Experiments, section 21;
//! Phipson, B., and Smyth, G. K. (2010), Permutation P-values Should Never Be Zero,
//! Statistical Applications in Genetics and Molecular Biology 9(1), 39, for the random splits.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::descriptive::finite;
use super::mean;

/// Up to as many splits all of them are looked at: 10 + 10 values have 184756.
pub const EXACT_SPLITS: u32 = 200_000;

/// Random splits drawn beyond that; fewer (never under 999) for arms of more than 200 values.
pub const RANDOM_SPLITS: u32 = 99_999;

/// Values drawn over all random splits, about a quarter of a second.
const DRAWS: usize = 20_000_000;

/// With a smaller arm beyond this even 999 splits take too long, and Welch's p says the same.
const LARGEST_ARM: usize = 100_000;

/// What the permutation test gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// Two-sided p.
    pub p: f64,
    /// How it was had.
    pub method: PermutationMethod,
    /// Splits looked at.
    pub splits: u32,
    /// Standard error of `p` from drawing splits by chance; 0 when all were looked at.
    pub standard_error: f64,
}

/// How a permutation p value was had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermutationMethod {
    /// From all splits.
    Exact,
    /// From splits drawn by chance from a seed.
    MonteCarlo,
}

impl PermutationMethod {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            PermutationMethod::Exact => "exact",
            PermutationMethod::MonteCarlo => "monte-carlo",
        }
    }
}

/// Permutation test of the difference of means: all splits up to [`EXACT_SPLITS`], else random ones from `seed`.
/// None when an arm is empty, a value is not finite, or the smaller arm has more than 100000 values.
///
/// Random splits give p = 2 (k + 1) / (m + 1) with k of m splits at least as extreme on the rarer side.
/// The same seed gives the same p, for ever: the generator is ChaCha8 and the draw of an index is written here.
///
/// Sums that differ by no more than the rounding of their terms are ties and count on both sides.
///
/// ```
/// use ktrial::stats::permutation;
/// let p = permutation(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0).unwrap().p;
/// assert_eq!(p, 2.0 / 70.0);
/// ```
pub fn permutation(a: &[f64], b: &[f64], seed: u64) -> Option<Permutation> {
    let small = a.len().min(b.len());
    if small == 0 || small > LARGEST_ARM {
        return None;
    }
    // Given the pooled values, the sum over one arm decides the difference of means.
    let mut pooled = centred(a, b)?;
    let (of_a, of_b) = pooled.split_at(a.len());
    let observed: f64 = if a.len() == small { of_a } else { of_b }.iter().sum();
    let tolerance = 4.0 * pooled.len() as f64 * f64::EPSILON;
    let mut tails = Tails {
        low: observed + tolerance,
        high: observed - tolerance,
        ..Tails::default()
    };

    if binomial(pooled.len(), small) <= f64::from(EXACT_SPLITS) {
        count_all(&pooled, small, 0.0, &mut tails);
        let share = f64::from(tails.rarer()) / f64::from(tails.splits);
        return Some(Permutation {
            p: (2.0 * share).min(1.0),
            method: PermutationMethod::Exact,
            splits: tails.splits,
            standard_error: 0.0,
        });
    }
    let splits = (DRAWS / small).clamp(999, RANDOM_SPLITS as usize);
    let mut random = generator(seed);
    for _ in 0..splits {
        tails.add(sum_of_random(&mut pooled, small, &mut random));
    }
    let m = f64::from(tails.splits);
    let share = (f64::from(tails.rarer()) + 1.0) / (m + 1.0);
    Some(Permutation {
        p: (2.0 * share).min(1.0),
        method: PermutationMethod::MonteCarlo,
        splits: tails.splits,
        standard_error: 2.0 * (share * (1.0 - share) / m).sqrt(),
    })
}

/// The smallest two-sided p that [`permutation()`] can give for arms of these sizes when all splits are looked at
/// and no values are equal: 2 / C(na + nb, na), at most 1. Equal values can only make it larger.
///
/// ```
/// use ktrial::stats::smallest_p;
/// assert_eq!(smallest_p(4, 4), Some(2.0 / 70.0));
/// assert_eq!(smallest_p(0, 4), None);
/// ```
pub fn smallest_p(n_a: usize, n_b: usize) -> Option<f64> {
    let n = n_a.checked_add(n_b)?;
    (n_a > 0 && n_b > 0).then(|| (2.0 / binomial(n, n_a)).min(1.0))
}

/// The smallest size of two equal arms whose [`smallest_p`] is at most `p`; none unless `p` is above 0.
///
/// ```
/// use ktrial::stats::smallest_arm;
/// assert_eq!(smallest_arm(0.05), Some(4));
/// ```
pub fn smallest_arm(p: f64) -> Option<usize> {
    if p.is_nan() || p <= 0.0 {
        return None;
    }
    // C(2n, n) passes the largest number at n = 515.
    (1..=515).find(|&n| smallest_p(n, n).is_some_and(|least| least <= p))
}

/// Splits at least as extreme as the observed one, on either side.
#[derive(Default)]
struct Tails {
    low: f64,
    high: f64,
    at_most: u32,
    at_least: u32,
    splits: u32,
}

impl Tails {
    fn add(&mut self, sum: f64) {
        self.splits += 1;
        self.at_most += u32::from(sum <= self.low);
        self.at_least += u32::from(sum >= self.high);
    }

    fn rarer(&self) -> u32 {
        self.at_most.min(self.at_least)
    }
}

/// a then b, divided by the largest size and with the mean taken off: sums stay near 0 and their rounding small.
fn centred(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let mut pooled = [finite(a)?, finite(b)?].concat();
    let largest = pooled.iter().map(|x| x.abs()).fold(0.0, f64::max);
    if largest > 0.0 {
        pooled.iter_mut().for_each(|x| *x /= largest);
    }
    let mean = mean(&pooled)?;
    pooled.iter_mut().for_each(|x| *x -= mean);
    Some(pooled)
}

/// Adds the sum of every choice of `take` of the values, on top of `sum`. As deep as `take`, at most 10.
fn count_all(values: &[f64], take: usize, sum: f64, tails: &mut Tails) {
    if take == 0 {
        return tails.add(sum);
    }
    let mut rest = values;
    while rest.len() >= take {
        let Some((first, others)) = rest.split_first() else {
            return;
        };
        count_all(others, take - 1, sum + first, tails);
        rest = others;
    }
}

/// Sum of `take` values drawn without replacement: the first steps of a Fisher-Yates shuffle.
fn sum_of_random(values: &mut [f64], take: usize, random: &mut ChaCha8Rng) -> f64 {
    let mut sum = 0.0;
    for i in 0..take.min(values.len()) {
        let j = i + index_below(values.len() - i, random);
        values.swap(i, j);
        sum += values[i];
    }
    sum
}

/// A whole number below `bound`: the high half of a 64-bit draw times the bound.
/// It is off from even by less than `bound` / 2^64.
fn index_below(bound: usize, random: &mut ChaCha8Rng) -> usize {
    ((u128::from(random.next_u64()) * bound as u128) >> 64) as usize
}

fn generator(seed: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// C(n, k), infinite beyond the largest number.
fn binomial(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    let mut product = 1.0;
    for i in 1..=k {
        product = product * (n - k + i) as f64 / i as f64;
        if product == f64::INFINITY {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(a: &[f64], b: &[f64]) -> f64 {
        permutation(a, b, 0).unwrap().p
    }

    #[test]
    fn separated_arms_reach_the_designs_smallest_p() {
        assert_eq!(p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 9.0]), 2.0 / 35.0);
        assert_eq!(smallest_p(3, 4), Some(2.0 / 35.0));
        assert_eq!(smallest_p(1, 1), Some(1.0));
        assert_eq!(smallest_p(1, 39), Some(2.0 / 40.0));
        assert_eq!(smallest_p(usize::MAX, 2), None);
    }

    #[test]
    fn the_arms_needed_for_a_p() {
        assert_eq!(smallest_arm(2.0 / 70.0), Some(4));
        assert_eq!(smallest_arm(0.05 / 6.0), Some(5));
        assert_eq!(smallest_arm(1.0), Some(1));
        assert_eq!(smallest_arm(0.0), None);
        assert_eq!(smallest_arm(f64::NAN), None);
    }

    #[test]
    fn decimal_fractions_tie_as_on_paper() {
        // 0.1 + 0.2 and 0.3 + 0.0 are one sum on paper and two in binary. Of the six splits of two and two
        // those with {0, 0.3} and {0.1, 0.2} tie: four have at least the sum seen.
        assert_eq!(p(&[0.1, 0.2], &[0.0, 0.3]), 1.0);
        assert_eq!(p(&[0.0, 0.1], &[0.2, 0.3]), 2.0 / 6.0);
        // The same with an offset and a scale.
        assert_eq!(p(&[1000.1, 1000.2], &[1000.0, 1000.3]), 1.0);
        assert_eq!(p(&[1e-300, 2e-300], &[0.0, 3e-300]), 1.0);
        assert_eq!(p(&[1e308, 0.5e308], &[0.0, 1.5e308]), 1.0);
    }

    #[test]
    fn equal_values_give_one() {
        assert_eq!(p(&[0.0; 3], &[0.0; 3]), 1.0);
        assert_eq!(p(&[7.1; 3], &[7.1; 4]), 1.0);
    }

    #[test]
    fn none_without_values_or_with_what_is_not_a_number() {
        assert_eq!(permutation(&[], &[1.0], 0), None);
        assert_eq!(permutation(&[f64::NAN], &[1.0], 0), None);
        assert_eq!(permutation(&[f64::NEG_INFINITY], &[1.0], 0), None);
        assert_eq!(
            permutation(&vec![1.0; 100_001], &vec![1.0; 100_001], 0),
            None
        );
    }

    #[test]
    fn ten_each_are_enumerated_and_eleven_each_drawn() {
        let a: Vec<f64> = (0..11).map(|i| f64::from(i * i % 11)).collect();
        let b: Vec<f64> = (0..11).map(|i| f64::from(i * i % 7) + 1.5).collect();
        let exact = permutation(&a[..10], &b[..10], 0).unwrap();
        assert_eq!(exact.method, PermutationMethod::Exact);
        assert_eq!(exact.splits, 184_756);

        let drawn = permutation(&a, &b, 1).unwrap();
        assert_eq!(drawn.method, PermutationMethod::MonteCarlo);
        assert_eq!(drawn.splits, RANDOM_SPLITS);
        let pooled = centred(&a, &b).unwrap();
        let seen: f64 = pooled[..11].iter().sum();
        let mut all = Tails {
            low: seen + 1e-12,
            high: seen - 1e-12,
            ..Tails::default()
        };
        count_all(&pooled, 11, 0.0, &mut all);
        assert_eq!(all.splits, 705_432);
        let true_p = 2.0 * f64::from(all.rarer()) / f64::from(all.splits);
        assert!((drawn.p - true_p).abs() < 4.0 * drawn.standard_error);

        assert_eq!(permutation(&a, &b, 1), Some(drawn));
        assert_ne!(permutation(&a, &b, 2).unwrap().p, drawn.p);
    }

    #[test]
    fn the_draw_never_changes() {
        let mut random = generator(7);
        let drawn: Vec<usize> = (0..8).map(|_| index_below(100, &mut random)).collect();
        assert_eq!(drawn, [76, 46, 0, 30, 38, 33, 35, 19]);
    }
}
