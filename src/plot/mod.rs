//! Figures: one description, renderers for SVG, PNG and text.
