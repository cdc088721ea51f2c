//! A column of numbers: one a line, the point as the decimal sign.

use crate::ascii::excerpt;
use crate::parse::Wrong;

/// Reads a number as people write it in logs: `-1`, `528732`, `4.652`, `1e-3`.
///
/// # Errors
/// What the text is instead, and what to do.
pub(super) fn parse_number(text: &str) -> Result<f64, (String, String)> {
    let shown = excerpt(text, 40);
    let bare = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if ["nan", "inf", "infinity"].contains(&bare.as_str()) {
        return Err((
            format!("`{shown}` is not a number that can be compared"),
            "find out why the value is missing, then take the line out".into(),
        ));
    }
    // `f64::from_str` takes the words above; everything else that it takes is a decimal number.
    match text.parse::<f64>() {
        Ok(0.0) if !is_zero(&bare) => Err((
            format!("`{shown}` is nearer to 0 than the smallest double, 4.9e-324"),
            "correct the line, or use a smaller unit".into(),
        )),
        Ok(number) if number.is_finite() => Ok(number + 0.0),
        Ok(_) => Err((
            format!("`{shown}` is larger than the largest double, 1.8e308"),
            "correct the line, or use a larger unit".into(),
        )),
        Err(_) => Err(not_a_number(text, &shown)),
    }
}

/// The number on one line, none when the line is blank.
pub(super) fn parse_line(line: &str) -> Result<Option<f64>, Wrong> {
    let text = line.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let indent = line.len() - line.trim_start().len();
    let column = line.get(..indent).map_or(0, |s| s.chars().count()) + 1;
    parse_number(text)
        .map(Some)
        .map_err(|(message, next)| Wrong {
            column,
            message,
            next,
        })
}

fn not_a_number(text: &str, shown: &str) -> (String, String) {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let words: Vec<&str> = text.split_whitespace().take(1000).collect();
    if let [first, second, ..] = words.as_slice() {
        let first = first.trim_end_matches([',', ';']);
        if is_number(first) && is_number(second.trim_end_matches([',', ';'])) {
            return (
                format!(
                    "{} columns, and only one can be compared: `{shown}`",
                    words.len()
                ),
                "choose one, for example the second: ktrial compare ... <(awk '{print $2}' FILE)"
                    .into(),
            );
        }
        if words.len() == 2 && is_number(first) {
            return (
                format!("text after the number: `{shown}`"),
                "keep the number only (awk '{print $1}' FILE) and give its unit with --unit".into(),
            );
        }
    }
    for separator in [';', '|', '\t'] {
        if text.contains(separator) && text.split(separator).all(|word| is_number(word.trim())) {
            return (
                format!("columns parted by `{separator}`, and only one can be compared: `{shown}`"),
                format!(
                    "choose one: ktrial compare ... <(awk -F'{separator}' '{{print $2}}' FILE)"
                ),
            );
        }
    }
    let grouped = |separator: char| {
        let mut groups = text.trim_start_matches(['+', '-']).split(separator);
        text.contains(separator)
            && groups
                .next()
                .is_some_and(|g| (1..=3).contains(&g.len()) && digits(g))
            && groups.all(|g| g.len() == 3 && digits(g))
    };
    let parts: Vec<&str> = text.split(',').collect();
    match parts.as_slice() {
        [whole, fraction] if is_number(whole) && digits(fraction) && !grouped(',') => (
            format!("`{shown}` has a decimal comma"),
            "write a decimal point: tr , . < FILE".into(),
        ),
        [_, _] if grouped(',') => (
            format!("`{shown}` has a comma that may part thousands or be a decimal comma"),
            "take it out (tr -d , < FILE) or write a decimal point (tr , . < FILE)".into(),
        ),
        [_, _, ..] if grouped(',') => (
            format!("`{shown}` has thousands separators"),
            "take them out: tr -d , < FILE".into(),
        ),
        [_, _, ..] if parts.iter().all(|part| is_number(part.trim())) => (
            format!("columns parted by commas, and only one can be compared: `{shown}`"),
            "choose one: ktrial compare ... <(awk -F, '{print $2}' FILE)".into(),
        ),
        _ if ['.', '_', '\'', '\u{a0}', '\u{202f}', '\u{2009}']
            .into_iter()
            .any(grouped) =>
        {
            (
                format!("`{shown}` has thousands separators"),
                "write the digits without separators".into(),
            )
        }
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => (
            format!("`{shown}` is not a plain number"),
            "keep the number only, one a line, and give its unit with --unit".into(),
        ),
        [word]
            if word.trim_end().ends_with(':')
                || words.first().is_some_and(|w| w.ends_with(':')) =>
        {
            (
                format!("text among the numbers: `{shown}`"),
                "give one number a line, or the output of `LC_ALL=C free -k -s 1`".into(),
            )
        }
        _ => (
            format!("text among the numbers: `{shown}`"),
            "take the line out, or begin it with # to make it a comment".into(),
        ),
    }
}

