//! Summaries: one number a trial and metric.

pub mod curve;
pub mod quantiles;
pub mod stream;
