//! Raw bytes to series and values.

pub mod free_pipeline;
pub mod meminfo;
pub mod stress_ng;
