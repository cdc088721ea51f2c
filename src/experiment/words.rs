//! Words in messages: user text made safe to print, the nearest right word.

use crate::ascii;

/// A user's text in backticks, as messages show it.
pub(super) fn shown(text: &str) -> String {
    format!("`{}`", ascii::excerpt(text, 40))
}

/// The right word that a wrong one most likely meant; none when none is near.
pub(super) fn nearest<'a>(word: &str, right: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A longer word is not near to any; and the distance is quadratic.
    if word.chars().count() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let limit = 1 + word.chars().count() / 4;
    right
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A next step that names the nearest right word, when there is one, and all of them.
pub(super) fn choose<'a>(
    word: &str,
    what: &str,
    right: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let all = right.clone().into_iter().collect::<Vec<_>>().join(", ");
    match nearest(word, right) {
        Some(near) => format!("did you mean `{near}`? {what}: {all}"),
        None => format!("{what}: {all}"),
    }
}

/// Why a text cannot be a name; names are safe as file names and in a shell.
pub(super) fn bad_name(name: &str) -> Option<&'static str> {
    let first = name.chars().next()?;
    if name.len() > 64 {
        Some("is longer than 64 characters")
    } else if !first.is_ascii_alphanumeric() {
        Some("does not begin with a letter or digit")
    } else if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    {
        Some("has other characters than letters, digits, `.`, `_` and `-`")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_takes_typing_errors_only() {
        let right = ["workload", "monitors", "idle"];
        assert_eq!(nearest("worload", right), Some("workload"));
        assert_eq!(nearest("Monitor", right), Some("monitors"));
        assert_eq!(nearest("ilde", right), Some("idle"));
        assert_eq!(nearest("kernel", right), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn names_are_safe_as_file_names() {
        assert_eq!(bad_name("6.10-rc1_debug"), None);
        for bad in ["../x", ".x", "a/b", "-x", "a b", "\u{e9}"] {
            assert!(bad_name(bad).is_some(), "{bad}");
        }
    }
}
