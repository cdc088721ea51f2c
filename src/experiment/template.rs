//! `{variable}` places in the workload's arguments; `{{` and `}}` are braces.

use std::collections::BTreeMap;

/// A part of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Variable(String),
}

/// Whether a word can name a variable.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Splits an argument into its pieces; the error says what is wrong with a brace.
pub(super) fn pieces(argument: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = argument;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from_brace) = rest.split_at(at);
        literal.push_str(before);
        if let Some(after) = from_brace.strip_prefix("{{") {
            literal.push('{');
            rest = after;
        } else if let Some(after) = from_brace.strip_prefix("}}") {
            literal.push('}');
            rest = after;
        } else if let Some((name, after)) = from_brace
            .strip_prefix('{')
            .and_then(|inner| inner.split_once('}'))
            .filter(|(name, _)| is_variable_name(name))
        {
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Variable(name.to_owned()));
            rest = after;
        } else {
            return Err("has a brace that is not part of a `{variable}`".to_owned());
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// Fills an argument's variables in. Values are taken as they are, braces and all.
/// The error names a variable without a value, or says what is wrong with a brace.
pub(super) fn fill(argument: &str, values: &BTreeMap<&str, &str>) -> Result<String, String> {
    pieces(argument)?
        .iter()
        .map(|piece| match piece {
            Piece::Literal(text) => Ok(text.as_str()),
            Piece::Variable(name) => values
                .get(name.as_str())
                .copied()
                .ok_or_else(|| format!("has no value for `{{{name}}}`")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_braces() {
        let values = BTreeMap::from([("a", "1"), ("b_c", "{a}")]);
        let filled = |text| fill(text, &values);
        assert_eq!(filled("--x={a},{b_c}"), Ok("--x=1,{a}".into()));
        assert_eq!(filled("{{print $1}}"), Ok("{print $1}".into()));
        assert_eq!(filled("{{{a}}}"), Ok("{1}".into()));
        assert_eq!(filled(""), Ok(String::new()));
        assert_eq!(filled("{d}"), Err("has no value for `{d}`".into()));
        for bad in ["{", "}", "{}", "{a", "{print $1}", "{ a}", "{1}"] {
            assert!(filled(bad).is_err(), "{bad}");
        }
    }
}
