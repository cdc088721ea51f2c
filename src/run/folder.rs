//! A trial's folder on its host, and the scripts that deal with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::host::{Host, Output};
use crate::record::OnHost;
use crate::supervisor::{Kind, Supervisor};

use super::program::{self, Ready};

/// How long a start may take: it may have to put a dead trial's host in order first.
const START: Duration = Duration::from_secs(240);

/// A trial on its host.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    kind: Kind,
    program: String,
    id: String,
    path: String,
}

impl Folder {
    /// A folder that is not there yet, with 64 random bits of the kernel as its name.
    ///
    /// # Errors
    /// `Io` when it gives none.
    pub(super) fn new(ready: &Ready) -> Result<Folder> {
        let (path, mut bits) = (Path::new("/dev/urandom"), [0; 8]);
        File::open(path)
            .and_then(|mut file| file.read_exact(&mut bits))
            .map_err(|e| Error::io("read", path, e))?;
        Ok(Folder::of(ready, &crate::record::hex(&bits)))
    }

    /// The folder that a record names; none when it can be no trial's: records come from others.
    pub(super) fn named(ready: &Ready, on_host: &OnHost) -> Option<Folder> {
        is_id(&on_host.id).then(|| Folder::of(ready, &on_host.id))
    }

    fn of(ready: &Ready, id: &str) -> Folder {
        Folder {
            kind: ready.kind,
            program: ready.program.clone(),
            id: id.to_owned(),
            path: format!("{}/{id}", ready.base),
        }
    }

    /// As the record has it.
    pub(super) fn on_host(&self) -> OnHost {
        OnHost {
            id: self.id.clone(),
            supervisor: self.kind.word().to_owned(),
            stopped: false,
        }
    }

    /// Makes the folder and starts the trial; nothing twice, so that it may be asked again when a connection broke
    /// meanwhile.
    ///
    /// # Errors
    /// As [`Host::exec_fed`].
    pub(super) fn start(&self, host: &dyn Host, spec: &ktrial_agent::Spec) -> Result<Output> {
        let json = serde_json::to_vec(spec).map_err(|e| {
            Error::new(ErrorKind::Record, "the trial cannot be written down").because(e)
        })?;
        host.exec_fed(&self.start_script(spec), &json, START)
    }

    fn start_script(&self, spec: &ktrial_agent::Spec) -> String {
        let path = &self.path;
        format!(
            "# start the trial\numask 077\n[ ! -e {path}/pid ] || {{ echo started before; exit; }}\n\
             mkdir -p {path} && cat >{path}/spec.json || exit\n{}",
            self.supervisor().start(spec)
        )
    }

    /// Sees to it that the host has what the scripts below call, also when somebody removed it.
    ///
    /// # Errors
    /// As [`program::ready`].
    pub(super) fn equip(&self, host: &dyn Host) -> Result<()> {
        match self.kind {
            Kind::Agent => program::ready(host, Some(self.kind)).map(drop),
            // Its files are the trial's own.
            Kind::Shell => Ok(()),
        }
    }

    /// The script that gives what is new of the trial's files.
    pub(super) fn follow(&self, offsets: &BTreeMap<String, u64>) -> String {
        let offsets: Vec<(&str, u64)> = offsets.iter().map(|(n, o)| (n.as_str(), *o)).collect();
        format!("# follow the trial\n{}", self.supervisor().follow(&offsets))
    }

    /// The script that asks for the trial's gentle end.
    pub(super) fn stop(&self) -> String {
        format!("# stop the trial\n{}", self.supervisor().stop())
    }

    /// The script that ends and puts back what a supervisor that died has left.
    pub(super) fn recover(&self) -> String {
        format!("# recover the trial\n{}", self.supervisor().recover())
    }

    fn supervisor(&self) -> Supervisor<'_> {
        Supervisor {
            kind: self.kind,
            program: &self.program,
            folder: &self.path,
        }
    }
}

fn is_id(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The script that removes a trial's folder, unless something there is still to come; none when it can be no trial's.
pub(super) fn forget_script(base: &str, on_host: &OnHost) -> Option<String> {
    is_id(&on_host.id).then(|| forgetting(&format!("{base}/{}", on_host.id)))
}

/// Nothing is still to come after a reboot.
fn forgetting(path: &str) -> String {
    format!(
        "# forget the trial\nboot=$(cat /proc/sys/kernel/random/boot_id)\n\
         [ ! -e {path}/pid ] || [ -e {path}/result ] || ! grep -qF \"$boot\" {path}/pid || exit 1\n\
         rm -rf {path}\n"
    )
}

/// The scripts that deal with a trial on its host, as they run there but for `BASE`, `HASH` and `ID`. The follower is
/// also told how much of each file came already.
pub fn trial_scripts(spec: &ktrial_agent::Spec, kind: Kind) -> Vec<(&'static str, String)> {
    let folder = Folder {
        kind,
        program: "BASE/agent-HASH".to_owned(),
        id: "ID".to_owned(),
        path: "BASE/ID".to_owned(),
    };
    vec![
        (
            "to start a trial, with its specification as input",
            folder.start_script(spec),
        ),
        ("to follow it", folder.follow(&BTreeMap::new())),
        ("to end it before its time", folder.stop()),
        ("when its supervisor is gone", folder.recover()),
        ("once everything is fetched", forgetting("BASE/ID")),
    ]
}
