//! The order of trials: which condition and cell comes when.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The order of trials. Both go in blocks that hold each condition in each cell once, so that no condition runs
/// ahead of another by more than one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A B, B A, A B, ...: every second block is the first one reversed, so that slow drift hits conditions alike.
    /// Over an even number of trials a linear drift cancels whole.
    Abba,
    /// Shuffled within blocks, from the design's seed.
    Random,
}

impl Order {
    /// Both.
    pub const ALL: [Order; 2] = [Order::Abba, Order::Random];

    /// The word, as in the experiment's file.
    pub fn word(self) -> &'static str {
        match self {
            Order::Abba => "abba",
            Order::Random => "random",
        }
    }
}

/// The order on one host: `blocks` blocks of the numbers 0 to `slots` - 1, each number once a block.
///
/// The same `seed`, `host` (its position in the list) and sizes give the same order in every version; another host
/// has a shuffle of its own.
pub(super) fn blocks(
    order: Order,
    seed: u64,
    host: u64,
    blocks: usize,
    slots: usize,
) -> Vec<Vec<usize>> {
    let mut random = generator(seed, host);
    (0..blocks)
        .map(|block| {
            let mut block_slots: Vec<usize> = (0..slots).collect();
            match order {
                Order::Abba if block % 2 == 1 => block_slots.reverse(),
                Order::Abba => {}
                Order::Random => shuffle(&mut block_slots, &mut random),
            }
            block_slots
        })
        .collect()
}

/// ChaCha8 keyed by the seed's little-endian bytes, then zeros; the host is its stream.
fn generator(seed: u64, host: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(key);
    random.set_stream(host);
    random
}

/// Fisher-Yates from the last element down (Knuth, TAOCP 2, 3.4.2, algorithm P). Written out here because
/// libraries change theirs between versions, and with it the order that a seed gives.
fn shuffle(items: &mut [usize], random: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A number under `limit`, each equally likely: draws past the last whole multiple of `limit` are drawn again.
fn below(limit: u64, random: &mut ChaCha8Rng) -> u64 {
    let excess = (u64::MAX % limit + 1) % limit;
    loop {
        let drawn = random.next_u64();
        if drawn <= u64::MAX - excess {
            return drawn % limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abba_reverses_every_second_block() {
        assert_eq!(blocks(Order::Abba, 1, 0, 3, 2).concat(), [0, 1, 1, 0, 0, 1]);
        assert_eq!(blocks(Order::Abba, 1, 0, 2, 3).concat(), [0, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn a_seed_gives_this_order_for_ever() {
        let order = |seed, host| blocks(Order::Random, seed, host, 2, 6);
        assert_eq!(order(1, 0), order(1, 0));
        assert_ne!(order(1, 0), order(2, 0));
        assert_ne!(order(1, 0), order(1, 1));
        assert_eq!(order(1, 0), [[5, 4, 1, 2, 0, 3], [1, 4, 3, 5, 0, 2]]);
    }

    #[test]
    fn every_arrangement_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for block in blocks(Order::Random, 7, 0, 6000, 3) {
            *counts.entry(block).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five degrees of freedom; 0.999 of chi-squared is below 20.5.
        let chi: f64 = counts
            .values()
            .map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(chi < 20.5, "{counts:?}");
    }

    #[test]
    fn numbers_below_a_limit_reach_every_value() {
        let mut random = generator(3, 0);
        let mut seen = [false; 5];
        (0..200).for_each(|_| seen[below(5, &mut random) as usize] = true);
        assert_eq!(seen, [true; 5]);
    }
}
