//! What of a record's data is damaged or lost, in words.

use super::{Record, State, Trial};
use crate::error::Result;
use crate::words::some_of;

/// How many of one kind are named.
const NAMED: usize = 5;

impl Record {
    /// What a comparison cannot see of this record: lines that could not be read, files that differ from their
    /// hash or are missing, complete trials that gave no figure. A sentence each; empty when all is well.
    ///
    /// # Errors
    /// `Io` when the folder cannot be listed.
    pub fn damage(&self) -> Result<Vec<String>> {
        let mut damage = Vec::new();
        let mut unreadable = Vec::new();
        for trial in &self.manifest().trials {
            damage.extend(self.unread(trial, &mut unreadable));
        }
        let mut said = Vec::new();
        if !unreadable.is_empty() {
            said.push(format!(
                "complete, but nothing of their raw files could be read, so they are not compared: {}",
                some_of(&unreadable, NAMED, "; ")
            ));
        }
        if !damage.is_empty() {
            said.push(format!(
                "lines were not read: {}",
                some_of(&damage, NAMED, "; ")
            ));
        }
        let problems = self.check_files()?;
        let lost: Vec<String> = problems
            .into_iter()
            .filter(|problem| !problem.ends_with(": not in the manifest"))
            .collect();
        if !lost.is_empty() {
            said.push(format!(
                "files are not as the manifest has them: {}",
                some_of(&lost, NAMED, "; ")
            ));
        }
        Ok(said)
    }

    /// The unread lines of a trial; one that gave nothing at all is named in `unreadable`.
    fn unread(&self, trial: &Trial, unreadable: &mut Vec<String>) -> Option<String> {
        let parsed = match self.parse(trial) {
            Ok(parsed) => parsed,
            Err(error) => {
                unreadable.push(format!("{} ({error})", trial.id));
                return None;
            }
        };
        let nothing = parsed.series.iter().all(|s| s.values.is_empty()) && parsed.values.is_empty();
        if nothing && trial.state == State::Complete {
            unreadable.push(trial.id.clone());
        }
        let first = parsed.unread.first()?;
        Some(format!("{} of {} ({first})", parsed.unread_count, trial.id))
    }
}
