//! A host through its boots, told by a test.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, PlannedBoot};
use crate::host::scripted::{Play, ScriptedClock, ScriptedHost, Step};
use crate::host::{Exit, Host};
use crate::record::Record;
use crate::run::{Cancel, Destination, Restart, Silent, Ways, run_by};

pub(super) const FACTS: &str = "==ktrial== facts\nkernel=6.1.0\n==ktrial== done\n";
const TIME: &str = "Startup finished in 2.5s (kernel) + 3.5s (userspace) = 6s\n";
const BLAME: &str = "1.250s systemd-udev-settle.service\n250ms systemd-udevd.service\n";

/// A host in one of its boots.
pub(super) struct Booted {
    number: usize,
    kernel: &'static str,
    pub(super) cmdline: &'static str,
    /// What its first answer is; later ones are `running`.
    pub(super) systemd: Play,
    pub(super) blame: &'static str,
}

pub(super) fn says(text: &'static str) -> Play {
    Play::new([Step::Out(text), Step::End(Exit::Code(0))])
}

pub(super) fn boot(number: usize, kernel: &'static str) -> Booted {
    Booted {
        number,
        kernel,
        cmdline: "root=/dev/vda quiet",
        systemd: says("running\n"),
        blame: BLAME,
    }
}

/// When the host's next boot in the story begins.
enum Next {
    /// When it is restarted from outside.
    Restart,
    /// At each connection, as the story tells them one by one.
    Connection,
}

/// One host through its boots; none of them means that it does not answer.
pub(super) struct Story {
    pub(super) clock: ScriptedClock,
    pub(super) cancel: Cancel,
    pub(super) boots: Vec<Option<ScriptedHost>>,
    at: AtomicUsize,
    next: Next,
    pub(super) asked: Mutex<Vec<PlannedBoot>>,
    pub(super) folder: tempfile::TempDir,
}

impl Story {
    pub(super) fn of(boots: impl IntoIterator<Item = Option<Booted>>) -> Story {
        let (clock, cancel) = (ScriptedClock::default(), Cancel::default());
        let hosts = boots.into_iter().map(|boot| {
            boot.map(|boot| {
                let host = ScriptedHost::new("alpha", &clock, &cancel);
                let (number, kernel, cmdline) = (boot.number, boot.kernel, boot.cmdline);
                let boot_id = format!("00000000-0000-4000-8000-{number:012}");
                let facts = FACTS.replace("kernel=", &format!("boot_id={boot_id}\nkernel="));
                host.answer("==ktrial== facts", &facts, 0);
                let identity = format!("{boot_id}\n{kernel}\n{cmdline}\n");
                host.answer("boot_id", &identity, 0);
                host.answer("--no-pager time", TIME, 0);
                host.answer("--no-pager blame", boot.blame, 0);
                host.answer("critical-chain", "graphical.target @6s\n", 0);
                host.play("is-system-running", [boot.systemd, says("running\n")]);
                host
            })
        });
        let boots = hosts.collect();
        Story {
            clock,
            cancel,
            boots,
            at: AtomicUsize::new(0),
            next: Next::Restart,
            asked: Mutex::default(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(super) fn told_by_connections(mut self) -> Story {
        self.next = Next::Connection;
        self
    }

    pub(super) fn host(&self, number: usize) -> &ScriptedHost {
        self.boots[number].as_ref().unwrap()
    }

    pub(super) fn ended(&self, plan: &Plan, hook: bool) -> Result<Record> {
        let connect = |_: &str| -> Result<Box<dyn Host>> {
            let at = match self.next {
                Next::Restart => self.at.load(Ordering::SeqCst),
                Next::Connection => self.at.fetch_add(1, Ordering::SeqCst),
            };
            match &self.boots[at.min(self.boots.len() - 1)] {
                Some(host) => {
                    host.mend();
                    Ok(Box::new(host.clone()))
                }
                None => Err(Error::new(ErrorKind::HostTransient, "no route")),
            }
        };
        let restart = |_: &str, boot: &PlannedBoot, cancel: &Cancel| {
            self.asked.lock().unwrap().push(boot.clone());
            if boot.kernel.as_deref() == Some("cancel") {
                cancel.cancel();
                return Err(Error::new(ErrorKind::Interrupted, "ended by the user"));
            }
            self.at.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let to = Destination {
            folder: self.folder.path().join("runs"),
            experiment: None,
        };
        let ways = Ways {
            restart: hook.then_some(&restart as &Restart),
            ..super::super::story::ways(&connect)
        };
        run_by(&self.clock, plan, &to, &ways, &self.cancel, &Silent)
    }

    pub(super) fn run(&self, plan: &Plan) -> Record {
        let record = self.ended(plan, true).unwrap();
        assert_eq!(record.check_files().unwrap(), Vec::<String>::new());
        record
    }
}
