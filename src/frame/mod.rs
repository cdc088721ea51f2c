//! polars data frames of a record.
