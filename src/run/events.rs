//! What happened in a trial, from the lines of its supervisor; see [`ktrial_agent`] for them.

use ktrial_agent::Ended;

use super::said;
use super::timeline::Timeline;
use crate::series::Phase;

/// Longest line that is read.
const LINE_BYTES: usize = 4096;

/// Most notes that are kept of one trial.
const NOTES: usize = 100;

/// Most bytes of them: every trial's are in one manifest.
const NOTES_BYTES: usize = 16 << 10;

/// The latest time that a host may tell: 30 years after its boot.
const LATEST_S: f64 = 1e9;

/// What the supervisor has told so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    pub(super) timeline: Timeline,
    /// What a reader of the record has to know; escaped and bounded.
    pub(super) notes: Vec<String>,
    /// Why nothing can be measured on the host before a boot.
    pub(super) left: Option<String>,
    /// How the trial ended, and what was said of it.
    pub(super) ended: Option<(Ended, String)>,
}

impl Events {
    /// Takes the next piece of the file; gives the phases that begin in it.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Phase> {
        let mut begun = Vec::new();
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                begun.extend(self.read(&String::from_utf8_lossy(&line)));
            } else if self.line.len() < LINE_BYTES {
                self.line.push(byte);
            }
        }
        begun
    }

    fn notes_bytes(&self) -> usize {
        self.notes.iter().map(String::len).sum()
    }

    fn read(&mut self, line: &str) -> Option<Phase> {
        let (at, rest) = line.split_once(' ')?;
        let at = at
            .parse()
            .ok()
            .filter(|at: &f64| (0.0..LATEST_S).contains(at))?;
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let text = || said::escaped(rest.trim(), 2 * said::MESSAGE);
        match word {
            "idle" => return self.timeline.idle(at),
            "start" => return self.timeline.start(at),
            "end" => return self.timeline.end(at, rest.trim().parse().ok()?),
            "settled" => self.timeline.settled(at),
            "note" if self.notes.len() < NOTES && self.notes_bytes() < NOTES_BYTES => {
                self.notes.push(text());
            }
            "left" => {
                self.left.get_or_insert_with(text);
            }
            "ended" if self.ended.is_none() => {
                let (how, why) = rest.split_once(' ').unwrap_or((rest, ""));
                let why = said::escaped(why.trim(), 2 * said::MESSAGE);
                self.ended = Some((Ended::from_word(how.trim())?, why));
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_s_story_is_read_in_any_pieces() {
        let text = b"99.5 begun 7\n100.10 idle\n102.10 start\n103 note no \x1b[31m lock\n107.1 end 0\n\
            108.1 settled\n108.2 left a b\n108.2 left c\n108.3 ended failed for a reason\n108.4 ended complete\n";
        for size in [1, 7, text.len()] {
            let mut events = Events::default();
            let begun: Vec<Phase> = text.chunks(size).flat_map(|c| events.feed(c)).collect();
            assert_eq!(begun, [Phase::Idle, Phase::Workload, Phase::Settle]);
            assert_eq!(events.notes, ["no \\u{1b}[31m lock"]);
            assert_eq!(events.left.as_deref(), Some("a b"));
            let (ended, why) = events.ended.as_ref().unwrap();
            assert_eq!((*ended, why.as_str()), (Ended::Failed, "for a reason"));
            assert_eq!(events.timeline.code, Some(0));
        }
    }

    #[test]
    fn what_is_no_event_changes_nothing() {
        let mut events = Events::default();
        events.feed(b"\n x\nnan start\ninf idle\n-1 idle\n1e303 start\n1 start x\n1 end\n1 ended sometime\n1 unknown\n");
        assert!(events.ended.is_none() && events.timeline.phases().is_empty());
        events.feed(&b"1 note x\n".repeat(1000));
        assert_eq!(events.notes.len(), NOTES);
    }
}
