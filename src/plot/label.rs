//! Text that comes from outside, made fit to be shown: no control characters, bounded, shortened where space ends.

use std::collections::HashMap;

use crate::words::words;

/// Longest text kept; what is longer ends in an ellipsis.
const MAX_CHARS: usize = 300;

/// One line without control, bidirectional and private characters.
pub(super) fn clean(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if c.is_control() => '?',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '?',
        '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{f0000}'.. => '?',
        c => c,
    };
    let mut line: String = text.trim().chars().take(MAX_CHARS).map(shown).collect();
    if text.trim().chars().nth(MAX_CHARS).is_some() {
        line.push('…');
    }
    line
}

/// As [`clean`], every character outside ASCII written as `\u{..}`.
pub(super) fn ascii(text: &str) -> String {
    let mut line = String::new();
    for c in clean(text).chars() {
        match c {
            '…' => line.push_str("..."),
            c if c.is_ascii() => line.push(c),
            c => line.extend(c.escape_unicode()),
        }
    }
    line
}

/// The text, cut and ended by `ellipsis` when `fits` says that it is too long.
pub(super) fn shorten(text: &str, ellipsis: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let cut = |length: usize| {
        let kept: String = chars.iter().take(length).collect();
        format!("{}{ellipsis}", kept.trim_end())
    };
    let lengths: Vec<usize> = (0..chars.len()).collect();
    match lengths.partition_point(|&length| fits(&cut(length))) {
        0 => String::new(),
        count => cut(count - 1),
    }
}

/// Names, the long ones cut so that different ones stay different: what all begin with, when the rest fits; else
/// their middle; where that hides what differs, all but its place; where that does not help, numbered from 1.
pub(super) fn shorten_apart(
    names: &[String],
    ellipsis: &str,
    fits: impl Fn(&str) -> bool,
) -> Vec<String> {
    if names.iter().all(|name| fits(name)) {
        return names.to_vec();
    }
    let common = common_prefix(names);
    let middle = |name: &String| cut_middle(name, ellipsis, &fits);
    let front = |name: &String| {
        let start = if fits(name) {
            0
        } else {
            common.saturating_sub(1)
        };
        let rest: String = name.chars().skip(start).collect();
        let mark = if start == 0 { "" } else { ellipsis };
        shorten(&format!("{mark}{rest}"), ellipsis, &fits)
    };
    let whole_ends = |cut: &Vec<String>| {
        let pairs = cut.iter().zip(names);
        pairs
            .into_iter()
            .all(|(cut, name)| cut.chars().last() == name.chars().last())
    };
    let middles: Vec<String> = names.iter().map(middle).collect();
    let fronts: Vec<String> = names.iter().map(front).collect();
    // What differs is best read in whole words.
    let cuts = match whole_ends(&fronts) {
        true => [fronts, middles],
        false => [middles, fronts],
    };
    cuts.into_iter()
        .find(|cut| apart(names, cut))
        .unwrap_or_else(|| {
            let numbered = names
                .iter()
                .enumerate()
                .map(|(i, name)| shorten(&format!("{}: {name}", i + 1), ellipsis, &fits));
            numbered.collect()
        })
}

/// Whether the cut names are equal only where the names are.
fn apart(names: &[String], cut: &[String]) -> bool {
    let mut seen: HashMap<&String, &String> = HashMap::new();
    cut.iter()
        .zip(names)
        .all(|(cut, name)| *seen.entry(cut).or_insert(name) == name)
}

/// How many characters all the names begin with.
fn common_prefix(names: &[String]) -> usize {
    let Some((first, others)) = names.split_first() else {
        return 0;
    };
    let shared = |name: &String| {
        let pairs = first.chars().zip(name.chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    others.iter().map(shared).min().unwrap_or(0)
}

/// The text with its middle cut out, when it is too long.
fn cut_middle(text: &str, ellipsis: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let cut = |kept: usize| {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let head: String = chars.iter().take(head).collect();
        let tail: String = chars.iter().skip(chars.len() - tail).collect();
        format!("{}{ellipsis}{}", head.trim_end(), tail.trim_start())
    };
    let lengths: Vec<usize> = (0..chars.len()).collect();
    match lengths.partition_point(|&length| fits(&cut(length))) {
        0 => String::new(),
        count => cut(count - 1),
    }
}

/// The text in lines that fit, broken at spaces but not between a number and its unit; a word that does not fit alone stands alone.
pub(super) fn wrap(text: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if fits(&format!("{line} {word}")) => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_never_shown() {
        assert_eq!(clean("a\x1b[31mred\0\u{202e}x\ny"), "a?[31mred??x y");
        assert_eq!(clean(&"x".repeat(400)).chars().count(), MAX_CHARS + 1);
    }

    #[test]
    fn ascii_escapes_everything_else() {
        assert_eq!(ascii("größe µ"), r"gr\u{f6}\u{df}e \u{b5}");
    }

    #[test]
    fn long_text_ends_in_an_ellipsis() {
        let fits = |s: &str| s.len() <= 8;
        assert_eq!(shorten("condition", "...", fits), "condi...");
        assert_eq!(shorten("short", "...", fits), "short");
        assert_eq!(shorten("condition", "...", |s| s.len() <= 2), "");
    }

    #[test]
    fn different_names_stay_different() {
        let cut = |names: &[&str], most: usize| {
            let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
            shorten_apart(&names, "...", |text| text.len() <= most)
        };
        assert_eq!(cut(&["before", "after"], 8), ["before", "after"]);
        let ends = ["log-memory-kdump-before.txt", "log-memory-kdump-after.txt"];
        assert_eq!(cut(&ends, 17), ["...-before.txt", "...-after.txt"]);
        let middle = [
            "log-memory-old-2023-05-05.txt",
            "log-memory-new-2023-05-05.txt",
        ];
        assert_eq!(cut(&middle, 13), ["...-old-20...", "...-new-20..."]);
        let both = [
            "log-memory-kdump-1",
            "log-memory-other-1",
            "log-memory-other-1",
        ];
        assert_eq!(cut(&both, 8), ["...-k...", "...-o...", "...-o..."]);
        let far = [
            "aaaaaaaaaa-x-bbbbbbbbbb",
            "aaaaaaaaaa-y-bbbbbbbbbb",
            "c-long-name",
        ];
        assert_eq!(cut(&far, 8), ["1: aa...", "2: aa...", "3: c-..."]);
    }

    #[test]
    fn wrapping_breaks_at_spaces() {
        let fits = |s: &str| s.len() <= 9;
        assert_eq!(wrap("84 MiB lower peak", fits), ["84 MiB", "lower", "peak"]);
        assert!(wrap("  ", fits).is_empty());
        assert_eq!(wrap("it is -2.10 GiB", fits), ["it is", "-2.10 GiB"]);
    }
}
