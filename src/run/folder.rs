//! A trial's folder on its host, and the scripts that deal with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::host::{Host, Output};
use crate::record::OnHost;
use crate::supervisor::{Kind, Supervisor};

use super::program::{self, Ready};
use super::watch::SHORT;

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
        let is_id = |id: &str| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit());
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
        let path = &self.path;
        let script = format!(
            "# start the trial\numask 077\n[ ! -e {path}/pid ] || {{ echo started before; exit; }}\n\
             mkdir -p {path} && cat >{path}/spec.json || exit\n{}",
            self.supervisor().start(spec)
        );
        host.exec_fed(&script, &json, SHORT)
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

    /// The script that removes the folder, unless something there is still to come: nothing is after a reboot.
    pub(super) fn forget(&self) -> String {
        let path = &self.path;
        format!(
            "# forget the trial\nboot=$(cat /proc/sys/kernel/random/boot_id)\n\
             [ ! -e {path}/pid ] || [ -e {path}/result ] || ! grep -qF \"$boot\" {path}/pid || exit 1\n\
             rm -rf {path}\n"
        )
    }

    fn supervisor(&self) -> Supervisor<'_> {
        Supervisor {
            kind: self.kind,
            program: &self.program,
            folder: &self.path,
        }
    }
}
