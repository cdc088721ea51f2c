//! polars data frames of a record. Column names and units are fixed.
//!
//! | table | a row | columns |
//! |---|---|---|
//! | [`Record::trials`] | trial | trial, condition, parameters, host, boot_id, state, duplicate_of, reason |
//! | [`Record::boots`] | boot and unit | trial, condition, parameters, host, boot_id, kernel, unit, time_s, duplicate_of |
//! | [`Record::samples`] | sample of one monitor | time_s, trial, condition, parameters, one column a metric |
//! | [`Record::summary_table`] | trial and metric | trial, condition, parameters, boot_id, metric, unit, value, duplicate_of |
//! | [`Comparisons::table`] | comparison | metric, unit, parameters, conditions, n, means, difference and interval, ratio, p, verdict |
//!
//! A parameter is a column of its own name. `time_s` is seconds since the workload's start; of boots what the unit took.
//!
//! [`Record::boots`]: crate::record::Record::boots
//! [`Record::trials`]: crate::record::Record::trials
//! [`Record::samples`]: crate::record::Record::samples
//! [`Record::summary_table`]: crate::record::Record::summary_table
//! [`Comparisons::table`]: crate::compare::Comparisons::table

mod boots;
mod comparisons;
mod file;
mod record;
mod table;

pub use table::Table;
