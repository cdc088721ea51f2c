//! Makes texts from outside harmless in HTML; [`crate::ascii`] does it for terminals and mails.

/// A text to stand in HTML, in an element or a quoted attribute. Line breaks stay on the line as `&#10;`,
/// other control characters become U+FFFD.
///
/// ```
/// use ktrial::display::escape_html;
/// assert_eq!(escape_html("<a href='x'>\u{1b}"), "&lt;a href=&#39;x&#39;&gt;\u{fffd}");
/// ```
pub fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push('\t'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
