//! Every key of an experiment: its shape, what it takes, its default. Messages and docs/experiment.md say what
//! stands here; a test holds this table and the types that `serde_yaml` fills in step.

use std::path::Path;

use crate::error::{Error, Result};
use crate::experiment::outline::{Content, Node};
use crate::experiment::words::{choose, shown};
use crate::yaml::Spot;

/// What stands behind a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// One text or number.
    Text,
    /// A list of texts or numbers.
    Texts,
    /// A mapping with these keys.
    Keys(&'static [Key]),
    /// A mapping with names of the user's choice, each with this behind it.
    Named(&'static Shape),
}

/// A key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub name: &'static str,
    pub shape: Shape,
    /// What it takes, for messages: "`idle` must be ...".
    pub takes: &'static str,
    /// `required`, or what holds when it is not given.
    pub default: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// The keys of an experiment.
pub(super) const EXPERIMENT: &[Key] = &[
    Key {
        name: "question",
        shape: Shape::Text,
        takes: "a sentence",
        default: "required",
        about: "What the experiment asks.",
    },
    Key {
        name: "primary",
        shape: Shape::Text,
        takes: "a metric, such as memory.used.peak",
        default: "required",
        about: "The number that decides, named before the run.",
    },
    Key {
        name: "secondary",
        shape: Shape::Texts,
        takes: "a list of metrics, such as [memory.slab.rise]",
        default: "every metric",
        about: "Further numbers, named before the run; without them all that is measured is compared.",
    },
    Key {
        name: "notes",
        shape: Shape::Texts,
        takes: "a list of sentences",
        default: "none",
        about: "What a reader of the results has to know; stands in the record and in every report.",
    },
    Key {
        name: "hosts",
        shape: Shape::Texts,
        takes: "a list of host names, such as [kdevops-kmod]",
        default: "required",
        about: "Where it runs: names as `ssh` knows them; `local` is this machine. Every host runs every trial of the design; a `{variable}` in a name gives each condition a host of its own.",
    },
    Key {
        name: "conditions",
        shape: Shape::Named(&Shape::Named(&Shape::Text)),
        takes: "two or more names, each with its variables, such as {before: {n: 1}, after: {n: 2}}",
        default: "required",
        about: "The arms. The first is the reference.",
    },
    Key {
        name: "boot",
        shape: Shape::Keys(BOOT),
        takes: "a mapping, such as {every: trial, kernel: \"{kernel}\"}",
        default: "hosts are not booted",
        about: "When hosts are booted, and into what.",
    },
    Key {
        name: "settings",
        shape: Shape::Named(&Shape::Text),
        takes: "files of the kernel with their values, such as {vm.oom_dump_tasks: 0}",
        default: "none",
        about: "Sysctls, or files below `/proc/sys` and `/sys`: set before each trial, read back, and restored after it.",
    },
    Key {
        name: "workload",
        shape: Shape::Keys(WORKLOAD),
        takes: "a mapping with `duration` and one of `stress-ng`, `kmod`, `boot` and `command`",
        default: "required",
        about: "What runs.",
    },
    Key {
        name: "idle",
        shape: Shape::Text,
        takes: "a duration, such as 2s",
        default: "2s",
        about: "How long to watch before the workload; 0s to 24h.",
    },
    Key {
        name: "settle",
        shape: Shape::Text,
        takes: "a duration, such as 2s",
        default: "2s",
        about: "How long to watch after the workload; 0s to 24h.",
    },
    Key {
        name: "monitors",
        shape: Shape::Keys(MONITORS),
        takes: "a mapping of monitors, such as {meminfo: {every: 100ms}}",
        default: "required, but for `boot`",
        about: "What is sampled, idle phase to settle phase.",
    },
    Key {
        name: "design",
        shape: Shape::Keys(DESIGN),
        takes: "a mapping, such as {trials: 4, order: abba}",
        default: "required",
        about: "How trials are laid out.",
    },
    Key {
        name: "params",
        shape: Shape::Named(&Shape::Texts),
        takes: "names, each with a list of values, such as {workers: [1, 4]}",
        default: "none",
        about: "Parameters: every combination of their values is a cell, which holds the whole design.",
    },
    Key {
        name: "name",
        shape: Shape::Text,
        takes: "a name",
        default: "the file's name without `.yaml`",
        about: "Names the records of its runs.",
    },
    Key {
        name: "extends",
        shape: Shape::Text,
        takes: "the name of a file in the same directory",
        default: "none",
        about: "A file with keys to start from. A key given here replaces that file's key whole.",
    },
];

const WORKLOAD: &[Key] = &[
    Key {
        name: "stress-ng",
        shape: Shape::Texts,
        takes: "a list of stress-ng's arguments",
        default: "one of the four",
        about: "Arguments of stress-ng.",
    },
    Key {
        name: "kmod",
        shape: Shape::Texts,
        takes: "a list of kmod.sh's arguments, such as [-c, \"0008\", 10]",
        default: "one of the four",
        about: "Arguments of the kernel's `tools/testing/selftests/kmod/kmod.sh`, which is looked for where kdevops has it.",
    },
    Key {
        name: "boot",
        shape: Shape::Texts,
        takes: "a list of systemd units, such as [systemd-udev-settle.service]",
        default: "one of the four",
        about: "The boot itself is the workload: what each of these units took, and the boot as a whole.",
    },
    Key {
        name: "command",
        shape: Shape::Texts,
        takes: "a list of a program and its arguments",
        default: "one of the four",
        about: "A program and its arguments. No shell reads them: each element is one argument.",
    },
    Key {
        name: "duration",
        shape: Shape::Text,
        takes: "a duration, such as 3s",
        default: "required, but for `boot`",
        about: "stress-ng: how long it runs, in whole seconds. kmod and command: how long you expect; one that runs half as long again and at least a minute more is ended. 1ms to 24h.",
    },
];

const BOOT: &[Key] = &[
    Key {
        name: "every",
        shape: Shape::Text,
        takes: "`trial`, `block`, or a number of blocks such as `3 blocks`",
        default: "trial",
        about: "How often a host is booted: before each trial, or before every so many blocks of trials.",
    },
    Key {
        name: "kernel",
        shape: Shape::Text,
        takes: "a kernel's release, its beginning such as 6.12, or a pattern such as 6.12.*-lab",
        default: "the host's own choice",
        about: "What to boot; checked against `uname -r` after each boot.",
    },
    Key {
        name: "command_line",
        shape: Shape::Texts,
        takes: "a list of words, such as [udev.log_level=debug]",
        default: "none",
        about: "Further words of the kernel's command line; checked against `/proc/cmdline` after each boot.",
    },
];

const MONITORS: &[Key] = &[
    Key {
        name: "meminfo",
        shape: Shape::Keys(&[every("100ms", "Time between samples; 1ms to 10s.")]),
        takes: "a mapping, such as {every: 100ms}",
        default: "not sampled",
        about: "`/proc/meminfo`, whole.",
    },
    Key {
        name: "vmstat",
        shape: Shape::Keys(&[every("100ms", "Time between samples; 1ms to 10s.")]),
        takes: "a mapping, such as {every: 100ms}",
        default: "not sampled",
        about: "`/proc/vmstat`, whole.",
    },
    Key {
        name: "free",
        shape: Shape::Keys(&[every(
            "1s",
            "Time between samples; 100ms to 10min, in steps of 10ms.",
        )]),
        takes: "a mapping, such as {every: 1s}",
        default: "not sampled",
        about: "The column `used` of `free -k`, as kernel lists quote it.",
    },
];

const fn every(default: &'static str, about: &'static str) -> Key {
    Key {
        name: "every",
        shape: Shape::Text,
        takes: "a duration, such as 100ms",
        default,
        about,
    }
}

const DESIGN: &[Key] = &[
    Key {
        name: "trials",
        shape: Shape::Text,
        takes: "a whole number from 1 to 1000",
        default: "required",
        about: "Trials of each condition, in each cell, on each host; 1 to 1000. A plan has at most 10000 in all.",
    },
    Key {
        name: "order",
        shape: Shape::Text,
        takes: "`abba` or `random`",
        default: "abba",
        about: "The order of trials.",
    },
    Key {
        name: "seed",
        shape: Shape::Text,
        takes: "a whole number from 0 to 18446744073709551615",
        default: "1",
        about: "Seed of the order `random`.",
    },
];

/// The key at a path; for names that users choose, the key that stands above them.
fn find(path: &[&str]) -> Option<Key> {
    let mut keys = EXPERIMENT;
    let mut found = None;
    for name in path {
        let Some(key) = keys.iter().find(|key| key.name == *name) else {
            break;
        };
        found = Some(*key);
        match key.shape {
            Shape::Keys(inner) => keys = inner,
            _ => break,
        }
    }
    found
}

/// What the key at a path takes.
pub(super) fn takes(path: &[&str]) -> &'static str {
    find(path).map_or("", |key| key.takes)
}

