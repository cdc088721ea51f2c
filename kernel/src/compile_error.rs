//! What the compiler says of a cell, with lines and columns of the cell itself.

use evcxr::CompilationError;

/// The error's text: message, the places in the cell, help.
pub fn describe(error: &CompilationError, cell: &str) -> String {
    let mut text = match error.code() {
        Some(code) => format!("error[{code}]: {}\n", error.message()),
        None => format!("error: {}\n", error.message()),
    };
    for place in error.spanned_messages() {
        let Some(span) = &place.span else { continue };
        let line = cell.lines().nth(span.start_line.saturating_sub(1));
        let number = format!("{:>4}", span.start_line);
        text.push_str(&format!("{number} | {}\n", line.unwrap_or_default()));
        let carets = if span.end_line == span.start_line {
            span.end_column.saturating_sub(span.start_column).max(1)
        } else {
            1
        };
        text.push_str(&format!(
            "     | {}{} {}\n",
            " ".repeat(span.start_column.saturating_sub(1)),
            "^".repeat(carets),
            place.label
        ));
    }
    for help in error.help() {
        text.push_str(&format!("help: {help}\n"));
    }
    if let Some(hint) = error.evcxr_extra_hint() {
        text.push_str(&format!("hint: {hint}\n"));
    }
    text
}
