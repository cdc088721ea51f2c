//! What a host is before a trial: how it was booted, what its settings are.

use super::Checker;
use crate::error::Result;
use crate::experiment::draft::{BootDraft, Entries};
use crate::experiment::keys::takes;
use crate::experiment::words::shown;
use crate::experiment::{Boot, Every, Setting, WorkloadKind, settings, template};

/// The Linux kernel takes a command line of at most 2048 bytes on most machines.
const MAX_WORD: usize = 1000;

/// One word for a boot loader, with nothing in it that a shell or a boot loader could take for its own.
pub(crate) fn is_boot_word(word: &str) -> bool {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "._-+=,:/@%*".contains(c);
    (1..=MAX_WORD).contains(&word.len()) && word.chars().all(harmless) && !word.starts_with('-')
}

impl Checker<'_> {
    pub(super) fn boot(
        &self,
        boot: Option<BootDraft>,
        workload: WorkloadKind,
    ) -> Result<Option<Boot>> {
        let boot = match (workload, boot) {
            (WorkloadKind::Boot, None) => BootDraft::default(),
            (_, None) => return Ok(None),
            (_, Some(boot)) => boot,
        };
        let path = ["boot", "every"];
        let text = boot.every.unwrap_or_else(|| Every::Trial.words());
        let every = Every::parse(&text).ok_or_else(|| self.not_taken(&path, &text))?;
        if workload == WorkloadKind::Boot && every != Every::Trial {
            return Err(self
                .wrong(&path, "each boot is a trial of its own here")
                .next("remove it, or write `trial`"));
        }
        if let Some(kernel) = &boot.kernel {
            self.boot_word(&["boot", "kernel"], kernel)?;
        }
        let command_line = boot.command_line.unwrap_or_default();
        for (index, word) in command_line.iter().enumerate() {
            self.boot_word(&["boot", "command_line", &index.to_string()], word)?;
        }
        Ok(Some(Boot {
            every,
            kernel: boot.kernel,
            command_line,
        }))
    }

    fn boot_word(&self, path: &[&str], word: &str) -> Result<()> {
        self.braces(path, word)?;
        if is_boot_word(&word.replace(['{', '}'], "")) {
            return Ok(());
        }
        Err(self
            .sources
            .at_value(path, format!("{} is not one plain word", shown(word)))
            .next("write letters, digits and `._-+=,:/@%*`"))
    }

    pub(super) fn settings(&self, entries: Option<Entries<String>>) -> Result<Vec<Setting>> {
        let mut all: Vec<Setting> = Vec::new();
        for (name, value) in entries.map(|entries| entries.0).unwrap_or_default() {
            let path = ["settings", name.as_str()];
            let Some(file) = settings::file(&name) else {
                return Err(self
                    .sources
                    .at_key(&path, format!("{} is no setting of the kernel", shown(&name)))
                    .next("give a sysctl such as vm.oom_dump_tasks, or a file below /proc/sys or /sys"));
            };
            if all.iter().any(|other| other.file == file) {
                return Err(self
                    .sources
                    .at_key(&path, format!("{} stands twice", shown(&file)))
                    .next(format!("give {}", takes(&["settings"]))));
            }
            self.printable(&path, &value)?;
            self.braces(&path, &value)?;
            all.push(Setting { file, value });
        }
        Ok(all)
    }

    /// The braces of a text with `{variable}` places.
    pub(super) fn braces(&self, path: &[&str], text: &str) -> Result<()> {
        let checked = template::pieces(text).map(drop);
        checked.map_err(|why| {
            self.sources
                .at_value(path, format!("{} {why}", shown(text)))
                .next("write `{{` and `}}` for braces that are meant")
        })
    }
}
