//! Boots posted twice: equal in all units to the last digit, within one condition and cell, with at least two units.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use super::boots::Boot;

/// With one unit, equal milliseconds are common.
const UNITS_MINIMUM: usize = 2;

/// A boot that repeats an earlier one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Duplicate {
    /// Index of the earlier boot.
    pub original: usize,
    /// How many units agree.
    units: usize,
    /// Chance that any two boots of this arm agree so, when it can be estimated.
    chance: Option<f64>,
}

impl Duplicate {
    /// What the record says of it.
    pub fn note(&self, original: &str) -> String {
        let mut note = format!(
            "equal to {original} in all {} units to the last digit: most likely one boot posted twice",
            self.units
        );
        if let Some(chance) = self.chance.filter(|c| *c > 0.0) {
            let one_in = 1.0 / chance;
            let digits = 10f64.powf(one_in.log10().floor());
            note.push_str(&format!(
                "; by chance about 1 in {:.0}, if units vary independently and normally with the spread of this arm's other boots",
                (one_in / digits).round() * digits
            ));
        }
        note
    }
}

type Units<'a> = BTreeMap<&'a str, f64>;

/// For each boot, whether it repeats an earlier one.
pub(super) fn find(boots: &[Boot]) -> Vec<Option<Duplicate>> {
    let all: Vec<(&Boot, Units)> = boots.iter().map(|boot| (boot, by_unit(boot))).collect();
    let originals: Vec<Option<usize>> = all
        .iter()
        .enumerate()
        .map(|(index, (boot, units))| {
            all.iter().take(index).position(|(earlier, theirs)| {
                units.len() >= UNITS_MINIMUM && earlier.same_arm(boot) && theirs == units
            })
        })
        .collect();
    let mut chances = BTreeMap::new();
    all.iter()
        .zip(&originals)
        .map(|((boot, units), original)| {
            let original = (*original)?;
            let chance = chances.entry(original).or_insert_with(|| {
                let arm = all
                    .iter()
                    .zip(&originals)
                    .filter(|((b, _), _)| b.same_arm(boot));
                let count = arm.clone().count();
                let different: Vec<&Units> = arm
                    .filter(|(_, original)| original.is_none())
                    .map(|((_, units), _)| units)
                    .collect();
                chance(boot, &different, count)
            });
            Some(Duplicate {
                original,
                units: units.len(),
                chance: *chance,
            })
        })
        .collect()
}

fn by_unit(boot: &Boot) -> Units<'_> {
    boot.entries
        .iter()
        .map(|e| (e.unit.as_str(), e.seconds))
        .collect()
}

/// Chance that any two of an arm's `count` boots agree in every unit. Two normal values of standard deviation s,
/// rounded to q, agree with probability q / (2 s sqrt(pi)) when q is small against s (q times the integral of the
/// squared density). None when the arm has fewer than two different boots.
fn chance(boot: &Boot, different: &[&Units], count: usize) -> Option<f64> {
    let one_pair: f64 = boot
        .entries
        .iter()
        .map(|entry| {
            let values: Vec<f64> = different
                .iter()
                .filter_map(|units| units.get(entry.unit.as_str()).copied())
                .collect();
            let sd = standard_deviation(&values)?;
            Some((entry.resolution_s / (2.0 * sd * PI.sqrt())).min(1.0))
        })
        .product::<Option<f64>>()?;
    let pairs = (count * count.saturating_sub(1) / 2) as f64;
    Some((one_pair * pairs).min(1.0))
}

fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::blame::entry;

    fn boot(condition: &str, lines: &[&str]) -> Boot {
        Boot {
            condition: condition.into(),
            value: None,
            line: 1,
            entries: lines.iter().map(|l| entry(l).unwrap()).collect(),
            text: String::new(),
        }
    }

    #[test]
    fn only_a_whole_repeat_in_one_arm_counts() {
        let boots = [
            boot("old", &["1.001s a.service", "20ms b.service"]),
            boot("old", &["20ms b.service", "1.001s a.service"]),
            boot("old", &["1.001s a.service", "21ms b.service"]),
            boot("new", &["1.001s a.service", "20ms b.service"]),
            boot("old", &["1.001s a.service"]),
            boot("old", &["1.001s a.service"]),
        ];
        assert_eq!(
            find(&boots)
                .iter()
                .map(|d| d.map(|d| d.original))
                .collect::<Vec<_>>(),
            [None, Some(0), None, None, None, None]
        );
    }

    #[test]
    fn the_note_says_how_likely_chance_is() {
        let boots = [
            boot("old", &["1.000s a.service", "200ms b.service"]),
            boot("old", &["1.000s a.service", "200ms b.service"]),
            boot("old", &["1.200s a.service", "220ms b.service"]),
        ];
        // sd 0.1414 and 0.01414 s: 0.001995 * 0.01995 * 3 pairs = 1 in 8377.
        let note = find(&boots)[1].unwrap().note("t01");
        assert!(note.contains("about 1 in 8000,"), "{note}");
    }

    #[test]
    fn without_other_boots_no_chance_is_stated() {
        let boots = [
            boot("old", &["1s a.service", "2s b.service"]),
            boot("old", &["1s a.service", "2s b.service"]),
        ];
        assert!(!find(&boots)[1].unwrap().note("t01").contains("chance"));
    }
}
