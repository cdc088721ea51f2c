//! Lines that a mailer leaves alone.

use crate::words::words;

/// The widest line of a text report, in columns.
pub(super) const WIDTH: usize = 72;

/// ASCII text as lines of at most [`WIDTH`] columns, all but the first indented.
/// A number stays with its unit (`84.2 MiB`, `p = 0.03`); a word longer than a line is broken.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let alone = lines.last().is_some_and(String::is_empty);
        for (part, piece) in word.as_bytes().chunks(WIDTH - indent).enumerate() {
            let piece = String::from_utf8_lossy(piece);
            match lines.last_mut() {
                Some(line) if alone && part == 0 => line.push_str(&piece),
                Some(line) if part == 0 && line.len() + 1 + piece.len() <= WIDTH => {
                    line.push(' ');
                    line.push_str(&piece);
                }
                _ => lines.push(" ".repeat(indent) + &piece),
            }
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

    #[test]
    fn a_number_stays_with_its_unit() {
        for together in [
            "(-16.3 %,",
            "84.2 MiB",
            "n = 4 + 4):",
            "p < 0.0001",
            "-1.64 to -0.538 s",
        ] {
            for before in 50..WIDTH {
                let text = format!("{} {together} end", "x".repeat(before));
                assert!(wrapped(&text, 2).contains(together), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_no_word_lost(text in "([a-z]{0,90}|[ =%]|[0-9]{1,3} MiB){0,40}", indent in 0usize..8) {
            let lines = wrapped(&text, indent);
            prop_assert!(lines.lines().all(|line| line.len() <= WIDTH));
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&lines), bare(&text));
        }
    }
}
