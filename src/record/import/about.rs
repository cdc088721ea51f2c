//! What the person who imports a mail says of it: a small YAML file beside the records.

use std::io;
use std::path::Path;

use serde::Deserialize;

use super::mail::Origin;
use crate::error::{Error, Result};
use crate::record::Claim;
use crate::regular_file;
use crate::unit::Unit;
use crate::yaml::{self, Purpose};

/// The file of `ktrial import --about`. Every part may be left out.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// Where the mail comes from, for what its header does not say.
    pub source: Origin,
    /// What the experiment asked.
    pub question: Option<String>,
    /// Conditions in order, the reference first. For plots: words in the names of the plotted files.
    pub conditions: Vec<String>,
    /// What the outer headings over boots are values of, such as `config`.
    pub parameter: Option<String>,
    /// What plots show.
    pub series: Option<Plotted>,
    /// Published figures; the importer checks that each stands in the mail.
    pub claims: Vec<Claim>,
    /// What a reader of the record has to know.
    pub notes: Vec<String>,
}

/// What the plots of a mail show.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plotted {
    /// Such as `memory.used`.
    pub metric: String,
    /// Unit of the vertical axis.
    pub unit: Unit,
    /// Time between samples.
    pub interval_s: f64,
}

impl About {
    /// Reads the file.
    ///
    /// # Errors
    /// `Input` with the place when it cannot be read or holds an unknown key.
    pub fn read(file: &Path) -> Result<About> {
        let failed = |e: io::Error| {
            Error::input("cannot read what is said about the mail")
                .at(file)
                .because(e)
                .next("name a YAML file; docs/record.md lists its keys")
        };
        let limit = Purpose::About.max_bytes();
        let bytes = regular_file::open(file)
            .and_then(|opened| regular_file::read(opened, limit))
            .map_err(failed)?
            .ok_or_else(|| Error::input(format!("is larger than {} MiB", limit >> 20)).at(file))?;
        let text = String::from_utf8(bytes)
            .map_err(|e| failed(io::Error::new(io::ErrorKind::InvalidData, e.utf8_error())))?;
        let text = yaml::without_bom(&text);
        yaml::check(text, file, Purpose::About)?;
        let about: About = serde_yaml::from_str(text).map_err(|e| {
            let error = Error::input(format!("cannot be read: {e}"));
            match e.location() {
                Some(at) => error.at_line_column(file, at.line(), at.column()),
                None => error.at(file),
            }
            .next("docs/record.md lists the keys")
        })?;
        about.check(file)?;
        Ok(about)
    }

    fn check(&self, file: &Path) -> Result<()> {
        let wrong = |message: String| Err(Error::input(message).at(file));
        if let Some(series) = &self.series {
            if !(series.interval_s.is_finite() && series.interval_s > 0.0) {
                return wrong("`series.interval_s` must be a number of seconds above 0".into());
            }
            if !is_word(&series.metric) {
                return wrong("`series.metric` must be a name such as memory.used".into());
            }
        }
        for (index, condition) in self.conditions.iter().enumerate() {
            if condition.is_empty() {
                return wrong("a condition has no name".into());
            }
            if self.conditions.iter().take(index).any(|c| c == condition) {
                let condition = condition.escape_default();
                return wrong(format!("condition `{condition}` stands twice"));
            }
        }
        for claim in &self.claims {
            if !claim.value.is_finite() {
                return wrong(format!(
                    "the claim on `{}` has no finite value",
                    claim.metric
                ));
            }
        }
        Ok(())
    }
}

/// A name without blanks or anything that a terminal or a file name could stumble over.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= 100 && text.chars().all(|c| c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<About> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("about.yaml");
        std::fs::write(&file, text).unwrap();
        About::read(&file)
    }

    #[test]
    fn every_part_may_be_left_out() {
        let about = read("notes: [one]\n").unwrap();
        assert_eq!(about.notes, ["one"]);
        assert_eq!(about.source, Origin::default());
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, expected) in [
            ("notes: []\nclaim: []\n", "about.yaml:2:1"),
            ("conditions: [a, a]\n", "`a` stands twice"),
            ("notes: &n []\n", "about.yaml:1:8: YAML anchors"),
            (
                "claims:\n- {what: x, metric: m, value: .nan, unit: s}\n",
                "no finite value",
            ),
            ("series: {metric: m, unit: s, interval_s: 0}\n", "above 0"),
            (
                "series: {metric: \"a\\e[m\", unit: s, interval_s: 1}\n",
                "series.metric",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
