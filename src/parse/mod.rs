//! Raw bytes to series and values.

pub mod free;
pub mod header;
mod lines;
pub mod number_file;
mod numbers;

/// What is wrong with one line; the caller knows the file and the line number.
#[derive(Debug)]
struct Wrong {
    /// In characters, from 1.
    column: usize,
    message: String,
    next: String,
}
