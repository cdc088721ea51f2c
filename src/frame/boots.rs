//! Boots and their units as a table.

use std::collections::HashSet;

use super::Table;
use super::record::labels;
use crate::error::{Error, ErrorKind, Result};
use crate::parse::blame;
use crate::record::{Record, Trial};
use crate::unit::Unit;

impl Record {
    /// One row a boot and unit of `systemd-analyze blame`, in the order of the trials.
    ///
    /// The units are those that the record names as its metrics, each in every boot: `time_s` is empty where a boot did
    /// not list it. A record that names none has every unit that a boot listed. A unit that a boot lists twice counts
    /// with its first time.
    ///
    /// # Errors
    /// `Record` when no trial has such a list, or a parameter has the name of a column; else when a raw file cannot be
    /// read.
    ///
    /// ```
    /// let record = ktrial::record::Record::open("data/lkml-2023-06-udev-settle")?;
    /// assert_eq!(record.boots()?.height(), 16 * 3);
    /// # Ok::<(), ktrial::error::Error>(())
    /// ```
    pub fn boots(&self) -> Result<Table> {
        let manifest = self.manifest();
        let metrics = manifest.primary.iter().chain(&manifest.secondary);
        let named: Vec<&String> = metrics.filter(|name| blame::is_unit_name(name)).collect();
        let (mut trials, mut units, mut times): (Vec<&Trial>, Vec<String>, Vec<Option<f64>>) =
            Default::default();
        for trial in &manifest.trials {
            let lists = trial.raw.iter().filter(|raw| raw.monitor == blame::MONITOR);
            let mut listed: Vec<(String, f64)> = Vec::new();
            let mut seen = HashSet::new();
            let mut is_boot = false;
            for raw in lists {
                is_boot = true;
                for value in blame::parse(&self.read_raw(raw)?).values {
                    if seen.insert(value.metric.clone()) {
                        listed.push((value.metric, value.value));
                    }
                }
            }
            let rows: Vec<(String, Option<f64>)> = match named.as_slice() {
                [] => listed
                    .into_iter()
                    .map(|(unit, time)| (unit, Some(time)))
                    .collect(),
                named if is_boot => {
                    let time = |unit: &str| listed.iter().find(|(u, _)| u == unit).map(|(_, t)| *t);
                    let rows = named.iter().map(|unit| ((*unit).clone(), time(unit)));
                    rows.collect()
                }
                _ => Vec::new(),
            };
            for (unit, time) in rows {
                trials.push(trial);
                units.push(unit);
                times.push(time);
            }
        }
        if trials.is_empty() {
            return Err(Error::new(ErrorKind::Record, "has no boots")
                .at(self.dir())
                .next("boots are in records of the workload `boot` and of mails with `systemd-analyze blame`"));
        }
        labels(&trials)
            .text("host", trials.iter().map(|t| t.host.as_ref()))
            .text("boot_id", trials.iter().map(|t| t.boot_id.as_ref()))
            .text("kernel", trials.iter().map(|t| t.kernel.as_ref()))
            .text("unit", units.into_iter().map(Some))
            .numbers("time_s", &Unit::Second, times)
            .text(
                "duplicate_of",
                trials.iter().map(|t| t.duplicate_of.as_ref()),
            )
            .table()
    }
}