/// Whether a decimal number is 0 as it is written, whatever its exponent.
fn is_zero(lower_case: &str) -> bool {
    let mantissa = lower_case.split('e').next().unwrap_or_default();
    !mantissa.contains(|c: char| matches!(c, '1'..='9'))
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_as_people_write_them() {
        for (text, number) in [
            ("528732", 528732.0),
            ("  4.652 ", 4.652),
            ("-1", -1.0),
            ("+1e-3", 0.001),
            (".5", 0.5),
            ("0e-999", 0.0),
            ("18446744073709551615", 18446744073709551615.0),
        ] {
            assert_eq!(parse_line(text).unwrap(), Some(number));
        }
        assert_eq!(parse_line(" \t").unwrap(), None);
        assert!(parse_line("-0").unwrap().unwrap().is_sign_positive());
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        for (text, what) in [
            ("nan", "not a number that can be compared"),
            ("-NaN", "not a number that can be compared"),
            ("Infinity", "not a number that can be compared"),
            ("1e999", "larger than the largest double"),
            ("1e-400", "nearer to 0 than the smallest double"),
            ("--1", "not a plain number"),
            ("1,5", "decimal comma"),
            ("-12,25", "decimal comma"),
            ("1,234", "thousands or be a decimal comma"),
            ("1,234,567", "thousands separators"),
            ("1'234'567", "thousands separators"),
            ("1.234.567", "thousands separators"),
            ("1_000", "thousands separators"),
            ("1,2,3", "columns parted by commas"),
            ("1;2", "columns parted by `;`"),
            ("1 2", "2 columns"),
            ("1, 2, 3", "3 columns"),
            ("528732 kB", "text after the number"),
            ("1.5s", "not a plain number"),
            ("0x10", "not a plain number"),
            ("Speicher: 1 2 3", "text among the numbers"),
            ("used", "text among the numbers"),
            ("\u{2212}5", "text among the numbers: `\\u{2212}5`"),
        ] {
            let wrong = parse_line(text).unwrap_err();
            assert!(wrong.message.contains(what), "{text}: {}", wrong.message);
            assert!(!wrong.next.is_empty());
        }
        assert_eq!(parse_line("  x").unwrap_err().column, 3);
    }

    proptest! {
        #[test]
        fn any_line_is_a_finite_number_or_a_message_in_ascii(line in "\\PC{0,80}|[0-9.,;:eE+\\- \t]{0,30}") {
            match parse_line(&line) {
                Ok(number) => prop_assert!(number.is_none_or(f64::is_finite)),
                Err(wrong) => prop_assert!(wrong.message.is_ascii() && wrong.column >= 1),
            }
        }

        #[test]
        fn every_double_written_out_is_read_back(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
            prop_assert_eq!(parse_line(&number.to_string()).unwrap(), Some(number));
        }
    }
}
