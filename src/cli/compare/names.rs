//! What the two conditions are called when they come from files.

use std::path::Path;

use crate::ascii::excerpt;

/// The longest name, in characters.
const LONGEST: usize = 100;

/// The files' stems when they differ, else their paths; a shell's own pipes are `A` and `B`.
pub(super) fn conditions(a: &Path, b: &Path) -> [String; 2] {
    let by_stem = [stem(a, "A"), stem(b, "B")];
    if by_stem[0] != by_stem[1] {
        return by_stem;
    }
    let by_path = [whole(a), whole(b)];
    if by_path[0] != by_path[1] {
        return by_path;
    }
    let [name, _] = by_path;
    [format!("{name} (A)"), format!("{name} (B)")]
}

/// Whether the standard input would be read.
pub(super) fn is_standard_input(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]
        .iter()
        .any(|name| path == Path::new(name))
}

fn stem(path: &Path, pipe: &str) -> String {
    if is_standard_input(path) {
        return "stdin".into();
    }
    if path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") {
        return pipe.into();
    }
    path.file_stem().map_or_else(
        || whole(path),
        |stem| excerpt(&stem.to_string_lossy(), LONGEST),
    )
}

fn whole(path: &Path) -> String {
    excerpt(&path.to_string_lossy(), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_files_apart() {
        for (a, b, names) in [
            ("d/before.txt", "d/after.txt", ["before", "after"]),
            ("old/log.txt", "new/log.txt", ["old/log.txt", "new/log.txt"]),
            ("x", "x", ["x (A)", "x (B)"]),
            ("/dev/fd/63", "/dev/fd/62", ["A", "B"]),
            ("-", "after", ["stdin", "after"]),
            ("a\x1b[2J", "b\n", ["a\\u{1b}[2J", "b\\n"]),
        ] {
            assert_eq!(conditions(Path::new(a), Path::new(b)), names);
        }
    }
}
