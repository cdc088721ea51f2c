//! The one font of all figures, and how wide text is in it.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

use super::label;

/// The family. SVG names it with fallbacks of about the same width; PNG uses the font that is built in.
pub(super) const FAMILY: &str = "Ubuntu, DejaVu Sans, sans-serif";

/// What plotters divides a size by to get the SVG's `font-size`.
const SVG_SIZE: f64 = 1.24;

/// Title, text and small text: 32, 25 and 22 px in an SVG of twice the shown size.
pub(super) const TITLE: f64 = 32.0 * SVG_SIZE;
pub(super) const TEXT: f64 = 25.0 * SVG_SIZE;
pub(super) const SMALL: f64 = 22.0 * SVG_SIZE;

/// Room for fallback fonts that are wider than the built-in one.
const SLACK: f64 = 1.08;

/// The font in a size. Registers the built-in font at the first call.
pub(super) fn font(size: f64) -> FontDesc<'static> {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        // A failure shows at the first text drawn, as plotters' "font unavailable".
        let _ = register_font(
            FAMILY,
            FontStyle::Normal,
            epaint_default_fonts::UBUNTU_LIGHT,
        );
    });
    FontDesc::new(FontFamily::Name(FAMILY), size, FontStyle::Normal)
}

/// How wide a text is at most, in pixels.
pub(super) fn width(text: &str, size: f64) -> i32 {
    let measured = font(size).box_size(text).map_or(0, |(width, _)| width);
    (f64::from(measured) * SLACK).ceil() as i32
}

/// Names, each cut to a width in pixels so that different ones stay different.
pub(super) fn shorten_apart(names: &[String], size: f64, most: i32) -> Vec<String> {
    label::shorten_apart(names, "…", |text| width(text, size) <= most)
}

/// The text, shortened with an ellipsis to a width in pixels.
pub(super) fn shorten(text: &str, size: f64, most: i32) -> String {
    label::shorten(text, "…", |text| width(text, size) <= most)
}
