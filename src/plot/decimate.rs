//! Decimation: as few points as the eye needs, with every peak and trough kept.

/// The points, at most two a column: the lowest and the highest of each, in order of time.
///
/// `points` are `(time, value)`, ascending in time, NaN values are gaps; `low` to `high` is the time that
/// the `columns` divide. A gap stays where it fills a column. Few points are returned as they are.
pub(super) fn decimate(
    points: &[(f64, f64)],
    (low, high): (f64, f64),
    columns: usize,
) -> Vec<(f64, f64)> {
    let columns = columns.max(1);
    if points.len() <= 2 * columns {
        return points.to_vec();
    }
    let width = (high - low).max(f64::MIN_POSITIVE) / columns as f64;
    let column = |time: f64| (((time - low) / width) as usize).min(columns - 1);
    let mut kept = Vec::with_capacity(2 * columns);
    for chunk in points.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let finite = || {
            chunk
                .iter()
                .enumerate()
                .filter(|(_, point)| !point.1.is_nan())
        };
        let lowest = finite().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let highest = finite().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        match (lowest, highest) {
            (Some((i, low)), Some((j, high))) if i < j => kept.extend([*low, *high]),
            (Some((i, low)), Some((j, high))) if i > j => kept.extend([*high, *low]),
            (Some((_, only)), _) => kept.push(*only),
            _ => kept.extend(chunk.first()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lone_peak_stays() {
        let mut points: Vec<_> = (0..10_000).map(|i| (f64::from(i), 1.0)).collect();
        points[4321].1 = 9.0;
        let kept = decimate(&points, (0.0, 9999.0), 100);
        assert!(kept.len() <= 200);
        assert!(kept.contains(&(4321.0, 9.0)));
    }

    #[test]
    fn a_wide_gap_stays_a_gap() {
        let points: Vec<_> = (0..1000)
            .map(|i| {
                (
                    f64::from(i),
                    if (300..600).contains(&i) {
                        f64::NAN
                    } else {
                        1.0
                    },
                )
            })
            .collect();
        let kept = decimate(&points, (0.0, 999.0), 50);
        assert!(kept.iter().any(|point| point.1.is_nan()));
    }

    proptest! {
        #[test]
        fn extremes_order_and_bound(
            values in prop::collection::vec(prop_oneof![9 => -1e9..1e9f64, 1 => Just(f64::NAN)], 0..600),
            columns in 1..80usize,
        ) {
            let points: Vec<_> = values.iter().enumerate().map(|(i, &v)| (i as f64, v)).collect();
            let kept = decimate(&points, (0.0, values.len() as f64), columns);
            prop_assert!(kept.len() <= 2 * columns);
            prop_assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let extent = |points: &[(f64, f64)]| super::super::axis::extent(points.iter().map(|p| p.1));
            prop_assert_eq!(extent(&points), extent(&kept));
            for point in kept.iter().filter(|point| !point.1.is_nan()) {
                prop_assert!(points.contains(point));
            }
        }
    }
}
