//! What an experiment's file says, before it is checked: every key may be missing, every value is text as written.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::experiment::WorkloadKind;

/// The keys of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    pub name: Option<String>,
    pub question: Option<String>,
    pub primary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secondary: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    pub hosts: Option<Vec<String>>,
    pub conditions: Option<Entries<Entries<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Entries<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<BootDraft>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Entries<String>>,
    pub workload: Option<WorkloadDraft>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitors: Option<MonitorsDraft>,
    pub design: Option<DesignDraft>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadDraft {
    #[serde(rename = "stress-ng", skip_serializing_if = "Option::is_none")]
    pub stress_ng: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmod: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    pub duration: Option<String>,
}

impl WorkloadDraft {
    /// The arguments of one kind.
    pub fn arguments(&mut self, kind: WorkloadKind) -> &mut Option<Vec<String>> {
        match kind {
            WorkloadKind::StressNg => &mut self.stress_ng,
            WorkloadKind::Kmod => &mut self.kmod,
            WorkloadKind::Boot => &mut self.boot,
            WorkloadKind::Command => &mut self.command,
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BootDraft {
    pub every: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_line: Option<Vec<String>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MonitorsDraft {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meminfo: Option<MonitorDraft>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vmstat: Option<MonitorDraft>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<MonitorDraft>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MonitorDraft {
    pub every: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DesignDraft {
    pub trials: Option<String>,
    pub order: Option<String>,
    pub seed: Option<String>,
}

impl Draft {
    /// This file's keys, and the base's where this one has none.
    pub fn over(self, base: Draft) -> Draft {
        Draft {
            extends: None,
            name: self.name.or(base.name),
            question: self.question.or(base.question),
            primary: self.primary.or(base.primary),
            secondary: self.secondary.or(base.secondary),
            notes: self.notes.or(base.notes),
            hosts: self.hosts.or(base.hosts),
            conditions: self.conditions.or(base.conditions),
            params: self.params.or(base.params),
            boot: self.boot.or(base.boot),
            settings: self.settings.or(base.settings),
            workload: self.workload.or(base.workload),
            idle: self.idle.or(base.idle),
            settle: self.settle.or(base.settle),
            monitors: self.monitors.or(base.monitors),
            design: self.design.or(base.design),
        }
    }
}

/// A mapping in the file's order.
#[derive(Debug, Clone)]
pub(super) struct Entries<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::keys::{EXPERIMENT, Key, Shape};

    /// The names of a type's fields, from what it says of one that it does not know.
    fn fields<T: for<'de> Deserialize<'de>>() -> Vec<String> {
        let error = serde_yaml::from_str::<T>("no-such-key: 1").err().unwrap();
        let mut names: Vec<String> = error
            .to_string()
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| *name != "no-such-key")
            .map(String::from)
            .collect();
        names.sort();
        names
    }

    fn table(keys: &[Key]) -> Vec<String> {
        let mut names: Vec<String> = keys.iter().map(|key| key.name.to_owned()).collect();
        names.sort();
        names
    }

    fn inner(keys: &'static [Key], name: &str) -> &'static [Key] {
        match keys.iter().find(|key| key.name == name).unwrap().shape {
            Shape::Keys(keys) => keys,
            _ => panic!("{name} is no mapping with fixed keys"),
        }
    }

    #[test]
    fn the_table_of_keys_and_the_types_agree() {
        assert_eq!(fields::<Draft>(), table(EXPERIMENT));
        assert_eq!(
            fields::<WorkloadDraft>(),
            table(inner(EXPERIMENT, "workload"))
        );
        assert_eq!(fields::<BootDraft>(), table(inner(EXPERIMENT, "boot")));
        let monitors = inner(EXPERIMENT, "monitors");
        assert_eq!(fields::<MonitorsDraft>(), table(monitors));
        for name in fields::<MonitorsDraft>() {
            assert_eq!(fields::<MonitorDraft>(), table(inner(monitors, &name)));
        }
        assert_eq!(fields::<DesignDraft>(), table(inner(EXPERIMENT, "design")));
    }

    #[test]
    fn scalars_keep_their_written_text() {
        let text = "[1, 0.50, yes, true, 0x10, 1e3, null, ~, '', 2024-01-01]";
        let read: Vec<String> = serde_yaml::from_str(text).unwrap();
        assert_eq!(
            read,
            [
                "1",
                "0.50",
                "yes",
                "true",
                "0x10",
                "1e3",
                "null",
                "~",
                "",
                "2024-01-01"
            ]
        );
    }
}
