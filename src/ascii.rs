//! Text from outside, made safe for a terminal, a mail or a log: printable ASCII and nothing else.

/// Printable ASCII as it is; control characters, terminal escapes and everything else as Rust escapes.
///
/// ```
/// assert_eq!(ktrial::ascii::escaped("a\x1b[31m \u{e9}\n"), r"a\u{1b}[31m \u{e9}\n");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == ' ' || c.is_ascii_graphic() {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    out
}

/// [`escaped`], cut after `limit` characters of the original with `...` for the rest.
pub fn excerpt(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => escaped(text.get(..end).unwrap_or_default()) + "...",
        None => escaped(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_between_characters() {
        assert_eq!(excerpt("\u{e4}\u{e4}\u{e4}", 2), "\\u{e4}\\u{e4}...");
        assert_eq!(excerpt("abc", 3), "abc");
    }
}
