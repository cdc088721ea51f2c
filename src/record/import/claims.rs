//! Published figures in prose. A parser cannot know what a number in a sentence means, so a person says it
//! (see [`super::About`]) and the importer checks that the number, its unit and the count of runs stand in the mail.

use super::mail::Mail;
use crate::error::{Error, Result};
use crate::record::Claim;
use crate::unit::Unit;

/// Figures shown to a person.
const SHOWN: usize = 12;
const RUN_WORDS: [&str; 7] = [
    "times",
    "runs",
    "boots",
    "repetitions",
    "iterations",
    "samples",
    "trials",
];
const NUMBER_WORDS: [&str; 10] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// A number with the word after it, as it stands in the mail.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub value: f64,
    pub unit: String,
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.value, self.unit)
    }
}

/// Checks every claim against the mail.
///
/// # Errors
/// `Input` when a value, its unit or its count of runs does not stand there.
pub(super) fn check(mail: &Mail, claims: &[Claim]) -> Result<()> {
    let figures = figures(&mail.text);
    for claim in claims {
        let stands = figures.iter().any(|f| {
            f.value == claim.value.abs() && f.unit.parse::<Unit>().is_ok_and(|u| u == claim.unit)
        });
        if !stands {
            return Err(Error::input(format!(
                "the mail does not say `{} {}`, which is claimed of `{}`",
                claim.value.abs(),
                claim.unit,
                claim.metric
            ))
            .at(&mail.file)
            .next(format!("it says {}", list(&measured(&figures)))));
        }
        if let Some(n) = claim.n {
            let stands = figures
                .iter()
                .any(|f| f.value == f64::from(n) && RUN_WORDS.contains(&f.unit.as_str()));
            if !stands {
                return Err(Error::input(format!(
                    "the mail does not say `{n} times` or `{n} runs`, which is claimed of `{}`",
                    claim.metric
                ))
                .at(&mail.file)
                .next("leave `n` out where the mail does not state it"));
            }
        }
    }
    Ok(())
}

/// Numbers with a unit that ktrial knows, each once, for a message.
pub(super) fn measured(figures: &[Figure]) -> Vec<Figure> {
    let mut kept: Vec<Figure> = Vec::new();
    for figure in figures {
        let known = figure.unit.parse::<Unit>();
        if known.is_ok_and(|u| !matches!(u, Unit::Other(_) | Unit::None)) && !kept.contains(figure)
        {
            kept.push(figure.clone());
            if kept.len() > SHOWN {
                break;
            }
        }
    }
    kept
}

/// `145 MiB, 2 MiB`, or `no number with a known unit`.
pub(super) fn list(figures: &[Figure]) -> String {
    if figures.is_empty() {
        return "no number with a unit".into();
    }
    let mut words: Vec<String> = figures.iter().take(SHOWN).map(Figure::to_string).collect();
    if figures.len() > SHOWN {
        words.push("more".into());
    }
    words.join(", ")
}

/// Every `number unit` of the author's own lines, over line ends; quotes of other mails are left out.
pub(super) fn figures(text: &str) -> Vec<Figure> {
    let mut words = text
        .lines()
        .filter(|line| !line.starts_with('>'))
        .flat_map(str::split_whitespace)
        .peekable();
    let mut figures = Vec::new();
    while let Some(word) = words.next() {
        let Some((value, rest)) = number(word) else {
            continue;
        };
        let unit = if rest.is_empty() {
            words.peek().map_or("", |next| next)
        } else {
            rest
        };
        let unit = unit_word(unit);
        if !unit.is_empty() {
            figures.push(Figure {
                value,
                unit: unit.to_owned(),
            });
        }
    }
    figures
}

/// The number at a word's beginning and what follows it.
fn number(word: &str) -> Option<(f64, &str)> {
    let word = word.trim_start_matches(['(', '~', '-', '+', '"', '\'']);
    if let Some(at) = NUMBER_WORDS.iter().position(|w| *w == word) {
        return Some(((at + 1) as f64, ""));
    }
    let end = word
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(word.len());
    let (digits, rest) = word.split_at_checked(end)?;
    let value: f64 = digits.parse().ok()?;
    value.is_finite().then_some((value, rest))
}

/// A unit without the punctuation of its sentence.
fn unit_word(word: &str) -> &str {
    let end = word
        .find(|c: char| !(c.is_alphabetic() || c == '%' || c == '/'))
        .unwrap_or(word.len());
    let unit = word.get(..end).unwrap_or_default();
    if unit.len() <= 24 { unit } else { "" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says(text: &str) -> Vec<String> {
        figures(text).iter().map(Figure::to_string).collect()
    }

    fn check_one(text: &str, value: f64, unit: &str, n: Option<u32>) -> Result<()> {
        let mail = Mail {
            file: "mail".into(),
            text: text.into(),
            sha256: String::new(),
            origin: Default::default(),
            encoding: None,
        };
        let claim = Claim {
            what: "less memory".into(),
            metric: "memory.used.peak".into(),
            value,
            unit: unit.parse().unwrap(),
            n,
            cell: Default::default(),
        };
        check(&mail, &[claim])
    }

    #[test]
    fn numbers_with_units_are_found_over_line_ends() {
        assert_eq!(
            says("I see 13.5\nMiB less, so 7.25%."),
            ["13.5 MiB", "7.25 %"]
        );
        assert_eq!(says("done three times (~ 4 MiB)"), ["3 times", "4 MiB"]);
        assert_eq!(says("> you said 99 MiB\nok"), Vec::<String>::new());
        assert_eq!(says("v6.3-rc1 x86_64 20230327-tree"), ["20230327 "; 0]);
    }

    #[test]
    fn a_claim_has_to_stand_in_the_mail() {
        let text = "It takes 7.5 MiB less, measured 4 times.";
        assert!(check_one(text, -7.5, "MiB", Some(4)).is_ok());
        assert!(check_one(text, -7.5, "MiB", None).is_ok());
        let error = check_one(text, 8.0, "MiB", None).unwrap_err();
        assert!(
            error.report().contains("it says 7.5 MiB"),
            "{}",
            error.report()
        );
        assert!(check_one(text, 7.5, "KiB", None).is_err());
        assert!(check_one(text, 75.0, "MiB", None).is_err());
        assert!(check_one(text, 7.5, "MiB", Some(3)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_does_no_harm(text in any::<String>()) {
            figures(&text);
        }
    }
}
