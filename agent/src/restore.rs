//! `restore`, and what the scripts around a workload say to a record's reader.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use ktrial_agent::RESTORE_LIMIT_S;
use rustix::process::Signal;

use crate::attention::Attention;
use crate::clock::{ms, now_ns};
use crate::ending;
use crate::event::Events;
use crate::folder::{self, Folder};
use crate::scripts::Scripts;

/// How long `restore` may take: a host is not held for ever.
const LIMIT_NS: u64 = ms(1_000 * RESTORE_LIMIT_S);

const GRACE_NS: u64 = ms(2_000);

/// How many bytes and lines of what a script said are looked at.
const LOOKED_AT: u64 = 64 << 10;
const NOTES: usize = 20;

/// Runs it to its end; nothing stops it but its limit.
pub fn run(
    script: &str,
    folder: &Folder,
    scripts: &Scripts,
    attention: &mut Attention,
    events: &mut Events,
) {
    if script.trim().is_empty() {
        return;
    }
    let from = folder
        .open_file("workload.stderr")
        .and_then(|said| said.metadata())
        .map_or(0, |m| m.len());
    let started = match scripts.restore(script) {
        Ok(started) => started,
        Err(e) => return events.left(&format!("restore could not be run: {e}")),
    };
    attention.forget(started);
    let exit = ending::wait(started, now_ns() + LIMIT_NS, attention);
    notes(folder, from, events);
    match exit.map(|exit| exit.code) {
        Some(0) => {}
        Some(code) => {
            let said = folder::last_line(folder, "workload.stderr", from);
            events.note(&format!("restore ended with code {code}: {said}"));
        }
        None => {
            ending::script(started, &[Signal::TERM], GRACE_NS, attention);
            events.left(&format!(
                "restore did not end within {} s and was ended",
                RESTORE_LIMIT_S
            ));
        }
    }
}

/// Makes notes of lines on standard error, from an offset on, that begin with `ktrial: `.
pub fn notes(folder: &Folder, from: u64, events: &mut Events) {
    let Ok(mut file) = folder.open_file("workload.stderr") else {
        return;
    };
    if file.seek(SeekFrom::Start(from)).is_err() {
        return;
    }
    let mut lines = BufReader::new(file.take(LOOKED_AT)).split(b'\n');
    let mut said = 0;
    while let Some(Ok(line)) = lines.next() {
        if let Some(text) = line.strip_prefix(b"ktrial: ")
            && said < NOTES
        {
            events.note(&String::from_utf8_lossy(text));
            said += 1;
        }
    }
}
