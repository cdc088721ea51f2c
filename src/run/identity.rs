//! Which boot of a host it is, and of what.

use std::time::Duration;

use crate::error::Result;
use crate::host::Host;
use crate::workload::boot::IDENTITY;

use super::said;

const DEADLINE: Duration = Duration::from_secs(20);

/// Longest line that is kept; a kernel's command line has at most 4096 bytes on most machines.
const LENGTH: usize = 4096;

/// What a host says of its present boot; escaped and bounded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Identity {
    /// None when the host does not say one.
    pub(super) boot_id: Option<String>,
    /// `uname -r`.
    pub(super) kernel: Option<String>,
    /// `/proc/cmdline`.
    pub(super) cmdline: Option<String>,
}

impl Identity {
    /// Asks the host.
    ///
    /// # Errors
    /// As [`Host::exec`].
    pub(super) fn read(host: &dyn Host) -> Result<Identity> {
        let output = host.exec(IDENTITY, DEADLINE)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines().map(str::trim);
        let is_uuid =
            |id: &&str| id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let boot_id = lines.next().filter(is_uuid).map(str::to_owned);
        let mut word = || {
            let line = lines.next().filter(|line| !line.is_empty());
            line.map(|line| said::escaped(line, LENGTH))
        };
        Ok(Identity {
            boot_id,
            kernel: word(),
            cmdline: word(),
        })
    }
}
