//! Logs of procps' `free`: whole `free -s` output, or only its `Mem:` lines.
//!
//! What is read is the `used` column, second after `Mem:` in every layout:
//!
//! | layout | columns after `Mem:` | used is |
//! |---|---|---|
//! | old, before procps 3.3.10 | total used free shared buffers cached | total - free, page cache included |
//! | new | total used free shared buff/cache available | without buffers and cache; from 4.0 total - available |
//! | wide, `free -w` | total used free shared buffers cache available | as new |
//!
//! The log does not say its unit: KiB unless `free` was asked for another.

use crate::ascii::excerpt;
use crate::parse::Wrong;
use crate::parse::numbers::parse_number;

/// Where `used` stands among the words of a `Mem:` line.
const USED: usize = 2;

/// Which columns a log of `free` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// With a line `-/+ buffers/cache:`; used includes buffers and page cache.
    Old,
    /// With `buff/cache` and `available`.
    New,
    /// `free -w`: `buffers` and `cache` apart.
    Wide,
    /// Only `Mem:` lines with the six columns that the old and the new layout share.
    Unknown,
}

/// What one line of the log gave.
#[derive(Debug, PartialEq)]
pub(super) enum Reading {
    /// The used column.
    Used(f64),
    /// A line of `free` without the number wanted.
    Other,
    /// The last line, written in part only.
    CutOff,
}

/// Reads a log of `free` line by line.
#[derive(Debug, Default)]
pub(super) struct FreeLog {
    layout: Option<Layout>,
    meaning_changed: bool,
}

impl FreeLog {
    /// Whether a log of `free` may begin with this line.
    pub fn begins_with(line: &str) -> bool {
        line.trim_start().starts_with("Mem:") || is_heading(line)
    }

    pub fn layout(&self) -> Layout {
        self.layout.unwrap_or(Layout::Unknown)
    }

    /// Whether `used` meant one thing first and another later: the old layout and a newer one in one log.
    pub fn meaning_changed(&self) -> bool {
        self.meaning_changed
    }

    fn found(&mut self, layout: Layout) {
        let was_old = self.layout.map(|l| l == Layout::Old);
        self.meaning_changed |= was_old.is_some_and(|was_old| was_old != (layout == Layout::Old));
        self.layout = Some(layout);
    }

    /// Takes one line; `ended` when a line feed ended it.
    pub fn line(&mut self, line: &str, ended: bool) -> Result<Reading, Wrong> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => Ok(Reading::Other),
            ["Mem:", ..] => self.memory(line, &words, ended),
            ["-/+", ..] => {
                self.found(Layout::Old);
                Ok(Reading::Other)
            }
            ["Swap:" | "Total:" | "Low:" | "High:" | "Comm:", ..] => Ok(Reading::Other),
            _ if is_heading(line) => {
                self.found(if words.contains(&"buff/cache") {
                    Layout::New
                } else if words.contains(&"available") {
                    Layout::Wide
                } else {
                    Layout::Old
                });
                Ok(Reading::Other)
            }
            _ if !ended => Ok(Reading::CutOff),
            _ => Err(Wrong {
                column: 1,
                message: format!("not a line of `free`: `{}`", excerpt(line.trim(), 40)),
                next:
                    "keep the log of `LC_ALL=C free -k -s 1` only, or its `Mem:` lines (grep Mem:)"
                        .into(),
            }),
        }
    }

    fn memory(&mut self, line: &str, words: &[&str], ended: bool) -> Result<Reading, Wrong> {
        // A number is known to be whole only when another word follows it.
        let (Some(&used), true) = (words.get(USED), words.len() > USED + 1) else {
            if !ended {
                return Ok(Reading::CutOff);
            }
            return Err(Wrong {
                column: 1,
                message: "a `Mem:` line without total, used and free".into(),
                next: "take the line out: it was written in part only".into(),
            });
        };
        if self.layout.is_none() && words.len() == 8 {
            self.layout = Some(Layout::Wide);
        }
        match parse_number(used) {
            Ok(used) => Ok(Reading::Used(used)),
            Err((message, next)) => {
                let column = used.as_ptr() as usize - line.as_ptr() as usize + 1;
                let scaled = used.starts_with(|c: char| c.is_ascii_digit())
                    && used.ends_with(|c: char| c.is_ascii_alphabetic());
                Err(if scaled {
                    Wrong {
                        column,
                        message: format!(
                            "`{}` is rounded by `free -h`, too coarse to compare",
                            excerpt(used, 20)
                        ),
                        next: "record it again with `free -k -s 1`".into(),
                    }
                } else {
                    Wrong {
                        column,
                        message,
                        next,
                    }
                })
            }
        }
    }
}

fn is_heading(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("total") && words.next() == Some("used") && words.next() == Some("free")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "\
               total        used        free      shared  buff/cache   available
Mem:        24683652      557412    22361820        8956     2074440    24126240
Swap:              0           0           0
";
    const WIDE: &str = "\
               total        used        free      shared     buffers       cache   available
Mem:        24683652      557412    22361820        8956       65776     2008664    24126240
Low:        24683652     2321832    22361820
High:              0           0           0
Swap:              0           0           0
Total:      24683652      557412    22361820
Comm:       12341824      292392    12049432
";
    const OLD: &str = "\
             total       used       free     shared    buffers     cached
Mem:       2052548    1234567     817981          0      12345     678910
-/+ buffers/cache:     543312    1509236
Swap:      1048572          0    1048572
";

    fn read(log: &str) -> Result<(Vec<f64>, Layout), Wrong> {
        let mut free = FreeLog::default();
        let mut used = Vec::new();
        for line in log.split_inclusive('\n') {
            if let Reading::Used(value) = free.line(line.trim_end(), line.ends_with('\n'))? {
                used.push(value);
            }
        }
        Ok((used, free.layout()))
    }

    #[test]
    fn every_layout_gives_its_used_column() {
        for (block, used, layout) in [
            (NEW, 557412.0, Layout::New),
            (WIDE, 557412.0, Layout::Wide),
            (OLD, 1234567.0, Layout::Old),
        ] {
            assert!(FreeLog::begins_with(block));
            let log = [block, block, block].join("\n");
            assert_eq!(read(&log).unwrap(), (vec![used; 3], layout));
            let only_mem: String = log
                .split_inclusive('\n')
                .filter(|line| line.starts_with("Mem:"))
                .collect();
            assert!(FreeLog::begins_with(&only_mem));
            assert_eq!(read(&only_mem).unwrap().0, [used; 3]);
        }
    }

    #[test]
    fn a_log_that_was_cut_off_keeps_its_whole_lines() {
        let log = format!("{NEW}\n{NEW}");
        let whole = read(&log).unwrap().0.len();
        for cut in NEW.len() + 1..log.len() {
            let used = read(&log[..cut]).unwrap().0;
            assert!(
                used.iter().all(|&value| value == 557412.0),
                "{cut}: {used:?}"
            );
            assert!(used.len() <= whole);
        }
        assert!(read("Mem:  24683652  5574\n").is_err());
    }

    #[test]
    fn numbers_for_people_are_refused_with_the_flag_to_use() {
        let log = NEW
            .replace("24683652", "    23Gi")
            .replace("557412", " 544Mi");
        let wrong = read(&log).unwrap_err();
        assert!(wrong.message.contains("`544Mi`"), "{}", wrong.message);
        assert!(wrong.next.contains("free -k"));
        assert_eq!(wrong.column, 28);
    }

    #[test]
    fn a_foreign_line_is_refused() {
        assert!(read(&format!("{NEW}Killed\n")).is_err());
    }
}
