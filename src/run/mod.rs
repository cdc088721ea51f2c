//! Runs a plan on hosts and writes the record.
