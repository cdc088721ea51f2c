//! Lines that a mailer leaves alone.

/// The widest line of a text report, in columns.
pub(super) const WIDTH: usize = 72;

/// ASCII text as lines of at most [`WIDTH`] columns, all but the first indented. A longer word is broken.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    let mut begun = false;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        for (part, piece) in word.as_bytes().chunks(WIDTH - indent).enumerate() {
            let piece = String::from_utf8_lossy(piece);
            match lines.last_mut() {
                Some(line)
                    if part == 0 && line.len() + usize::from(begun) + piece.len() <= WIDTH =>
                {
                    if begun {
                        line.push(' ');
                    }
                    line.push_str(&piece);
                }
                _ => lines.push(" ".repeat(indent) + &piece),
            }
            begun = true;
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn later_lines_are_indented_and_long_words_broken() {
        let text = format!("note: {} end", "x".repeat(80));
        assert_eq!(
            wrapped(&text, 2),
            format!("note:\n  {}\n  {} end\n", "x".repeat(70), "x".repeat(10))
        );
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_no_word_lost(text in "[a-z ]{0,300}", indent in 0usize..8) {
            let lines = wrapped(&text, indent);
            prop_assert!(lines.lines().all(|line| line.len() <= WIDTH));
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&lines), bare(&text));
        }
    }
}
