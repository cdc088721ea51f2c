//! Which lines of a file changed.

/// Bytes that are compared at once.
const STRIDE: usize = 64;

/// Appends those lines of `now` that differ from `before`. False when lines came, went, or are others, known by their
/// first words: what was appended is to be dropped then.
pub fn changed_lines(before: &[u8], now: &[u8], out: &mut Vec<u8>) -> bool {
    let (mut before, mut now) = (before, now);
    loop {
        let equal = equal_bytes(before, now);
        if equal == before.len() && equal == now.len() {
            return true;
        }
        // Both are the same up to here, so their lines begin at the same place.
        let line_at = now
            .get(..equal)
            .and_then(|same| same.iter().rposition(|&b| b == b'\n'))
            .map_or(0, |at| at + 1);
        let (old, old_rest) = first_line(before.get(line_at..).unwrap_or_default());
        let (new, new_rest) = first_line(now.get(line_at..).unwrap_or_default());
        if old.is_empty() || new.is_empty() || word(old) != word(new) {
            return false;
        }
        out.extend_from_slice(new);
        if !new.ends_with(b"\n") {
            out.push(b'\n');
        }
        (before, now) = (old_rest, new_rest);
    }
}

/// How many bytes both begin with alike.
fn equal_bytes(one: &[u8], other: &[u8]) -> usize {
    let strides = one.chunks(STRIDE).zip(other.chunks(STRIDE));
    let strides = strides.take_while(|(a, b)| a == b).count();
    let from = (strides * STRIDE).min(one.len()).min(other.len());
    let rest = one.iter().zip(other).skip(from);
    from + rest.take_while(|(a, b)| a == b).count()
}

fn first_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|&b| b == b'\n')
        .map_or(text.len(), |at| at + 1);
    text.split_at(end)
}

fn word(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|b| b.is_ascii_whitespace());
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(before: &str, now: &str) -> Option<String> {
        let mut out = Vec::new();
        let so = changed_lines(before.as_bytes(), now.as_bytes(), &mut out);
        so.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn only_lines_that_differ_are_given() {
        let before = "MemTotal: 9 kB\nMemFree: 5 kB\nBuffers: 7 kB\n";
        assert_eq!(changes(before, before).unwrap(), "");
        for (from, to) in [("5", "6"), ("5", "12345"), ("9", "10"), ("7", "8888")] {
            let now = before.replace(from, to);
            let line = now
                .lines()
                .find(|line| line.contains(&format!(" {to} ")))
                .unwrap();
            assert_eq!(
                changes(before, &now).unwrap(),
                format!("{line}\n"),
                "{from} {to}"
            );
        }
        let all = "MemTotal: 1 kB\nMemFree: 22 kB\nBuffers: 333 kB\n";
        assert_eq!(changes(before, all).unwrap(), all);
    }

    #[test]
    fn other_lines_make_the_file_another() {
        let before = "a 1\nb 2\n";
        for now in [
            "a 1\n",
            "a 1\nb 2\nc 3\n",
            "a 1\nc 2\n",
            "",
            "b 2\n",
            "a 1\nb 2\nc 3",
        ] {
            assert_eq!(changes(before, now), None, "{now:?}");
        }
        // Unlike a line in its place, a last line without its end is the same line.
        assert_eq!(changes("a 1\nb 2", "a 1\nb 3").unwrap(), "b 3\n");
    }

    #[test]
    fn long_files_are_compared_to_their_last_byte() {
        let lines = |last: &str| {
            let mut text = String::new();
            for n in 0..200 {
                text.push_str(&format!("nr_field_{n} {}\n", n * 7919));
            }
            text + last
        };
        assert_eq!(changes(&lines("z 1\n"), &lines("z 2\n")).unwrap(), "z 2\n");
    }
}
