//! Figures: SVG, and ASCII for a mail.

use crate::display::{Rich, Show, escape_html};
use crate::plot::Figure;

/// Columns that a mail leaves.
const TEXT_WIDTH: usize = 72;

impl Show for Figure {
    fn to_plain(&self) -> String {
        let text = self.to_text(TEXT_WIDTH);
        format!("{}\n", text.trim_end())
    }

    /// The drawing; when that fails, why.
    fn to_rich(&self) -> Rich {
        match self.to_svg() {
            Ok(svg) => Rich::Svg(svg),
            Err(error) => Rich::Html(format!("<pre>{}</pre>", escape_html(&error.report()))),
        }
    }
}
