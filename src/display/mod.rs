//! Rich output in notebooks: HTML and SVG with plain text beside it.
//!
//! Whatever [`Show`] is implemented for can end a cell, or be shown in the middle of one with [`Show::show`].
//! The contract with the evcxr kernel is a block on standard output for each media type, see
//! <https://github.com/evcxr/evcxr/blob/main/evcxr_jupyter/README.md#custom-output>.
//! Texts that come from hosts, files and mails pass [`escape_html`] or [`crate::ascii::escaped`].

mod comparison;
mod escape;
mod figure;
mod frame;
mod listing;
mod record;

pub use escape::escape_html;
pub use listing::{Column, Listing};

use std::io::{self, Write};

/// What a notebook draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rich {
    /// HTML to stand within a page.
    Html(String),
    /// An SVG element.
    Svg(String),
}

/// Something that a notebook and a terminal can show.
///
/// ```
/// use ktrial::display::{Column, Show, Listing};
/// let table = Listing::new(vec![Column::text("host")], vec![vec!["<b>a</b>".into()]]);
/// assert!(table.to_html().contains("&lt;b&gt;a&lt;/b&gt;"));
/// assert_eq!(table.to_plain(), "host\n--------\n<b>a</b>\n");
/// table.show(); // plain text here, a table in a notebook
/// ```
pub trait Show {
    /// In plain ASCII, ending with a line break.
    fn to_plain(&self) -> String;

    /// As a notebook draws it.
    fn to_rich(&self) -> Rich;

    /// To stand within an HTML page; SVG may stand there as it is.
    fn to_html(&self) -> String {
        match self.to_rich() {
            Rich::Html(text) | Rich::Svg(text) => text,
        }
    }

    /// Shows it here: drawn in a notebook's cell, as plain text elsewhere.
    fn show(&self) {
        // Nothing sensible is left to do when standard output is closed.
        let _ = if std::env::var_os("EVCXR_IS_RUNTIME").is_some() {
            io::stdout().write_all(blocks(self).as_bytes())
        } else {
            io::stdout().write_all(self.to_plain().as_bytes())
        };
    }

    /// What the evcxr kernel calls for a cell's last expression.
    fn evcxr_display(&self) {
        self.show();
    }
}

/// The blocks of evcxr's contract; plain text comes last and ends the display.
fn blocks(shown: &(impl Show + ?Sized)) -> String {
    let (media_type, rich) = match shown.to_rich() {
        Rich::Html(text) => ("text/html", text),
        Rich::Svg(text) => ("image/svg+xml", text),
    };
    let mut blocks = String::new();
    for (media_type, text) in [(media_type, rich), ("text/plain", shown.to_plain())] {
        blocks.push_str(&format!("EVCXR_BEGIN_CONTENT {media_type}\n"));
        for line in text.trim_end_matches('\n').split('\n') {
            // A line of the contract within a text would end the block.
            if line.starts_with("EVCXR_") {
                blocks.push(' ');
            }
            blocks.push_str(line);
            blocks.push('\n');
        }
        blocks.push_str("EVCXR_END_CONTENT\n");
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_block() {
        let table = Listing::new(
            vec![Column::text("EVCXR_END_CONTENT")],
            vec![vec![
                "EVCXR_END_CONTENT\nEVCXR_BEGIN_CONTENT text/html".into(),
            ]],
        );
        let blocks = blocks(&table);
        let ends: Vec<_> = blocks
            .lines()
            .filter(|line| line.starts_with("EVCXR_"))
            .collect();
        assert_eq!(
            ends,
            [
                "EVCXR_BEGIN_CONTENT text/html",
                "EVCXR_END_CONTENT",
                "EVCXR_BEGIN_CONTENT text/plain",
                "EVCXR_END_CONTENT"
            ]
        );
    }
}
