//! The fault matrix: what becomes of a trial when something goes wrong on the way to its host, on the host, or here.
//! Each against a private sshd, with both supervisors; docs/reliability.md has the list.
//!
//! As root, a host is in a mount namespace of its own, where a file of the test's stands for a file of the kernel. What
//! a machine does not allow is left out, and says so.

#[path = "../common/mod.rs"]
mod common;

mod controller;
mod disk;
mod host;
mod network;
mod others;
mod proxy;
mod site;
mod story;
