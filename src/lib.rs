//! ktrial runs before/after experiments on Linux kernels and tells what changed.
//!
//! The way of the data, one folder a stage; each takes the former stage's type and knows nothing of the later ones:
//!
//! ```text
//! experiment -> plan -> inventory, host -> workload + monitor, in run -> record (raw)
//!   -> parse -> summary, frame (polars) -> stats, compare -> plot, report, display
//! ```
//!
//! The words are explained in docs/design.md.

pub mod ascii;
pub mod compare;
pub mod display;
pub mod error;
pub mod experiment;
pub mod frame;
pub mod host;
pub mod inventory;
pub mod monitor;
pub mod parse;
pub mod plot;
pub mod process;
pub mod record;
pub mod report;
pub mod run;
pub mod series;
pub mod stats;
pub mod summary;
pub mod unit;
pub mod workload;

#[cfg(feature = "cli")]
pub mod cli;

/// What a notebook cell needs.
pub mod prelude {
    pub use crate::error::{Error, Result};
}
