//! A record's comparisons.

use super::{Comparisons, Layout, Options, compare_summaries};
use crate::error::Result;
use crate::record::Record;

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
        Ok(Comparisons(compare_summaries(
            &self.summaries()?,
            &layout,
            options,
        )))
    }
}
