//! A trial's folder: its files' names, and reading and writing them whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ktrial_agent::{Source, Spec};
use rustix::fs::{FallocateFlags, OFlags, fallocate};

/// The files with the workload's output.
pub const OUTPUTS: [&str; 2] = ["workload.stdout", "workload.stderr"];

/// Bytes that a specification may have.
const SPEC_LIMIT: u64 = 16 << 20;

/// The folder of one trial.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    name: String,
}

impl Folder {
    /// Opens it.
    ///
    /// # Errors
    /// When it is no folder, or its name is not plain.
    pub fn open(path: &Path) -> Result<Folder, String> {
        let path = fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_name().and_then(|name| name.to_str());
        match name {
            Some(name) if path.is_dir() && is_plain(name) => Ok(Folder {
                name: name.to_owned(),
                path,
            }),
            _ => Err(format!("{} is no trial's folder", path.display())),
        }
    }

    /// The trial's random id.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder that all trials of this user and their lock are in.
    pub fn base(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Whether a file is there.
    pub fn has(&self, name: &str) -> bool {
        self.file(name).symlink_metadata().is_ok()
    }

    /// Opens a file to append to it.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        regular(&mut options, &self.file(name))
    }

    /// Opens a file to read it.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        regular(OpenOptions::new().read(true), &self.file(name))
    }

    /// Sees to it that a file that is there is on the disk, with its name and the folder's.
    pub fn keep(&self, name: &str) -> io::Result<()> {
        self.open_file(name)?.sync_all()?;
        File::open(&self.path)?.sync_all()?;
        File::open(self.base())?.sync_all()
    }

    /// Writes a file whole: under another name, then renamed.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.file(&format!(".{name}.{}", std::process::id()));
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, self.file(name))
    }

    /// What the trial is to do.
    ///
    /// # Errors
    /// When it cannot be read, or asks for what no trial can have.
    pub fn spec(&self) -> Result<Spec, String> {
        let text = read(&self.file("spec.json"), SPEC_LIMIT)?;
        let spec: Spec = serde_json::from_slice(&text).map_err(|e| format!("spec.json: {e}"))?;
        for (number, monitor) in spec.monitors.iter().enumerate() {
            let name = &monitor.name;
            let other = |other: &ktrial_agent::Monitor| other.name == *name;
            if !is_plain(name) || name == "agent" || spec.monitors.iter().take(number).any(other) {
                return Err(format!("spec.json: {name:?} cannot be a monitor's name"));
            }
            if !(1_000..=10_000_000).contains(&monitor.period_us) {
                return Err(format!(
                    "spec.json: the monitor {name} has a period of {} us; from 1000 to 10000000 are possible",
                    monitor.period_us
                ));
            }
        }
        Ok(spec)
    }
}

/// The names of what is fetched of a trial, there or not.
pub fn fetched(spec: &Spec) -> Vec<String> {
    let mut names: Vec<String> = ["events", "workload.stdout", "workload.stderr", "agent.txt"]
        .map(str::to_owned)
        .into();
    for monitor in &spec.monitors {
        names.push(format!("{}.txt", monitor.name));
        if let Source::Script(_) = monitor.source {
            names.push(format!("{}.err", monitor.name));
        }
    }
    names.extend(spec.reports.iter().cloned());
    names
}

/// Whether a file is the workload's output: only its first bytes are fetched.
pub fn is_output(name: &str) -> bool {
    OUTPUTS.contains(&name)
}

/// Opens a regular file and nothing else: what was put in its place must neither lead elsewhere nor make anybody wait.
fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = options.custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Whether a name is one of a file in the folder itself, and may be in a line among others.
pub fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(plain)
}

/// Reads a file of at most `limit` bytes; waits for nobody at a pipe.
///
/// # Errors
/// With the file's name.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let said = |e: io::Error| format!("{}: {e}", path.display());
    let mut options = OpenOptions::new();
    let no_wait = OFlags::NONBLOCK.bits() as i32;
    let file = options
        .read(true)
        .custom_flags(no_wait)
        .open(path)
        .map_err(said)?;
    let mut bytes = Vec::new();
    let mut bounded = file.take(limit.saturating_add(1));
    bounded.read_to_end(&mut bytes).map_err(said)?;
    match bytes.len() as u64 > limit {
        true => Err(format!("{}: more than {limit} bytes", path.display())),
        false => Ok(bytes),
    }
}

/// The last line of a trial's file from an offset on that is not empty, bounded; empty when there is none.
pub fn last_line(folder: &Folder, name: &str, from: u64) -> String {
    const TAIL: u64 = 4096;
    let tail = || -> io::Result<Vec<u8>> {
        let file = folder.open_file(name)?;
        let from = from.max(file.metadata()?.len().saturating_sub(TAIL));
        let mut bytes = Vec::new();
        io::Seek::seek(&mut &file, io::SeekFrom::Start(from))?;
        (&file).take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = tail().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().to_owned()
}

/// Keeps room for what is written to a file later, so that a disk that others fill cannot take it.
/// Not every file system can.
pub fn reserve(file: &File, bytes: u64) {
    let _ = fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes);
}
