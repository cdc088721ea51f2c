//! A record's comparisons.

use std::ops::Deref;

use super::{Comparison, Layout, Options, compare_summaries};
use crate::error::Result;
use crate::record::Record;

/// Comparisons of one record; those of the primary metric come first. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct Comparisons(Vec<Comparison>);

impl Comparisons {
    /// Those of one metric, in the order of cells.
    pub fn of(&self, metric: &str) -> Comparisons {
        self.iter()
            .filter(|c| c.metric == metric)
            .cloned()
            .collect()
    }
}

impl Deref for Comparisons {
    type Target = [Comparison];
    fn deref(&self) -> &[Comparison] {
        &self.0
    }
}

impl FromIterator<Comparison> for Comparisons {
    fn from_iter<T: IntoIterator<Item = Comparison>>(comparisons: T) -> Comparisons {
        let mut all: Vec<Comparison> = comparisons.into_iter().collect();
        all.sort_by_key(|c| !c.primary);
        Comparisons(all)
    }
}

impl Record {
    /// Every metric and cell, the first condition against each other one, under the assumption `normal`;
    /// a boot that is there twice counts once.
    ///
    /// # Errors
    /// When a raw file cannot be read.
    pub fn compare(&self) -> Result<Comparisons> {
        self.compare_with(&Options::default(), false)
    }

    /// As [`Record::compare`], with the assumption stated and duplicates kept if wanted.
    ///
    /// # Errors
    /// When a raw file cannot be read.
    pub fn compare_with(&self, options: &Options, keep_duplicates: bool) -> Result<Comparisons> {
        let manifest = self.manifest();
        let layout = Layout {
            conditions: &manifest.conditions,
            primary: manifest.primary.as_deref(),
            replication: manifest.replication,
            keep_duplicates,
        };
        let summaries = self.summaries()?;
        Ok(compare_summaries(&summaries, &layout, options)
            .into_iter()
            .collect())
    }
}
