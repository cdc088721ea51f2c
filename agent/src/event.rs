//! The events of a trial, as they are appended to its file.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use ktrial_agent::Ended;

use crate::clock::{Seconds, now_ns};
use crate::folder::{Folder, reserve};

/// Bytes that are kept free for events; far more than a trial has.
const ROOM: u64 = 64 << 10;

/// Characters of a line; what others said may be longer.
const LONGEST: usize = 600;

/// Writes events.
#[derive(Debug)]
pub struct Events {
    file: File,
    lost: u64,
}

impl Events {
    /// Opens the file of a trial.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn open(folder: &Folder) -> Result<Events, String> {
        let said = |e: std::io::Error| format!("events: {e}");
        let mut file = folder.append("events").map_err(said)?;
        reserve(&file, ROOM);
        // A line that a dead supervisor or a power cut left unfinished must not take the next one in.
        if ends_within_a_line(folder).map_err(said)? {
            file.write_all(b"\n").map_err(said)?;
        }
        Ok(Events { file, lost: 0 })
    }

    /// Something happened now.
    pub fn say(&mut self, word: &str, rest: &str) {
        self.say_at(now_ns(), word, rest);
    }

    /// Something happened at a time.
    pub fn say_at(&mut self, at_ns: u64, word: &str, rest: &str) {
        let mut line = format!("{} {word}", Seconds(at_ns));
        if !rest.is_empty() {
            line.push(' ');
            let plain = rest.chars().map(|c| if c.is_control() { ' ' } else { c });
            line.extend(plain.take(LONGEST));
        }
        line.push('\n');
        if self.file.write_all(line.as_bytes()).is_err() {
            self.lost += line.len() as u64;
        }
    }

    /// What a reader of the record has to know.
    pub fn note(&mut self, text: &str) {
        self.say("note", text);
    }

    /// What could not be ended or put back.
    pub fn left(&mut self, text: &str) {
        self.say("left", text);
    }

    /// The last one.
    pub fn ended(&mut self, how: Ended, reason: &str) {
        if self.lost > 0 {
            self.note(&disk_full("events", self.lost));
        }
        let rest = format!("{} {reason}", how.word());
        self.say("ended", rest.trim_end());
    }
}

fn ends_within_a_line(folder: &Folder) -> std::io::Result<bool> {
    let file = folder.open_file("events")?;
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(false);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte != *b"\n")
}

/// That what should have been kept could not be.
pub fn disk_full(name: &str, bytes: u64) -> String {
    format!("{name}: {bytes} bytes could not be written: disk full")
}
