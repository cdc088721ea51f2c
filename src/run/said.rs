//! Words of a host in messages: short, and with nothing that a terminal would obey.

/// The last line that says something, escaped, at most 200 characters of it.
pub(super) fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).rfind(|l| !l.is_empty())?;
    Some(escaped(line))
}

/// One line, escaped, at most 200 characters of it.
pub(super) fn escaped(line: &str) -> String {
    line.chars()
        .take(200)
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
