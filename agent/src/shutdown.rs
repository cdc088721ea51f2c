//! Whether the host is going down: its init system then tells every process to end.

use std::process::{Command, Stdio};

/// Whether it is.
pub fn is_under_way() -> bool {
    let output = Command::new("systemctl")
        .arg("is-system-running")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"stopping")
}
