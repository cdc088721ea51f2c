//! Quantiles of a stream of numbers in bounded memory.
//!
//! Every distinct value is counted: quantiles are exact as long as there are few enough of them, which readings of
//! `free` in KiB or percentages nearly always are. When there are too many, the last bit of every value is dropped,
//! neighbours share a count, and so on, one bit at a time. A quantile is then off by at most [`Quantiles::error`] of
//! its size, whatever the values: for values within one factor of 2 that is 2^-20, one in a million.

use std::collections::HashMap;

/// Most distinct values kept: 1,000,000, which takes 60 MiB at most.
const MOST_DISTINCT: usize = 1_000_000;

/// Counts of values, from which quantiles are read.
#[derive(Debug)]
pub struct Quantiles {
    /// How often each value came, by its [`key`] without the dropped bits.
    counts: HashMap<u64, u64>,
    count: u64,
    dropped_bits: u32,
    most: usize,
}

impl Default for Quantiles {
    fn default() -> Self {
        Quantiles::with_most(MOST_DISTINCT)
    }
}

impl Quantiles {
    fn with_most(most: usize) -> Self {
        Quantiles {
            counts: HashMap::new(),
            count: 0,
            dropped_bits: 0,
            most,
        }
    }

    /// Counts one finite value.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        *self
            .counts
            .entry(key(value) >> self.dropped_bits)
            .or_insert(0) += 1;
        if self.counts.len() > self.most {
            self.drop_bits();
        }
    }

    /// Drops bits until at most half as many values are left, so that this happens seldom.
    fn drop_bits(&mut self) {
        let mut sorted: Vec<(u64, u64)> = self.counts.drain().collect();
        sorted.sort_unstable();
        while sorted.len() > self.most / 2 {
            self.dropped_bits += 1;
            sorted.iter_mut().for_each(|(key, _)| *key >>= 1);
            sorted.dedup_by(|later, former| {
                let same = later.0 == former.0;
                if same {
                    former.1 += later.1;
                }
                same
            });
        }
        self.counts.extend(sorted);
    }

    /// The quantiles at the given fractions, ascending in 0..=1; none when nothing was counted.
    ///
    /// Between two values the quantile is linear in rank: h = (n - 1) q, type 7 of Hyndman and Fan (1996),
    /// "Sample quantiles in statistical packages", The American Statistician 50(4), which gives the usual median.
    pub fn at<const N: usize>(&self, fractions: [f64; N]) -> Option<[f64; N]> {
        let last = self.count.checked_sub(1)?;
        let mut sorted: Vec<(u64, u64)> = self.counts.iter().map(|(&k, &c)| (k, c)).collect();
        sorted.sort_unstable();
        let value_of_rank = |rank: u64| {
            let mut before = 0;
            let found = sorted.iter().find(|(_, count)| {
                before += count;
                before > rank
            });
            found.map(|&(key, _)| self.value(key))
        };
        let mut quantiles = [0.0; N];
        for (quantile, fraction) in quantiles.iter_mut().zip(fractions) {
            let rank = last as f64 * fraction;
            let low = value_of_rank(rank.floor() as u64)?;
            let high = value_of_rank((rank.ceil() as u64).min(last))?;
            *quantile = low + (high - low) * rank.fract();
        }
        Some(quantiles)
    }

    /// By how much of its size a quantile may be off: 0 while every distinct value is counted.
    pub fn error(&self) -> f64 {
        match self.dropped_bits {
            0 => 0.0,
            bits => 2f64.powi(bits as i32 - 53),
        }
    }

    /// The middle of the values that share a count.
    fn value(&self, key: u64) -> f64 {
        if self.dropped_bits == 0 {
            return value(key);
        }
        value((key << self.dropped_bits) | (1 << (self.dropped_bits - 1)))
    }
}

/// An integer that orders as its value does: IEEE 754's bits, with the negative ones turned round.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// The value of a [`key`].
fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 {
        key & !(1 << 63)
    } else {
        !key
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn type_7(sorted: &[f64], fraction: f64) -> f64 {
        let rank = (sorted.len() - 1) as f64 * fraction;
        let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
        low + (high - low) * rank.fract()
    }

    #[test]
    fn the_median_of_an_even_count_lies_between() {
        let mut quantiles = Quantiles::default();
        assert_eq!(quantiles.at([0.5]), None);
        for value in [4.0, 1.0, 3.0, 2.0] {
            quantiles.push(value);
        }
        assert_eq!(quantiles.at([0.0, 0.5, 1.0]), Some([1.0, 2.5, 4.0]));
    }

    proptest! {
        #[test]
        fn exact_while_every_value_is_counted(mut values in prop::collection::vec(-1e12..1e12, 1..200)) {
            let mut quantiles = Quantiles::default();
            values.iter().for_each(|&value| quantiles.push(value));
            values.sort_by(f64::total_cmp);
            prop_assert_eq!(quantiles.error(), 0.0);
            let [median, p95] = quantiles.at([0.5, 0.95]).unwrap();
            prop_assert_eq!(median, type_7(&values, 0.5));
            prop_assert_eq!(p95, type_7(&values, 0.95));
        }

        #[test]
        fn beyond_the_bound_the_stated_error_holds(mut values in prop::collection::vec(1.0..1e9, 50..400)) {
            let mut quantiles = Quantiles::with_most(32);
            values.iter().for_each(|&value| quantiles.push(value));
            prop_assert!(quantiles.counts.len() <= 32 && quantiles.error() > 0.0);
            values.sort_by(f64::total_cmp);
            for fraction in [0.0, 0.5, 0.95, 1.0] {
                let [quantile] = quantiles.at([fraction]).unwrap();
                let exact = type_7(&values, fraction);
                prop_assert!((quantile - exact).abs() <= exact * quantiles.error() * 1.000001);
            }
        }

        #[test]
        fn keys_order_as_values_do(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            prop_assert_eq!(key(a).cmp(&key(b)), a.total_cmp(&b));
            prop_assert_eq!(value(key(a)).to_bits(), a.to_bits());
        }
    }
}
