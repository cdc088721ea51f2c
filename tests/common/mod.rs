//! What integration tests share; not every one uses all of it.
#![allow(dead_code)]

pub mod apart;
pub mod experiment;
pub mod sshd;
