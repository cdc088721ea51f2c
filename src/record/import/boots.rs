//! `systemd-analyze blame` lists of many boots in one mail, under headings that say condition and cell.

use std::collections::BTreeSet;

use super::duplicates;
use super::mail::Mail;
use super::{Draft, DraftTrial, RawPart};
use crate::error::{Error, Result};
use crate::parse::blame::{self, Entry};
use crate::record::{Replication, State, Trial};
use crate::series::Cell;

/// More boots than anybody posts in a mail.
const BOOT_LIMIT: usize = 200;
const HEADING_LIMIT: usize = 60;
const HEADING_WORDS: usize = 6;

/// One boot's list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Boot {
    pub condition: String,
    /// Value of the parameter, when there are outer headings.
    pub value: Option<String>,
    /// Line in the mail, from 1.
    pub line: usize,
    pub entries: Vec<Entry>,
    /// The lines as they stand in the mail, quoting marks taken off.
    pub text: String,
}

impl Boot {
    pub fn same_arm(&self, other: &Boot) -> bool {
        self.condition == other.condition && self.value == other.value
    }
}

/// Finds the boots of a mail; empty when there are none.
///
/// # Errors
/// `Input` at the line, when boots stand under no heading or the headings' levels differ.
pub(super) fn find(mail: &Mail) -> Result<(Vec<Boot>, Vec<String>)> {
    let quoted = |line: &str| line.starts_with('>');
    let is_time = |line: &str| blame::entry(unquoted(line)).is_some();
    let times_in = |in_quotes: bool| {
        mail.text
            .lines()
            .filter(|line| quoted(line) == in_quotes && is_time(line))
            .count()
    };
    let (own, others) = (times_in(false), times_in(true));
    let mut notes = Vec::new();
    if own > 0 && others > 0 {
        notes.push(format!(
            "{others} lines with times stand in quotes of other mails and were not taken"
        ));
    }
    let mut reader = Reader::default();
    for (index, line) in mail.text.lines().enumerate() {
        // Another mail's words are no heading for this one's figures.
        if own > 0 && quoted(line) {
            reader.prose();
            continue;
        }
        reader
            .line(index + 1, unquoted(line))
            .map_err(|(message, next)| {
                Error::input(message)
                    .at_line(&mail.file, index + 1)
                    .next(next)
            })?;
    }
    Ok((reader.boots, notes))
}

/// The record that the boots make.
pub(super) fn draft(mail: &Mail, parameter: Option<&str>) -> Result<Option<Draft>> {
    let (boots, mut notes) = find(mail)?;
    let Some(first) = boots.first() else {
        return Ok(None);
    };
    let parameter = match (&first.value, parameter) {
        (None, _) => None,
        (Some(_), Some(name)) => Some(name),
        (Some(value), None) => {
            return Err(Error::input(format!(
                "boots stand under two levels of headings; the outer one, `{}`, is the value of a parameter without a name",
                value.escape_default()
            ))
            .at_line(&mail.file, first.line)
            .next("name it, for example --parameter config"));
        }
    };
    let mut conditions: Vec<String> = Vec::new();
    for boot in &boots {
        if !conditions.contains(&boot.condition) {
            conditions.push(boot.condition.clone());
        }
    }
    let duplicates = duplicates::find(&boots);
    let id = |index: usize| super::trial_id(index, boots.len());
    let trials = boots
        .iter()
        .enumerate()
        .map(|(index, boot)| {
            let mut trial = Trial::new(&id(index), &boot.condition);
            trial.state = State::Complete;
            if let (Some(name), Some(value)) = (parameter, &boot.value) {
                trial.cell = Cell::from([(name.to_owned(), value.clone())]);
            }
            if let Some(duplicate) = duplicates.get(index).copied().flatten() {
                let original = id(duplicate.original);
                trial.notes.push(duplicate.note(&original));
                trial.duplicate_of = Some(original);
            }
            let raw = RawPart {
                monitor: "systemd-analyze-blame",
                name: "blame.txt".into(),
                bytes: boot.text.clone().into_bytes(),
            };
            DraftTrial {
                trial,
                raw: vec![raw],
            }
        })
        .collect();
    let units = boots.iter().map(|boot| boot.entries.len());
    if units.clone().min() != units.max() {
        notes.push("the boots do not all have the same number of units".into());
    }
    Ok(Some(Draft {
        conditions,
        replication: Replication::Boot,
        trials,
        how: "lines of `systemd-analyze blame` as they stand in the mail; \
              a boot ends where a unit comes again or a heading follows"
            .into(),
        notes,
    }))
}

fn unquoted(mut line: &str) -> &str {
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line.trim_end()
}

/// How a heading is marked; headings marked alike are on one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// `1)`, `2.`
    Number,
    /// `a)`, `(b)`
    Letter,
    /// `Before:`
    Colon,
}

fn heading(line: &str) -> Option<(Mark, &str)> {
    if line.len() > HEADING_LIMIT || line.split_whitespace().count() > HEADING_WORDS {
        return None;
    }
    let marked = line.strip_prefix('(').unwrap_or(line);
    let (mark, text) = match marked.split_once([')', '.']) {
        Some((sign, text)) if sign.parse::<u8>().is_ok() => (Mark::Number, text),
        Some((sign, text))
            if sign.len() == 1 && sign.as_bytes().iter().all(u8::is_ascii_alphabetic) =>
        {
            (Mark::Letter, text)
        }
        _ => (Mark::Colon, line.strip_suffix(':')?),
    };
    let text = text.trim().trim_end_matches(':');
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    is_plain.then_some((mark, text))
}

