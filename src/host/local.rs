//! The controller itself as a host.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::{Event, Host, Output, Running, check_input, check_script};
use crate::process::{Child, collect};
use crate::unsent::Unsent;

/// The controller itself, without any connection.
///
/// ```
/// use ktrial::host::{Host, Local};
/// let output = Local.exec("echo hello", std::time::Duration::from_secs(10))?;
/// assert!(output.exit.ok());
/// assert_eq!(output.stdout, b"hello\n");
/// # Ok::<(), ktrial::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Local;

impl Local {
    /// The name under which experiments name it.
    pub const NAME: &str = "local";

    fn start(script: &str, stdin: Stdio) -> Result<LocalRunning> {
        check_script(Self::NAME, script)?;
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .env("LC_ALL", "C")
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = Child::spawn(&mut command).map_err(|source| {
            Error::new(ErrorKind::HostStable, "local: cannot start `sh`").because(source)
        })?;
        Ok(LocalRunning(child))
    }

    fn start_fed(script: &str, input: &[u8]) -> Result<LocalRunning> {
        check_input(Self::NAME, input)?;
        if input.is_empty() {
            return Self::start(script, Stdio::null());
        }
        let mut running = Self::start(script, Stdio::piped())?;
        *running.0.input() = Unsent::whole(input);
        Ok(running)
    }
}

impl Host for Local {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn exec_fed(&self, script: &str, input: &[u8], deadline: Duration) -> Result<Output> {
        let mut running = Self::start_fed(script, input)?;
        collect(Self::NAME, deadline, |timeout| running.next(timeout))
    }

    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>> {
        Ok(Box::new(Self::start_fed(script, input)?))
    }

    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>> {
        Ok(Box::new(Self::start(script, Stdio::piped())?))
    }
}

struct LocalRunning(Child);

impl Running for LocalRunning {
    fn group(&self) -> i32 {
        self.0.group()
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.0.input().push(bytes);
    }

    fn end_input(&mut self) {
        self.0.input().end();
    }

    fn next(&mut self, timeout: Duration) -> Result<Event> {
        self.0.next(timeout).map_err(|source| {
            Error::new(
                ErrorKind::HostTransient,
                "local: cannot read what the command says",
            )
            .because(source)
        })
    }
}
