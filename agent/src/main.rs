//! The program that takes one trial through its phases on its host. What it reads and writes is explained in the library.

#![forbid(unsafe_code)]

mod attention;
mod cgroup;
mod clock;
mod ending;
mod event;
mod folder;
mod follow;
mod identity;
mod journal;
mod keep;
mod lease;
mod lock;
mod monitors;
mod oom;
mod processes;
mod recover;
mod remains;
mod restore;
mod result;
mod sampling;
mod scripts;
mod settings;
mod shutdown;
mod work;

use std::path::Path;
use std::process::ExitCode;

use cgroup::Cgroup;
use folder::Folder;

const USAGE: &str = "\
ktrial-agent start FOLDER
ktrial-agent follow FOLDER [NAME=OFFSET...]
ktrial-agent stop FOLDER
ktrial-agent recover FOLDER
ktrial-agent version";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["version"] => {
            println!("{}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        ["start", path] => match open(path).and_then(|folder| keep::start(&folder)) {
            Ok(pid) => {
                println!("started {pid}");
                Ok(())
            }
            Err(why) => {
                println!("refused {why}");
                return ExitCode::FAILURE;
            }
        },
        ["follow", path, offsets @ ..] => match offsets.iter().map(|o| offset(o)).collect() {
            Some(offsets) => open(path).and_then(|folder| follow::follow(&folder, &offsets)),
            None => return usage(),
        },
        ["stop", path] => open(path).and_then(|folder| stop(&folder)),
        ["recover", path] => open(path).and_then(|folder| recover::recover(&folder)),
        // What the program starts of itself.
        ["supervise", path, token, how @ ("plain" | "delegated")] if folder::is_plain(token) => {
            open(path).and_then(|folder| keep::supervise(&folder, token, *how == "delegated"))
        }
        ["work", path, oom, cgroup] => {
            let oom = Some((*oom).to_owned()).filter(|oom| !oom.is_empty());
            let cgroup = Some(*cgroup)
                .filter(|path| !path.is_empty())
                .map(Cgroup::at);
            open(path).and_then(|folder| work::work(&folder, oom, cgroup))
        }
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("ktrial-agent: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn open(path: &str) -> Result<Folder, String> {
    Folder::open(Path::new(path))
}

fn stop(folder: &Folder) -> Result<(), String> {
    folder
        .append("stop")
        .map(drop)
        .map_err(|e| format!("stop: {e}"))
}

fn offset(text: &str) -> Option<(String, u64)> {
    let (name, offset) = text.split_once('=')?;
    folder::is_plain(name).then_some(())?;
    Some((name.to_owned(), offset.parse().ok()?))
}