/// What holds when the key at a path is not given.
pub(super) fn default(path: &[&str]) -> &'static str {
    find(path).map_or("", |key| key.default)
}

/// Every key as a Markdown table: what it takes, its default, what it means.
pub fn key_table() -> String {
    let mut table = String::from("| key | takes | default | meaning |\n|---|---|---|---|\n");
    rows(EXPERIMENT, "", &mut table);
    table
}

fn rows(keys: &[Key], above: &str, table: &mut String) {
    for key in keys {
        let name = format!("{above}{}", key.name);
        let (takes, default, about) = (key.takes, key.default, key.about);
        table.push_str(&format!("| `{name}` | {takes} | {default} | {about} |\n"));
        if let Shape::Keys(inner) = key.shape {
            rows(inner, &format!("{name}."), table);
        }
    }
}

/// Checks that every key is known and that what stands behind it has its shape.
///
/// # Errors
/// `Input`, with the key's or value's place.
pub(super) fn check(root: &Node, file: &Path) -> Result<()> {
    Checker { file }.node(root, Shape::Keys(EXPERIMENT), &mut Vec::new())
}

struct Checker<'a> {
    file: &'a Path,
}

impl Checker<'_> {
    fn node<'n>(&self, node: &'n Node, shape: Shape, path: &mut Vec<&'n str>) -> Result<()> {
        match (shape, &node.content) {
            (_, Content::Text { value, plain: true }) if value.is_empty() => {
                Err(self.no_value(node, shape, path))
            }
            (Shape::Text, Content::Text { .. }) => Ok(()),
            (Shape::Texts, Content::List(elements)) => {
                elements
                    .iter()
                    .try_for_each(|element| match &element.content {
                        Content::Text { value, plain } if !plain || !value.is_empty() => Ok(()),
                        content => Err(self
                            .error(
                                element.at,
                                format!("{} has {} in it", dotted(path), kind(content)),
                            )
                            .next(format!("give {}", takes(path)))),
                    })
            }
            (Shape::Keys(keys), Content::Map(entries)) => entries.iter().try_for_each(|entry| {
                let Some(key) = keys.iter().find(|key| key.name == entry.key) else {
                    let names = keys.iter().map(|key| key.name);
                    return Err(self
                        .error(
                            entry.key_at,
                            match path.is_empty() {
                                true => format!("unknown key {}", shown(&entry.key)),
                                false => {
                                    format!("unknown key {} in {}", shown(&entry.key), dotted(path))
                                }
                            },
                        )
                        .next(choose(&entry.key, "keys here", names)));
                };
                path.push(key.name);
                // `serde_yaml` would take these for a key that is not given.
                if is_null(&entry.value.content) {
                    return Err(self.no_value(&entry.value, key.shape, path));
                }
                self.node(&entry.value, key.shape, path)?;
                path.pop();
                Ok(())
            }),
            (Shape::Named(shape), Content::Map(entries)) => entries.iter().try_for_each(|entry| {
                path.push(&entry.key);
                self.node(&entry.value, *shape, path)?;
                path.pop();
                Ok(())
            }),
            (_, content) if path.is_empty() => Err(self
                .error(
                    node.at,
                    format!("an experiment is a mapping of keys, not {}", kind(content)),
                )
                .next("docs/experiment.md has an experiment to start from")),
            (_, content) => Err(self
                .error(
                    node.at,
                    format!("{} cannot be {}", dotted(path), kind(content)),
                )
                .next(format!("give {}", takes(path)))),
        }
    }

    fn no_value(&self, node: &Node, shape: Shape, path: &[&str]) -> Error {
        if path.is_empty() {
            return self
                .error(node.at, "the file is empty".into())
                .next("docs/experiment.md has an experiment to start from");
        }
        let takes = takes(path);
        self.error(node.at, format!("{} has no value", dotted(path)))
            .next(match shape {
                // Below names that users choose; what stands above them does not help.
                Shape::Named(_) if path.len() > 1 => "write {} for none".to_owned(),
                Shape::Text => format!("give {takes}"),
                Shape::Texts => format!("give {takes}; write [] for none"),
                Shape::Keys(_) | Shape::Named(_) => format!("give {takes}; write {{}} for none"),
            })
    }

    fn error(&self, at: Spot, message: String) -> Error {
        Error::input(message).at_line_column(self.file, at.line, at.column)
    }
}

/// A path as messages write it.
pub(super) fn dotted(path: &[&str]) -> String {
    shown(&path.join("."))
}

fn is_null(content: &Content) -> bool {
    matches!(content, Content::Text { value, plain: true }
        if ["", "~", "null", "Null", "NULL"].contains(&value.as_str()))
}

fn kind(content: &Content) -> &'static str {
    match content {
        Content::Text { value, plain: true } if value.is_empty() => "an empty value",
        Content::Text { .. } => "a text",
        Content::List(_) => "a list",
        Content::Map(_) => "a mapping",
    }
}
