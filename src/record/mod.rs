//! Records: the directory of a run, raw bytes first. Layout in docs/record.md.

mod check;
mod damage;
pub mod import;
mod manifest;

mod store;

pub use manifest::*;
pub use store::{FILE_LIMIT_BYTES, Record, RecordWriter, sha256_hex};
