//! When hosts are booted, and into what.

use std::time::Duration;

/// What a boot takes in the estimate of a plan: it is not known before the first one.
pub const BOOT_TAKES: Duration = Duration::from_secs(60);

/// The key `boot` of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boot {
    /// When.
    pub every: Every,
    /// What `uname -r` says afterwards, as [`PlannedBoot::is_kernel`] takes it; with `{variable}` places still open.
    /// None: the host's own choice.
    pub kernel: Option<String>,
    /// Further words of the kernel's command line, with `{variable}` places still open.
    pub command_line: Vec<String>,
}

/// How often a host is booted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Every {
    /// Before each trial: every value is of another boot.
    Trial,
    /// Before every so many blocks of trials; a block holds each condition in each cell once.
    Blocks(u32),
}

impl Every {
    /// Reads `trial`, `block` or `3 blocks`.
    pub(super) fn parse(text: &str) -> Option<Every> {
        match text {
            "trial" => return Some(Every::Trial),
            "block" => return Some(Every::Blocks(1)),
            _ => {}
        }
        let blocks = text.strip_suffix(" blocks")?.parse::<u32>().ok()?;
        (1..=1000)
            .contains(&blocks)
            .then_some(Every::Blocks(blocks))
    }

    /// As the experiment's file has it.
    pub fn words(self) -> String {
        match self {
            Every::Trial => "trial".into(),
            Every::Blocks(1) => "block".into(),
            Every::Blocks(blocks) => format!("{blocks} blocks"),
        }
    }

    /// Whether a host's trial at this place of its block begins with a boot.
    pub(super) fn begins(self, block: usize, place: usize) -> bool {
        match self {
            Every::Trial => true,
            Every::Blocks(blocks) => place == 0 && block.is_multiple_of(blocks.max(1) as usize),
        }
    }
}

/// A boot that a trial begins with, with every `{variable}` filled in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlannedBoot {
    /// What `uname -r` has to say, as [`PlannedBoot::is_kernel`] takes it; none when any kernel will do.
    pub kernel: Option<String>,
    /// Words that the kernel's command line has to hold.
    pub command_line: Vec<String>,
}

impl PlannedBoot {
    /// Whether a kernel or words are asked for, so that a host's own choice will not do.
    pub fn is_chosen(&self) -> bool {
        self.kernel.is_some() || !self.command_line.is_empty()
    }

    /// Whether a release as `uname -r` says it is the kernel that was asked for: the same, or its beginning up to
    /// a `.`, `-` or `+`, so that `6.1` is no `6.12`. A `*` stands for any text; with one the whole release has to fit.
    ///
    /// ```
    /// use ktrial::experiment::PlannedBoot;
    /// let boot = PlannedBoot { kernel: Some("6.1".into()), command_line: vec![] };
    /// assert!(boot.is_kernel("6.1.0-57-amd64") && !boot.is_kernel("6.12.1"));
    /// ```
    pub fn is_kernel(&self, release: &str) -> bool {
        let Some(kernel) = &self.kernel else {
            return true;
        };
        let mut parts = kernel.split('*');
        let begin = parts.next().unwrap_or_default();
        let Some(mut rest) = release.strip_prefix(begin) else {
            return false;
        };
        let Some(end) = parts.next_back() else {
            return rest.is_empty() || rest.starts_with(['.', '-', '+']);
        };
        for part in parts {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(end)
    }

    /// The words that a command line, as `/proc/cmdline` has it, lacks.
    pub fn missing<'a>(&'a self, cmdline: &str) -> Vec<&'a str> {
        let has = |word: &str| cmdline.split_ascii_whitespace().any(|w| w == word);
        let words = self.command_line.iter().map(String::as_str);
        words.filter(|word| !has(word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_is_read_as_it_is_written() {
        for (text, every) in [
            ("trial", Every::Trial),
            ("block", Every::Blocks(1)),
            ("3 blocks", Every::Blocks(3)),
        ] {
            assert_eq!(Every::parse(text), Some(every));
            assert_eq!(every.words(), text);
        }
        for bad in [
            "",
            "0 blocks",
            "blocks",
            "trials",
            "1001 blocks",
            "-1 blocks",
        ] {
            assert_eq!(Every::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn boots_begin_blocks() {
        let begins = |every: Every| (0..6).map(move |i| every.begins(i / 2, i % 2));
        assert!(begins(Every::Trial).all(|b| b));
        let every_second: Vec<bool> = begins(Every::Blocks(2)).collect();
        assert_eq!(every_second, [true, false, false, false, true, false]);
    }

    #[test]
    fn words_of_a_command_line_are_whole_words() {
        let boot = PlannedBoot {
            kernel: None,
            command_line: vec!["a=1".into(), "b".into()],
        };
        assert_eq!(boot.missing("quiet a=12 b"), ["a=1"]);
        assert!(boot.is_kernel("anything"));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        let is = |kernel: &str, release: &str| {
            let kernel = Some(kernel.to_owned());
            let command_line = Vec::new();
            PlannedBoot {
                kernel,
                command_line,
            }
            .is_kernel(release)
        };
        assert!(
            is("6.12.*-lab", "6.12.117-lab") && is("*lab*", "6.1-lab.2") && is("6*1*2", "6.1.0-2")
        );
        assert!(
            !is("6.12.*-lab", "6.12.117-lab.1") && !is("6.12.*-lab", "6.12-lab") && !is("a*a", "a")
        );
    }
}
