//! The directory in which evcxr compiles cells, kept between runs so that dependencies are built once a machine.
//!
//! It is a Cargo workspace of two packages: `cell`, which evcxr writes anew for every cell, and `locked`,
//! which depends on the project that the notebook belongs to. Cargo drops from a lock file what nothing depends on
//! any more, and evcxr rewrites its package again and again; `locked` keeps every version of the project's
//! own Cargo.lock in force. The workspace also sets the profile: evcxr's own optimises every dependency fully.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Optimising is left out: compiling for the first time is what a reader of a notebook waits for.
const MANIFEST: &str = r#"[workspace]
members = ["cell"LOCKED]
resolver = "3"

[profile.dev]
debug = false
opt-level = 0
incremental = true

[profile.dev.package."*"]
opt-level = 0
debug-assertions = false
overflow-checks = false
"#;

/// The directory, locked for this process.
pub struct Workspace {
    directory: PathBuf,
    _lock: File,
}

impl Workspace {
    /// Opens the directory for a notebook in this folder; waits while another process uses it.
    ///
    /// It is `notebook` in `$KTRIAL_CACHE`, else in `$XDG_CACHE_HOME/ktrial`, else in `~/.cache/ktrial`.
    pub fn open(notebook_folder: &Path) -> Result<Workspace> {
        let directory = cache()?.join("notebook");
        let prepare = |error| {
            let place = directory.display();
            anyhow::Error::new(error).context(format!(
                "{place}: cannot prepare the directory for cells; KTRIAL_CACHE names another one"
            ))
        };
        fs::create_dir_all(&directory).map_err(prepare)?;
        let lock = lock(&directory.join("lock")).map_err(prepare)?;
        let project = Project::of(notebook_folder)?;
        write(&directory, project.as_ref()).map_err(prepare)?;
        Ok(Workspace {
            directory,
            _lock: lock,
        })
    }

    /// Where evcxr writes its package.
    pub fn cell(&self) -> PathBuf {
        self.directory.join("cell")
    }

    /// A folder without files: the user's own evcxr configuration has no part in a headless run.
    pub fn no_configuration(&self) -> PathBuf {
        self.directory.join("no-configuration")
    }

    /// Whether nothing has been compiled here yet.
    pub fn is_new(&self) -> bool {
        !self.cell().join("target").exists()
    }
}

fn cache() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = if let Some(own) = set("KTRIAL_CACHE") {
        PathBuf::from(own)
    } else if let Some(caches) = set("XDG_CACHE_HOME") {
        Path::new(&caches).join("ktrial")
    } else {
        let home = set("HOME").context("neither KTRIAL_CACHE nor HOME is set; set one of them")?;
        Path::new(&home).join(".cache/ktrial")
    };
    std::path::absolute(cache).context("cannot tell the working directory")
}

fn lock(path: &Path) -> io::Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!(
                "waiting for another notebook run to end ({})",
                path.display()
            );
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Ok(file)
}

/// The project that a notebook belongs to: the nearest folder above with a package and a lock file.
struct Project {
    folder: PathBuf,
    name: String,
    lock: String,
}

impl Project {
    fn of(notebook_folder: &Path) -> Result<Option<Project>> {
        for folder in notebook_folder.ancestors() {
            let (manifest, lock) = (folder.join("Cargo.toml"), folder.join("Cargo.lock"));
            if !(manifest.is_file() && lock.is_file()) {
                continue;
            }
            let text = |path: &Path| {
                fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))
            };
            let package: toml::Table = text(&manifest)?
                .parse()
                .with_context(|| format!("{}: not TOML", manifest.display()))?;
            let name = package
                .get("package")
                .and_then(|package| package.get("name"));
            return Ok(name
                .and_then(|name| name.as_str())
                .map(str::to_owned)
                .map(|name| Project {
                    folder: folder.to_owned(),
                    name,
                    lock: text(&lock).unwrap_or_default(),
                }));
        }
        Ok(None)
    }

    fn manifest(&self) -> Result<String, toml::ser::Error> {
        let path = self.folder.to_string_lossy().into_owned();
        let mut dependency = toml::Table::new();
        dependency.insert("path".into(), path.into());
        dependency.insert("default-features".into(), false.into());
        let mut dependencies = toml::Table::new();
        dependencies.insert(self.name.clone(), dependency.into());
        let mut package = toml::Table::new();
        package.insert("name".into(), "locked".into());
        package.insert("edition".into(), "2024".into());
        let mut manifest = toml::Table::new();
        manifest.insert("package".into(), package.into());
        manifest.insert("dependencies".into(), dependencies.into());
        toml::to_string(&manifest)
    }
}

fn write(directory: &Path, project: Option<&Project>) -> io::Result<()> {
    fs::create_dir_all(directory.join("no-configuration"))?;
    let locked = if project.is_some() {
        r#", "locked""#
    } else {
        ""
    };
    write_if_changed(
        &directory.join("Cargo.toml"),
        &MANIFEST.replace("LOCKED", locked),
    )?;
    let Some(project) = project else {
        return Ok(());
    };
    fs::create_dir_all(directory.join("locked/src"))?;
    write_if_changed(&directory.join("locked/src/lib.rs"), "")?;
    let manifest = project.manifest().map_err(io::Error::other)?;
    write_if_changed(&directory.join("locked/Cargo.toml"), &manifest)?;
    // Versions of what only a notebook depends on are kept until the project's own lock changes.
    if write_if_changed(&directory.join("project.lock"), &project.lock)? {
        fs::write(directory.join("Cargo.lock"), &project.lock)?;
    }
    Ok(())
}

/// Writes a file; false when it was like this already. Cargo looks at times of files.
fn write_if_changed(path: &Path, text: &str) -> io::Result<bool> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    fs::write(path, text)?;
    Ok(true)
}
