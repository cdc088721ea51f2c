//! Summaries: one number a trial and metric.
