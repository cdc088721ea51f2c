//! How hosts are reached, asked of OpenSSH itself.

mod openssh;

pub use openssh::{Keepalive, Proxy, Target};