type Refusal = (String, &'static str);

#[derive(Default)]
struct Reader {
    boots: Vec<Boot>,
    /// Headings in force, outermost first.
    levels: Vec<(Mark, String)>,
    /// Headings since the last line that was none.
    pending: Vec<(Mark, String)>,
    /// Units of the boot that is being read.
    units: BTreeSet<String>,
    /// Whether the line before (blank ones aside) was one of a boot.
    in_boots: bool,
    depth: Option<usize>,
}

impl Reader {
    fn prose(&mut self) {
        self.pending.clear();
        self.in_boots = false;
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), Refusal> {
        if let Some(entry) = blame::entry(line) {
            if !self.in_boots {
                self.enter()?;
            }
            return self.push(number, line, entry);
        }
        match heading(line.trim_start()) {
            Some((mark, text)) => {
                self.in_boots = false;
                self.pending.push((mark, text.to_owned()));
            }
            None if line.is_empty() => {}
            None => self.prose(),
        }
        Ok(())
    }

    /// Boots begin: the headings just before them are in force from here.
    fn enter(&mut self) -> Result<(), Refusal> {
        if self.pending.is_empty() {
            return Err((
                "boots stand here under no heading, so their condition is not known".into(),
                "write a line such as `patched:` above them in a copy of the mail",
            ));
        }
        for (mark, text) in self.pending.drain(..) {
            if let Some(level) = self.levels.iter().position(|(m, _)| *m == mark) {
                self.levels.truncate(level);
            }
            self.levels.push((mark, text));
        }
        let depth = self.levels.len();
        if depth > 2 || *self.depth.get_or_insert(depth) != depth {
            return Err((
                format!(
                    "boots stand here under {depth} levels of headings; all must stand under one, or all under two"
                ),
                "import a copy of the mail with the headings made alike",
            ));
        }
        self.in_boots = true;
        self.begin_boot();
        Ok(())
    }

    fn begin_boot(&mut self) {
        self.units.clear();
        let mut names = self.levels.iter().rev().map(|(_, text)| text.clone());
        self.boots.push(Boot {
            condition: names.next().unwrap_or_default(),
            value: names.next(),
            line: 0,
            entries: Vec::new(),
            text: String::new(),
        });
    }

    fn push(&mut self, number: usize, line: &str, entry: Entry) -> Result<(), Refusal> {
        if self.units.contains(&entry.unit) {
            self.begin_boot();
        }
        self.units.insert(entry.unit.clone());
        if self.boots.len() > BOOT_LIMIT {
            return Err((
                format!("more than {BOOT_LIMIT} boots"),
                "import a part of the mail at a time",
            ));
        }
        if let Some(boot) = self.boots.last_mut() {
            if boot.entries.is_empty() {
                boot.line = number;
            }
            boot.text.push_str(line);
            boot.text.push('\n');
            boot.entries.push(entry);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mail(text: &str) -> Mail {
        Mail {
            file: "mail".into(),
            text: text.into(),
            sha256: String::new(),
            origin: Default::default(),
            encoding: None,
        }
    }

    fn arms(text: &str) -> Vec<(String, Option<String>, usize)> {
        let (boots, _) = find(&mail(text)).unwrap();
        boots
            .into_iter()
            .map(|b| (b.condition, b.value, b.entries.len()))
            .collect()
    }

    fn refusal(text: &str) -> String {
        find(&mail(text)).unwrap_err().to_string()
    }

    #[test]
    fn two_levels_of_headings() {
        let text = "Look here:\n\nSome prose that goes before all of it.\n\n1) small\n\na) old\n\n1s a.service\n2s b.service\n1s a.service\n2s b.service\n\nb) new\n1s a.service\n2) big\n(a) old:\n3s a.service\n";
        let arm = |c: &str, v: &str, n| (c.to_owned(), Some(v.to_owned()), n);
        assert_eq!(
            arms(text),
            [
                arm("old", "small", 2),
                arm("old", "small", 2),
                arm("new", "small", 1),
                arm("old", "big", 1)
            ]
        );
        assert_eq!(arms(&text.replace('\n', "\r\n")), arms(text));
        let quoted: String = text.lines().map(|l| format!("> {l}\n")).collect();
        assert_eq!(arms(&quoted), arms(text));
    }

    #[test]
    fn times_in_quotes_are_left_out_beside_own_ones() {
        let text = "Before:\n1s a.service\n> 9s a.service\nAfter:\n2s a.service\n";
        let (boots, notes) = find(&mail(text)).unwrap();
        assert_eq!(boots.len(), 2);
        assert!(notes[0].starts_with("1 lines"), "{notes:?}");
    }

    #[test]
    fn boots_without_a_heading_are_refused() {
        assert!(refusal("hello\n1s a.service\n").starts_with("mail:2: boots stand here under no"));
        let later = "a:\n1s a.service\nWith another kernel it was like this then\n2s a.service\n";
        assert!(refusal(later).starts_with("mail:4:"));
    }

    #[test]
    fn uneven_headings_are_refused() {
        let text = "1) x\na) old\n1s a.service\n2) y\n1s a.service\n";
        assert!(refusal(text).contains("1 levels"), "{}", refusal(text));
    }

    proptest! {
        #[test]
        fn any_text_does_no_harm(text in "((1s a.service|a\\) x|1\\. y|z:|> |.{0,9})\n){0,12}") {
            let _ = find(&mail(&text));
        }
    }
}
