//! Rich output in notebooks: HTML and SVG with plain text beside it.
