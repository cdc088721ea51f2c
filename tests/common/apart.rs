//! The controller itself as a host whose trials have a folder of the test's own: tests run beside each other, and beside
//! the user's own trials.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ktrial::error::Result;
use ktrial::host::{Host, Local, Output, Running};

use super::sshd;

/// [`Local`], apart from everybody else's trials.
pub struct Apart {
    base: PathBuf,
}

impl Apart {
    /// With trials below this folder.
    pub fn at(folder: &Path) -> Apart {
        Apart {
            base: sshd::base(folder),
        }
    }

    fn script(&self, script: &str) -> String {
        let base = self.base.display();
        format!("export KTRIAL_BASE={base}\n{script}")
    }
}

impl Host for Apart {
    fn name(&self) -> &str {
        Local.name()
    }

    fn exec_fed(&self, script: &str, input: &[u8], deadline: Duration) -> Result<Output> {
        Local.exec_fed(&self.script(script), input, deadline)
    }

    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>> {
        Local.spawn_fed(&self.script(script), input)
    }

    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>> {
        Local.spawn_open(&self.script(script))
    }
}
