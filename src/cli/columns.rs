//! Plain text columns, for a terminal.

use crate::ascii::escaped;

/// Rows of cells, padded to the widest of each column. Columns without a value in any row are left out.
pub(super) struct Columns {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub(super) fn new(header: &[&str]) -> Columns {
        Columns {
            header: header.iter().map(|&h| h.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; text from outside is escaped here.
    pub(super) fn row(&mut self, cells: &[&str]) {
        self.rows.push(cells.iter().map(|c| escaped(c)).collect());
    }

    pub(super) fn text(&self) -> String {
        let used: Vec<usize> = (0..self.header.len())
            .filter(|&i| {
                self.rows
                    .iter()
                    .any(|row| row.get(i).is_some_and(|c| !c.is_empty()))
            })
            .collect();
        let widths: Vec<usize> = used
            .iter()
            .map(|&i| {
                let cells = self.rows.iter().filter_map(|row| row.get(i));
                cells
                    .chain(self.header.get(i))
                    .map(String::len)
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in std::iter::once(&self.header).chain(&self.rows) {
            let mut line = String::new();
            for (&i, width) in used.iter().zip(&widths) {
                let cell = row.get(i).map_or("", String::as_str);
                line.push_str(&format!("{cell:<width$}  "));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_empty_ones_are_left_out() {
        let mut columns = Columns::new(&["trial", "cell", "state"]);
        columns.row(&["t01", "", "complete"]);
        columns.row(&["t02", "", "a\x1b[0m"]);
        assert_eq!(
            columns.text(),
            "trial  state\nt01    complete\nt02    a\\u{1b}[0m\n"
        );
    }
}
