//! The controller's own look at files of the kernel that a trial changes: the trial's script restores them itself,
//! but a script may be killed, and a workload may change them too.

use std::time::Duration;

use crate::error::Result;
use crate::experiment::{Experiment, PlannedTrial};
use crate::host::Host;
use crate::workload::quote;
use crate::workload::settings::{FUNCTIONS, guarded};

use super::said;

const DEADLINE: Duration = Duration::from_secs(20);

/// Longest value that is kept.
const VALUE_LENGTH: usize = 4096;

/// What files held before a trial.
#[derive(Debug)]
pub(super) struct Guard(Vec<Held>);

/// A file and its value.
#[derive(Debug)]
struct Held {
    file: String,
    value: String,
}

impl Guard {
    /// Reads the files' values; a file that cannot be read is left alone later. None when there is no file.
    ///
    /// # Errors
    /// As [`Host::exec`].
    pub(super) fn read(host: &dyn Host, files: Vec<String>) -> Result<Option<Guard>> {
        if files.is_empty() {
            return Ok(None);
        }
        let output = host.exec(&reading(&files), DEADLINE)?;
        let values = lines(&output.stdout, files.len());
        let held = files.into_iter().zip(values).filter_map(|(file, value)| {
            let value = value.filter(|value| value.len() <= VALUE_LENGTH)?;
            Some(Held { file, value })
        });
        Ok(Some(Guard(held.collect())))
    }

    /// Looks at the files again and puts back what differs. Gives a note for each one that did.
    ///
    /// # Errors
    /// As [`Host::exec`].
    pub(super) fn check(&self, host: &dyn Host) -> Result<Vec<String>> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let output = host.exec(&checking(&self.0), DEADLINE)?;
        let found = lines(&output.stdout, self.0.len()).into_iter();
        Ok(self
            .0
            .iter()
            .zip(found)
            .filter_map(|(held, found)| held.note(found.as_deref()))
            .collect())
    }

    /// The note of a host that is lost.
    pub(super) fn unchecked(&self) -> String {
        let files: Vec<&str> = self.0.iter().map(|held| held.file.as_str()).collect();
        format!(
            "the host was lost before its settings could be looked at again: {}",
            files.join(", ")
        )
    }
}

impl Held {
    /// What became of the file, when anything did. `found` is `back VALUE` or `left VALUE`, with what it held.
    fn note(&self, found: Option<&str>) -> Option<String> {
        let (fate, now) = found?.split_once(' ')?;
        let now = said::escaped(now, said::MESSAGE);
        let old = said::escaped(&self.value, said::MESSAGE);
        let fate = match fate {
            "back" => format!("was put back to {old}"),
            "left" => format!("could not be put back to {old}"),
            _ => return None,
        };
        Some(format!("{} was left at {now} and {fate}", self.file))
    }
}

/// The scripts that the controller runs before and after a trial for its settings, as they run on the host but for the
/// values that were read before: `OLD` stands for each. None for a trial that changes no setting.
pub fn scripts(trial: &PlannedTrial, experiment: &Experiment) -> Option<(String, String)> {
    let files = guarded(trial, experiment);
    if files.is_empty() {
        return None;
    }
    let before = reading(&files);
    let value = "OLD".to_owned();
    let held = files.into_iter().map(|file| Held {
        file,
        value: value.clone(),
    });
    Some((before, checking(&held.collect::<Vec<_>>())))
}

/// Prints a line for each file: its number, and its value unless it cannot be read.
fn reading(files: &[String]) -> String {
    let mut script = format!("# settings before the trial\n{FUNCTIONS}");
    script
        .push_str("read_file() { value=$(cat \"$2\") && echo \"$1 $(choice \"$value\")\"; }\n{\n");
    for (number, file) in (1..).zip(files) {
        let file = quote(std::slice::from_ref(file));
        script.push_str(&format!("read_file {number} {file}\n"));
    }
    script.push_str("} 2>/dev/null\n");
    script
}

/// Prints a line for each file that differs: its number, `back` or `left`, and what it held.
fn checking(held: &[Held]) -> String {
    let mut script = format!("# settings after the trial\n{FUNCTIONS}");
    script.push_str(
        r#"check_file() {
  now=$(choice "$(cat "$2")")
  same "$now" "$3" && return
  fate=left
  put "$2" "$3"
  same "$(choice "$(cat "$2")")" "$3" && fate=back
  echo "$1 $fate $now"
}
{
"#,
    );
    for (number, Held { file, value }) in (1..).zip(held) {
        let words = quote(&[file.clone(), value.clone()]);
        script.push_str(&format!("check_file {number} {words}\n"));
    }
    script.push_str("} 2>/dev/null\n");
    script
}

/// What was printed for each number from 1.
fn lines(stdout: &[u8], count: usize) -> Vec<Option<String>> {
    let text = String::from_utf8_lossy(stdout);
    let mut found = vec![None; count];
    for line in text.lines().take(2 * count) {
        let Some((number, rest)) = line.split_once(' ') else {
            continue;
        };
        let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        if let Some(place) = index.and_then(|index| found.get_mut(index)) {
            *place = Some(rest.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Local;

    #[test]
    fn what_differs_is_put_back_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (same, changed, gone) = (
            file("same", "always [madvise] never\n"),
            file("it's changed", "60\n"),
            file("gone", "1\n"),
        );
        let files = [&same, &changed, &gone, &folder.path().join("absent")];
        let files = files.map(|path| path.to_str().unwrap().to_owned());
        let guard = Guard::read(&Local, files.to_vec()).unwrap().unwrap();
        assert_eq!(guard.0.len(), 3);
        assert_eq!(guard.check(&Local).unwrap(), [""; 0]);

        std::fs::write(&changed, "10\n\u{1b}[31m").unwrap();
        std::fs::remove_file(&gone).unwrap();
        std::fs::create_dir(&gone).unwrap();
        let notes = guard.check(&Local).unwrap();
        let [one, two] = notes.as_slice() else {
            panic!("{notes:?}");
        };
        assert!(
            one.ends_with("it's changed was left at 10 \\u{1b}[31m and was put back to 60"),
            "{one}"
        );
        assert!(
            two.ends_with("gone was left at  and could not be put back to 1"),
            "{two}"
        );
        assert_eq!(std::fs::read_to_string(&changed).unwrap(), "60\n");
        assert_eq!(
            std::fs::read_to_string(&same).unwrap(),
            "always [madvise] never\n"
        );
        assert_eq!(guard.check(&Local).unwrap().len(), 1);
    }

    #[test]
    fn what_a_host_says_beside_its_values_is_not_taken() {
        assert_eq!(
            lines(b"motd\n0 a\n3 b\n2 c d\nx 1\n", 2),
            [None, Some("c d".into())]
        );
        let held = Held {
            file: "/proc/sys/vm/x".into(),
            value: "1".into(),
        };
        assert_eq!(held.note(Some("lost 2")), None);
        assert_eq!(held.note(Some("back")), None);
    }
}
