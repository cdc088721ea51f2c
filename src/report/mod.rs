//! Reports: text for mails, JSON for programs. Both are made from the same [`Report`].

mod json;
mod text;
mod wrap;

pub(crate) use text::{headline, label, p_digits};

use crate::compare::Comparison;
use crate::plot::Figure;

/// What a comparison found, ready to be shown. Owned, so that a notebook can hold it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What was compared, one line.
    pub title: String,
    /// How the figures were made: hosts, workload, design; a line each. Only in the text.
    pub setup: Vec<String>,
    /// Adjusted by [`crate::compare::adjust`], in the order in which they are shown.
    pub comparisons: Vec<Comparison>,
    /// Drawn below the table.
    pub figures: Vec<Figure>,
    /// What a reader has to know of the whole; what belongs to one comparison is in its warnings.
    pub notes: Vec<String>,
}

impl Report {
    /// Plain ASCII of at most 72 columns, ready to paste into a mail: verdict, table, p values, figures, notes.
    /// Everything that came from outside is escaped.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// JSON, schema 1, one object and a line feed; docs/json.md explains every key.
    pub fn to_json(&self) -> String {
        json::render(self)
    }
}

#[cfg(test)]
mod tests;
