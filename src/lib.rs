//! ktrial runs before/after experiments on Linux kernels and tells what changed.
//!
//! The way of the data, one folder a stage; each takes the former stage's type and knows nothing of the later ones:
//!
//! ```text
//! experiment -> plan -> inventory, host -> workload + monitor -> supervisor, in run -> record (raw)
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
mod output;
pub mod parse;
pub mod plot;
pub mod process;
pub mod record;
mod regular_file;
pub mod report;
pub mod run;
pub mod series;
pub mod stats;
pub mod summary;
pub mod supervisor;
pub mod unit;
mod unsent;
mod words;
pub mod workload;
mod yaml;

#[cfg(feature = "cli")]
pub mod cli;

/// What a notebook's cells need: `use ktrial::prelude::*;`.
///
/// Of polars it has what filtering and grouping a [`Table`](crate::frame::Table) needs; all of it is under [`polars`].
pub mod prelude {
    pub use crate::compare::{Comparison, Comparisons};
    pub use crate::display::Show;
    pub use crate::error::{Error, Result};
    pub use crate::frame::Table;
    pub use crate::plot::{Figure, Group, Line};
    pub use crate::record::Record;
    pub use crate::report::Report;
    pub use crate::series::Cell;
    pub use crate::unit::Unit;
    pub use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, col, lit};
}

pub use polars;
