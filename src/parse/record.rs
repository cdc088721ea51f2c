//! What a record's raw files hold.

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
    /// When no trial has it (the message names those that exist), or a raw file cannot be read.
    pub fn series(&self, metric: &str) -> Result<Vec<(Trial, Series)>> {
        let mut found = Vec::new();
        let mut others = Vec::new();
        for trial in &self.manifest().trials {
            for series in self.parse(trial)?.series {
                if series.metric == metric {
                    found.push((trial.clone(), series));
                } else if !others.contains(&series.metric) {
                    others.push(series.metric);
                }
            }
        }
        if found.is_empty() {
            return Err(no_such("series", metric, &others).at(self.dir()));
        }
        Ok(found)
    }
}

/// The error for a name that is not among those that exist.
pub(crate) fn no_such(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::new(
        ErrorKind::Usage,
        format!("there is no {what} `{}`", name.escape_debug()),
    );
    if known.is_empty() {
        return error.next(format!("the record has no {what}"));
    }
    let nearest = known
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)))
        .filter(|nearest| strsim::jaro_winkler(nearest, name) > 0.7);
    let list = known.join(", ");
    error.next(match nearest {
        Some(nearest) => format!("did you mean `{nearest}`? There are: {list}"),
        None => format!("there are: {list}"),
    })
}
