//! Words of a host in messages: short, and with nothing that a terminal would obey.

/// How much of a line a message has.
pub(super) const MESSAGE: usize = 200;

/// The last line that says something, escaped, at most [`MESSAGE`] characters of it.
pub(super) fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).rfind(|l| !l.is_empty())?;
    Some(escaped(line, MESSAGE))
}

/// One line, escaped, at most so many characters of it.
pub(super) fn escaped(line: &str, limit: usize) -> String {
    line.chars()
        .take(limit)
        .flat_map(|c| match c {
            ' '..='~' => vec![c],
            _ => c.escape_default().collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_and_length_are_tamed() {
        assert_eq!(
            last_line(b"a\nno \x1b[31mred\r\n\n").unwrap(),
            "no \\u{1b}[31mred"
        );
        assert!(last_line(&[b'x'; 10_000]).unwrap().len() <= 200);
        assert_eq!(last_line(b"\n \n"), None);
    }
}
