//! Records: the directory of a run, raw bytes first. Layout in docs/record.md.

pub mod import;
mod manifest;

pub use manifest::*;
