//! Records: the directory of a run, raw bytes first. Layout in docs/record.md.

mod check;
mod compressed;
mod damage;
mod files;
pub mod import;
mod lock;
mod manifest;
mod store;
mod writer;

pub use compressed::COMPRESS_ABOVE_BYTES;
pub(crate) use compressed::{compress_raw, plain_name};
pub use files::sha256_hex;
pub(crate) use files::{hex, sync_raw};
pub use manifest::*;
pub use store::{FILE_LIMIT_BYTES, Record};
pub use writer::RecordWriter;
