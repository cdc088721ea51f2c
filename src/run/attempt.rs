//! Trials that are run again: a new attempt takes the place of the earlier one, whose files are kept.

use crate::record::{State, Trial};

/// Begins the trial, with a new attempt when there was one before. What that one received stays in its folder; a note
/// says where, and its own notes stay, marked as its.
pub(super) fn begin(trial: &mut Trial) {
    if trial.state != State::NotRun {
        let mut notes: Vec<String> = trial
            .notes
            .drain(..)
            .map(|note| match is_of_an_attempt(&note) {
                true => note,
                false => format!("attempt {}: {note}", trial.attempt),
            })
            .collect();
        notes.push(ended(trial));
        *trial = Trial {
            cell: std::mem::take(&mut trial.cell),
            host: trial.host.take(),
            attempt: trial.attempt.saturating_add(1),
            notes,
            ..Trial::new(&trial.id, &trial.condition)
        };
    }
    trial.state = State::Running;
    trial.reason = None;
}

/// Begins to receive the trial anew, in a new attempt's folder: of what came before something is damaged.
pub(super) fn receive_anew(trial: &mut Trial) {
    let (on_host, boot_id) = (trial.on_host.take(), trial.boot_id.take());
    let (kernel, cmdline) = (trial.kernel.take(), trial.cmdline.take());
    trial.reason = Some("its files did not come whole, and are fetched anew".to_owned());
    begin(trial);
    trial.on_host = on_host;
    trial.boot_id = boot_id;
    trial.kernel = kernel;
    trial.cmdline = cmdline;
}

/// The folder of the trial's raw files, within the record: of the first attempt `raw/t01`, of the second `raw/t01.2`.
pub(super) fn folder(trial: &Trial) -> String {
    match trial.attempt {
        1 => format!("raw/{}", trial.id),
        attempt => format!("raw/{}.{attempt}", trial.id),
    }
}

fn is_of_an_attempt(note: &str) -> bool {
    let rest = note.strip_prefix("attempt ");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// What became of an attempt that is over.
fn ended(trial: &Trial) -> String {
    let fate = match trial.state {
        State::Failed => "failed",
        _ => "was interrupted",
    };
    let reason = match &trial.reason {
        Some(reason) => format!(" ({reason})"),
        None => String::new(),
    };
    let files = match trial.raw.is_empty() {
        true => "it left no files".to_owned(),
        false => format!("its files are in {}", folder(trial)),
    };
    format!("attempt {} {fate}{reason}: {files}", trial.attempt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RawFile;

    #[test]
    fn the_first_attempt_is_nothing_to_speak_of() {
        let mut trial = Trial::new("t03", "before");
        trial.reason = Some("the run was ended before".into());
        begin(&mut trial);
        let expected = Trial {
            state: State::Running,
            ..Trial::new("t03", "before")
        };
        assert_eq!(trial, expected);
        assert_eq!(folder(&trial), "raw/t03");
    }

    #[test]
    fn each_attempt_has_its_folder_and_its_notes() {
        let mut trial = Trial::new("t03", "before");
        trial.cell.insert("config".into(), "debug".into());
        trial.host = Some("alpha".into());
        begin(&mut trial);
        trial.boot_id = Some("b".into());
        trial.notes.push("monitor free said: no".into());
        trial.raw.push(RawFile {
            monitor: "free".into(),
            path: "raw/t03/free.txt".into(),
        });
        trial.state = State::Failed;
        trial.reason = Some("exit code 7".into());
        begin(&mut trial);
        assert_eq!(folder(&trial), "raw/t03.2");
        assert!(trial.raw.is_empty() && trial.boot_id.is_none() && trial.reason.is_none());
        assert_eq!(trial.host.as_deref(), Some("alpha"));
        assert_eq!(trial.cell["config"], "debug");
        trial.state = State::Interrupted;
        begin(&mut trial);
        assert_eq!(folder(&trial), "raw/t03.3");
        assert_eq!(
            trial.notes,
            [
                "attempt 1: monitor free said: no",
                "attempt 1 failed (exit code 7): its files are in raw/t03",
                "attempt 2 was interrupted: it left no files"
            ]
        );
    }
}
