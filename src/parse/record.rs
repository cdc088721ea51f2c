//! What a record's raw files hold.

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{RawFile, Record, Trial};
use crate::series::{Parsed, Series, UNREAD_SHOWN};

impl Record {
    /// All that a trial's raw files hold.
    ///
    /// # Errors
    /// When a raw file is missing or cannot be read.
    pub fn parse(&self, trial: &Trial) -> Result<Parsed> {
        let mut all = Parsed::default();
        for raw in &trial.raw {
            if let Some(parsed) = self.parse_raw(trial, raw)? {
                all.series.extend(parsed.series);
                all.values.extend(parsed.values);
                all.missed.extend(parsed.missed);
                all.unread_count += parsed.unread_count;
                let room = UNREAD_SHOWN.saturating_sub(all.unread.len());
                let lines = parsed.unread.into_iter().take(room);
                all.unread
                    .extend(lines.map(|line| format!("{}: {line}", raw.path)));
            }
        }
        Ok(all)
    }

    fn parse_raw(&self, trial: &Trial, raw: &RawFile) -> Result<Option<Parsed>> {
        match super::parser(&raw.monitor) {
            Some(parser) => Ok(Some(parser(&self.read_raw(raw)?, trial))),
            None => Ok(None),
        }
    }

    /// A metric's series of each trial that has it, whatever became of the trial.
    ///
    /// # Errors
    /// When no trial has it (the message names those that exist). Trials whose raw files cannot be read are left out;
    /// [`Record::damage`] names them.
    pub fn series(&self, metric: &str) -> Result<Vec<(Trial, Series)>> {
        let mut found = Vec::new();
        let mut others = BTreeSet::new();
        for trial in &self.manifest().trials {
            for series in self.parse(trial).unwrap_or_default().series {
                if series.metric == metric {
                    found.push((trial.clone(), series));
                } else {
                    others.insert(series.metric);
                }
            }
        }
        if found.is_empty() {
            let others: Vec<String> = others.into_iter().collect();
            return Err(no_such("series", metric, &others).at(self.dir()));
        }
        Ok(found)
    }
}

/// Most names in an error.
const LISTED: usize = 8;

/// The error for a name that is not among those that exist; of many it lists the nearest.
pub(crate) fn no_such(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::new(
        ErrorKind::Usage,
        format!("there is no {what} `{}`", name.escape_debug()),
    );
    if known.is_empty() {
        return error.next(format!("the record has no {what}"));
    }
    let likeness = |known: &str| strsim::jaro_winkler(known, name);
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|nearest| likeness(nearest) > 0.7);
    let mut list = known.to_vec();
    if known.len() > LISTED {
        list.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        list.truncate(LISTED);
        list.push(format!("and {} more", known.len() - LISTED));
    }
    let list = list.join(", ");
    error.next(match nearest {
        Some(nearest) => format!("did you mean `{nearest}`? There are: {list}"),
        None => format!("there are: {list}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_nearest_are_listed() {
        let known: Vec<String> = (0..50).map(|i| format!("memory.m{i}.peak")).collect();
        let error = no_such("metric", "memory.m49.peek", &known).report();
        assert!(error.contains("did you mean `memory.m49.peak`"), "{error}");
        assert!(error.contains("and 42 more"), "{error}");
        assert!(error.len() < 300, "{error}");
    }
}
