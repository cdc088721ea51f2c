//! Giving a trial's files to a controller as they grow.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use crate::clock::{ms, now_ns};
use crate::folder::Folder;
use crate::{lease, recover, remains, result};

/// Bytes of a frame, at most.
const CHUNK: usize = 256 << 10;

const PAUSE: Duration = Duration::from_millis(150);

/// How often the follower says that it is there, and that the controller is.
const ALIVE_NS: u64 = ms(5_000);

/// How long a supervisor has to be gone: a worker takes its keeper's place, and a keeper recovers.
const GONE_NS: u64 = ms(2_000);

/// A file and how much of it was given.
struct Followed {
    name: String,
    file: Option<File>,
    offset: u64,
}

/// Writes frames until the trial is over or nobody reads them.
///
/// # Errors
/// Why this trial cannot be followed, or why writing ended.
pub fn follow(folder: &Folder, offsets: &HashMap<String, u64>) -> Result<(), String> {
    let followed = |name: String| Followed {
        offset: offsets.get(&name).copied().unwrap_or(0),
        name,
        file: None,
    };
    let mut files: Vec<Followed> = remains::fetched(folder).into_iter().map(followed).collect();
    let mut out = io::stdout().lock();
    lease::renew(folder);
    hear(folder.clone());
    let mut alive_ns = now_ns();
    let mut gone_ns = None;
    let mut chunk = vec![0; CHUNK];
    let said = |e: io::Error| format!("standard output: {e}");
    loop {
        // In this order: who is gone has written its result before.
        let is_gone = recover::supervisor(folder).is_none_or(|s| !s.lives());
        let sizes = result::sizes(folder);
        let mut more = false;
        for followed in &mut files {
            let end = sizes.as_ref().map(|sizes| {
                let of_it = sizes.iter().find(|(name, _)| *name == followed.name);
                of_it.map_or(0, |(_, bytes)| *bytes)
            });
            more |= followed
                .give(folder, end, &mut chunk, &mut out)
                .map_err(said)?;
        }
        if more {
            out.flush().map_err(said)?;
        }
        if now_ns() >= alive_ns + ALIVE_NS {
            empty("-", &mut out).map_err(said)?;
            alive_ns = now_ns();
        }
        if more {
            continue;
        }
        if sizes.is_some() {
            let offset = offsets.get("result").copied().unwrap_or(0);
            let mut result = Followed {
                name: "result".to_owned(),
                file: None,
                offset,
            };
            while result
                .give(folder, None, &mut chunk, &mut out)
                .map_err(said)?
            {}
            return empty(".", &mut out).map_err(said);
        }
        match (is_gone, gone_ns) {
            (false, _) => gone_ns = None,
            (true, None) => gone_ns = Some(now_ns()),
            (true, Some(since_ns)) if now_ns() > since_ns + GONE_NS => {
                return empty("!", &mut out).map_err(said);
            }
            (true, Some(_)) => {}
        }
        std::thread::sleep(PAUSE);
    }
}

impl Followed {
    /// Writes a frame of what is new, up to `end`; whether there was anything.
    fn give(
        &mut self,
        folder: &Folder,
        end: Option<u64>,
        chunk: &mut [u8],
        out: &mut impl Write,
    ) -> io::Result<bool> {
        if self.file.is_none() {
            self.file = folder.open_file(&self.name).ok();
        }
        let Some(file) = &self.file else {
            return Ok(false);
        };
        let end = end.unwrap_or(u64::MAX).min(result::limit(&self.name));
        let room = end.saturating_sub(self.offset);
        let length = chunk.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let new = file.metadata()?.len() > self.offset;
        if length == 0 || !new {
            return Ok(false);
        }
        let chunk = chunk.get_mut(..length).unwrap_or_default();
        let n = file.read_at(chunk, self.offset)?;
        if n == 0 {
            return Ok(false);
        }
        writeln!(out, "{} {} {n}", self.name, self.offset)?;
        out.write_all(chunk.get(..n).unwrap_or_default())?;
        out.write_all(b"\n")?;
        self.offset += n as u64;
        Ok(true)
    }
}

/// Renews the lease as often as the controller says something, for as long as this process lives.
fn hear(folder: Folder) {
    std::thread::spawn(move || {
        let mut bytes = [0; 64];
        while io::stdin().read(&mut bytes).is_ok_and(|n| n > 0) {
            lease::renew(&folder);
        }
    });
}

/// A frame without bytes.
fn empty(name: &str, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{name} 0 0\n\n")?;
    out.flush()
}
