//! Text that comes from outside, made fit to be shown: no control characters, bounded, shortened where space ends.

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
    fn wrapping_breaks_at_spaces() {
        let fits = |s: &str| s.len() <= 9;
        assert_eq!(wrap("84 MiB lower peak", fits), ["84 MiB", "lower", "peak"]);
        assert!(wrap("  ", fits).is_empty());
        assert_eq!(wrap("it is -2.10 GiB", fits), ["it is", "-2.10 GiB"]);
    }
}
