//! A curve of a stream of numbers that a plot can draw: few points, every peak kept.

/// Most bins kept.
const MOST_BINS: usize = 2000;

/// The least and the greatest value of each bin of equally many samples.
///
/// When the bins are full, neighbours join and each holds twice as many samples: memory and the number of points stay
/// bounded, and the extremes of the whole are always among the points.
#[derive(Debug)]
pub struct Curve {
    bins: Vec<Bin>,
    samples_a_bin: u64,
    count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Bin {
    least: (u64, f64),
    greatest: (u64, f64),
}

impl Bin {
    fn join(self, later: Bin) -> Bin {
        Bin {
            least: if later.least.1 < self.least.1 {
                later.least
            } else {
                self.least
            },
            greatest: if later.greatest.1 > self.greatest.1 {
                later.greatest
            } else {
                self.greatest
            },
        }
    }
}

impl Default for Curve {
    fn default() -> Self {
        Curve {
            bins: Vec::new(),
            samples_a_bin: 1,
            count: 0,
        }
    }
}

impl Curve {
    /// Takes the next value.
    pub fn push(&mut self, value: f64) {
        let bin = Bin {
            least: (self.count, value),
            greatest: (self.count, value),
        };
        if self.count.is_multiple_of(self.samples_a_bin) {
            if self.bins.len() == MOST_BINS {
                self.bins = self
                    .bins
                    .chunks(2)
                    .filter_map(|pair| pair.iter().copied().reduce(Bin::join))
                    .collect();
                self.samples_a_bin *= 2;
            }
            self.bins.push(bin);
        } else if let Some(last) = self.bins.last_mut() {
            *last = last.join(bin);
        }
        self.count += 1;
    }

    /// The points in order: each value's place in the stream, from 0, and the value. At most 4000.
    pub fn points(&self) -> Vec<(u64, f64)> {
        let mut points = Vec::with_capacity(2 * self.bins.len());
        for bin in &self.bins {
            let mut pair = [bin.least, bin.greatest];
            pair.sort_by_key(|&(index, _)| index);
            points.extend(pair);
        }
        points.dedup_by_key(|&mut (index, _)| index);
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_are_all_points() {
        let mut curve = Curve::default();
        [3.0, 1.0, 2.0]
            .into_iter()
            .for_each(|value| curve.push(value));
        assert_eq!(curve.points(), [(0, 3.0), (1, 1.0), (2, 2.0)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn one_peak_among_many_values_is_kept(count in 1u64..30_000, at in 0u64..30_000) {
            let at = at % count;
            let mut curve = Curve::default();
            for index in 0..count {
                curve.push(if index == at { 9.0 } else { (index % 7) as f64 });
            }
            let points = curve.points();
            prop_assert!(points.len() <= 2 * MOST_BINS);
            prop_assert!(points.contains(&(at, 9.0)));
            prop_assert!(points.is_sorted_by(|a, b| a.0 < b.0));
        }
    }
}
