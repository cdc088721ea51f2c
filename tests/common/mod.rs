//! What integration tests share.

pub mod sshd;
