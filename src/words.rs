//! Words that stay on one line (a number with its unit: `84.2 MiB`, `p = 0.03`, `-1.64 to -0.541 s`), and lists cut short.

/// The words of a text; what belongs together is one.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut former = "";
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if belong_together(former, word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        former = word;
    }
    words
}

fn belong_together(former: &str, word: &str) -> bool {
    const SIGNS: [&str; 3] = ["=", "<", "+"];
    const UNITS: [&str; 9] = ["B", "KiB", "MiB", "GiB", "s", "ms", "us", "ns", "%"];
    let unit = word.trim_end_matches([',', ';', ':', '.', ')', '/']);
    let is_number = |word: &str| {
        word.trim_start_matches(['(', '-', '+'])
            .starts_with(|c: char| c.is_ascii_digit())
    };
    SIGNS.contains(&former)
        || SIGNS.contains(&word)
        || (is_number(former) && (UNITS.contains(&unit) || word == "to"))
        || (former == "to" && is_number(word))
}

/// The first few of many, and how many more there are: `a, b, and 3 more`.
pub(crate) fn some_of(all: &[String], most: usize, separator: &str) -> String {
    let named = all.get(..most).unwrap_or(all).join(separator);
    match all.len().saturating_sub(most) {
        0 => named,
        more => format!("{named}{separator}and {more} more"),
    }
}
