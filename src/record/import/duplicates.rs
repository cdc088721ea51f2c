//! Boots posted twice: equal in all units to the last digit, within one condition and cell, with at least two units.

use std::collections::BTreeMap;

use super::boots::Boot;

/// With one unit, equal milliseconds are common.
const UNITS_MINIMUM: usize = 2;

/// For each boot the earlier one that it repeats.
pub(super) fn originals(boots: &[Boot]) -> Vec<Option<usize>> {
    boots
        .iter()
        .enumerate()
        .map(|(index, boot)| {
            boots
                .iter()
                .take(index)
                .position(|earlier| earlier.same_arm(boot) && equal(earlier, boot))
        })
        .collect()
}

/// What the record says of a boot that repeats another.
pub(super) fn note(boots: &[Boot], index: usize, original: &str) -> String {
    let Some(boot) = boots.get(index) else {
        return String::new();
    };
    let mut note = format!(
        "equal to {original} in all {} units to the last digit: most likely one boot posted twice",
        boot.entries.len()
    );
    if let Some(chance) = chance(boots, boot).filter(|c| *c > 0.0) {
        let one_in = 1.0 / chance;
        let digits = 10f64.powf(one_in.log10().floor());
        note.push_str(&format!(
            "; by chance about 1 in {:.0}, if units vary independently and normally with the spread of this arm's other boots",
            (one_in / digits).round() * digits
        ));
    }
    note
}

fn by_unit(boot: &Boot) -> BTreeMap<&str, f64> {
    boot.entries
        .iter()
        .map(|e| (e.unit.as_str(), e.seconds))
        .collect()
}

fn equal(a: &Boot, b: &Boot) -> bool {
    a.entries.len() >= UNITS_MINIMUM && by_unit(a) == by_unit(b)
}

/// Chance that any two boots of this arm agree in every unit. Two normal values of standard deviation s, rounded
/// to q, agree with probability q / (2 s sqrt(pi)) when q is small against s (the integral of the squared density).
/// None when the arm has fewer than two different boots.
fn chance(boots: &[Boot], boot: &Boot) -> Option<f64> {
    let arm: Vec<&Boot> = boots.iter().filter(|b| b.same_arm(boot)).collect();
    let mut different: Vec<BTreeMap<&str, f64>> = Vec::new();
    for units in arm.iter().map(|b| by_unit(b)) {
        if !different.contains(&units) {
            different.push(units);
        }
    }
    let one_pair: f64 = boot
        .entries
        .iter()
        .map(|entry| {
            let values: Vec<f64> = different
                .iter()
                .filter_map(|units| units.get(entry.unit.as_str()).copied())
                .collect();
            let sd = standard_deviation(&values)?;
            let q = entry.resolution_s;
            Some((q / (2.0 * sd * std::f64::consts::PI.sqrt())).min(1.0))
        })
        .product::<Option<f64>>()?;
    let pairs = (arm.len() * (arm.len() - 1) / 2) as f64;
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
        assert_eq!(originals(&boots), [None, Some(0), None, None, None, None]);
    }

    #[test]
    fn the_note_says_how_likely_chance_is() {
        let boots = [
            boot("old", &["1.000s a.service", "200ms b.service"]),
            boot("old", &["1.000s a.service", "200ms b.service"]),
            boot("old", &["1.200s a.service", "220ms b.service"]),
        ];
        // sd 0.1414 and 0.01414 s: 0.001995 * 0.01995 * 3 pairs = 1 in 8377.
        let note = note(&boots, 1, "t01");
        assert!(note.contains("about 1 in 8000,"), "{note}");
    }

    #[test]
    fn without_other_boots_no_chance_is_stated() {
        let boots = [
            boot("old", &["1s a.service", "2s b.service"]),
            boot("old", &["1s a.service", "2s b.service"]),
        ];
        assert!(!note(&boots, 1, "t01").contains("chance"));
    }
}
