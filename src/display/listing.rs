//! Rows of texts under heads, as HTML and as plain text.

use crate::ascii::{escaped, excerpt};
use crate::display::{Rich, Show, escape_html};

/// Rows past this number are counted, not shown.
const MAX_ROWS: usize = 50;
/// Characters of a text past this number are cut.
const MAX_CHARACTERS: usize = 160;

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
    /// Unit or type, below the name; may be empty.
    below: String,
    number: bool,
}

impl Column {
    /// A column of texts, aligned left.
    pub fn text(name: impl Into<String>) -> Column {
        Column {
            name: name.into(),
            below: String::new(),
            number: false,
        }
    }

    /// A column of numbers, aligned right.
    pub fn number(name: impl Into<String>) -> Column {
        Column {
            number: true,
            ..Column::text(name)
        }
    }

    /// Adds a unit or a type below the name.
    pub fn with_below(mut self, below: impl Into<String>) -> Column {
        self.below = below.into();
        self
    }
}

/// A table to look at. Texts are given as they are; they are escaped when it is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Listing {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// How many rows there are in all.
    height: usize,
    notes: Vec<String>,
}

impl Listing {
    /// A table; each row has as many texts as there are columns. Only the first 50 rows are kept.
    pub fn new(columns: Vec<Column>, mut rows: Vec<Vec<String>>) -> Listing {
        let height = rows.len();
        rows.truncate(MAX_ROWS);
        Listing {
            columns,
            rows,
            height,
            notes: Vec::new(),
        }
    }

    /// A table of the rows that this function gives, called only for those that are shown.
    pub fn of_rows(
        columns: Vec<Column>,
        height: usize,
        row: impl FnMut(usize) -> Vec<String>,
    ) -> Listing {
        let mut table = Listing::new(columns, (0..height.min(MAX_ROWS)).map(row).collect());
        table.height = height;
        table
    }

    /// Adds a line below.
    pub fn with_note(mut self, note: impl Into<String>) -> Listing {
        self.notes.push(note.into());
        self
    }

    fn more(&self) -> Option<String> {
        let more = self.height.saturating_sub(self.rows.len());
        (more > 0).then(|| format!("{more} more of {} rows", self.height))
    }

    fn below_row(&self) -> Option<Vec<String>> {
        let below = || self.columns.iter().map(|column| column.below.clone());
        below()
            .any(|text| !text.is_empty())
            .then(|| below().collect())
    }
}

impl Show for Listing {
    fn to_plain(&self) -> String {
        let mut rows = vec![
            self.columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
        ];
        rows.extend(self.below_row());
        let heads = rows.len();
        rows.extend(self.rows.iter().cloned());
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|text| excerpt(text, MAX_CHARACTERS))
                    .collect()
            })
            .collect();
        let width = |index: usize| {
            let texts = rows.iter().filter_map(|row| row.get(index));
            texts.map(String::len).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();

        let mut text = String::new();
        let mut line = |content: &str| {
            text.push_str(content.trim_end());
            text.push('\n');
        };
        for (number, row) in rows.iter().enumerate() {
            if number == heads {
                line(
                    &widths
                        .iter()
                        .map(|width| "-".repeat(*width))
                        .collect::<Vec<_>>()
                        .join("  "),
                );
            }
            let texts = row.iter().zip(&self.columns).zip(&widths);
            let texts = texts.map(|((text, column), &width)| match column.number {
                true => format!("{text:>width$}"),
                false => format!("{text:<width$}"),
            });
            line(&texts.collect::<Vec<_>>().join("  "));
        }
        for note in self.more().iter().chain(&self.notes) {
            line(&escaped(note));
        }
        text
    }

    fn to_rich(&self) -> Rich {
        let mut html = String::from("<table class=\"dataframe\">\n<thead><tr>");
        for column in &self.columns {
            html.push_str(&format!(
                "<th{}>{}",
                align(column),
                escape_html(&column.name)
            ));
            if !column.below.is_empty() {
                html.push_str(&format!(
                    "<br><small>{}</small>",
                    escape_html(&column.below)
                ));
            }
            html.push_str("</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (text, column) in row.iter().zip(&self.columns) {
                html.push_str(&format!(
                    "<td{}>{}</td>",
                    align(column),
                    escape_html(&cut(text))
                ));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n");
        for note in self.more().iter().chain(&self.notes) {
            html.push_str(&format!("<p><small>{}</small></p>\n", escape_html(note)));
        }
        Rich::Html(html)
    }
}

impl std::fmt::Debug for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.to_plain().trim_end())
    }
}

fn align(column: &Column) -> &'static str {
    match column.number {
        true => " style=\"text-align:right\"",
        false => " style=\"text-align:left\"",
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_aligned_and_ascii() {
        let table = Listing::new(
            vec![
                Column::text("host"),
                Column::number("peak").with_below("MiB"),
            ],
            vec![
                vec!["a".into(), "84.2".into()],
                vec!["caf\u{e9}\u{1b}[2J".into(), "9".into()],
            ],
        )
        .with_note("n = 2");
        assert_eq!(
            table.to_plain(),
            "host                peak\n\
             \x20                    MiB\n\
             ------------------  ----\n\
             a                   84.2\n\
             caf\\u{e9}\\u{1b}[2J     9\n\
             n = 2\n"
        );
    }

    #[test]
    fn many_rows_and_long_texts_are_bounded_and_counted() {
        let mut made = 0;
        let table = Listing::of_rows(vec![Column::text("x")], 1_000_000, |row| {
            made += 1;
            vec![format!("{row}{}", "y".repeat(10_000))]
        });
        assert_eq!(made, MAX_ROWS);
        let html = table.to_html();
        assert!(html.len() < 20_000);
        assert!(html.contains("999950 more of 1000000 rows"));
        assert_eq!(html.matches("<tr>").count(), MAX_ROWS + 1);
    }
}
