//! What the text figures share: wrapped lines, the horizontal axis, the last check of every line's length.

use super::axis::Axis;
use super::{Head, label};

/// The narrowest figure that is laid out; a smaller width cuts its lines.
pub(super) const NARROWEST: usize = 40;

/// Lines of text under way, `width` columns wide.
pub(super) struct Page {
    pub lines: Vec<String>,
    pub width: usize,
    most: usize,
}

impl Page {
    /// Begins with the title, when there is one.
    pub fn new(title: &str, width: usize) -> Page {
        let mut page = Page {
            lines: Vec::new(),
            width: width.max(NARROWEST),
            most: width,
        };
        page.wrapped(title, "");
        page
    }

    /// Adds a text in lines that fit, all but the first indented.
    pub fn wrapped(&mut self, text: &str, indent: &str) {
        let width = self.width - indent.len();
        for (row, line) in label::wrap(&label::ascii(text), |line| line.len() <= width)
            .iter()
            .enumerate()
        {
            let line = shorten(line, width);
            self.lines.push(if row == 0 {
                line
            } else {
                format!("{indent}{line}")
            });
        }
    }

    /// The horizontal axis under columns that begin after `indent`: a ruler and its numbers.
    pub fn horizontal(&mut self, axis: &Axis, indent: usize, columns: usize) {
        let mut ruler = vec!['-'; columns];
        let mut numbers = String::new();
        for tick in &axis.ticks {
            let column = place(axis, tick.at, columns);
            let start = (indent + column).saturating_sub(tick.label.len() / 2);
            let start = start.min(self.width.saturating_sub(tick.label.len()));
            let clear = numbers.is_empty() || start > numbers.len();
            if clear && start >= numbers.len() {
                ruler[column] = '+';
                numbers.push_str(&" ".repeat(start - numbers.len()));
                numbers.push_str(&tick.label);
            }
        }
        let ruler: String = ruler.into_iter().collect();
        self.lines
            .push(format!("{}+{ruler}", " ".repeat(indent - 1)));
        self.lines.push(numbers);
    }

    /// Adds a line in the middle of the columns that begin after `indent`.
    pub fn centered(&mut self, text: &str, indent: usize, columns: usize) {
        let text = shorten(&label::ascii(text), self.width);
        let start = (indent + columns / 2).saturating_sub(text.len() / 2);
        let start = start.min(self.width - text.len());
        self.lines.push(format!("{}{text}", " ".repeat(start)));
    }

    /// The finished text, with the notes below.
    pub fn end(mut self, head: &Head) -> String {
        for note in &head.notes {
            self.wrapped(note, "  ");
        }
        let mut text = String::new();
        for line in self.lines {
            text.extend(line.trim_end().chars().take(self.most));
            text.push('\n');
        }
        text
    }
}

/// A text in ASCII, shortened to a number of columns.
pub(super) fn shorten(text: &str, most: usize) -> String {
    label::shorten(text, "...", |text| text.len() <= most)
}

/// Names in ASCII, each cut to a number of columns so that different ones stay different.
pub(super) fn shorten_apart<'a>(
    names: impl IntoIterator<Item = &'a String>,
    most: usize,
) -> Vec<String> {
    let names: Vec<String> = names.into_iter().map(|name| label::ascii(name)).collect();
    label::shorten_apart(&names, "...", |text| text.len() <= most)
}

/// The column of a value, from 0; `columns` is at least 1.
pub(super) fn place(axis: &Axis, value: f64, columns: usize) -> usize {
    (axis.place(value) * (columns - 1) as f64).round() as usize
}
