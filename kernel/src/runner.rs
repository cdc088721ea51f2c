//! Runs a notebook's cells in order and keeps what they gave as the notebook's outputs.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use evcxr::Error;
use serde_json::Map;

use crate::compile_error;
use crate::notebook::{Bundle, Notebook, Output, bundle_text};
use crate::relay::Message;
use crate::session::{Executed, Session};

/// Text of one cell past this size is cut.
const MAX_TEXT: usize = 1 << 20;

/// Between the thread and the place in what Rust prints of a panic.
const PANICKED: &str = " panicked at ";

/// Runs notebooks of one folder.
pub struct Runner {
    session: Session,
}

impl Runner {
    /// Starts a session for the notebook at this path.
    pub fn start(notebook: &Path, timeout: Option<Duration>) -> Result<Runner> {
        let folder = match notebook.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let session = Session::start(folder, timeout)?;
        Ok(Runner { session })
    }

    /// Runs every code cell; stops at the first one that fails and returns what failed.
    /// The cells after it have no outputs then.
    pub fn run(&mut self, notebook: &mut Notebook) -> Result<Option<String>> {
        let mut cells: Vec<_> = notebook
            .cells
            .iter_mut()
            .filter(|cell| cell.is_code())
            .collect();
        for cell in &mut cells {
            cell.outputs = Some(Vec::new());
            cell.execution_count = Some(None);
        }
        let total = cells.len();
        let mut count = 0;
        for (index, cell) in cells.into_iter().enumerate() {
            let number = index + 1;
            let code = &cell.source;
            let Some(first_line) = code.lines().find(|line| !line.trim().is_empty()) else {
                continue;
            };
            let first_line: String = first_line.chars().take(60).collect();
            eprintln!("cell {number} of {total}: {}", first_line.escape_debug());
            count += 1;
            let outputs = outputs(self.session.execute(code), code, count);
            let failure = outputs.iter().find_map(|output| match output {
                Output::Error { ename, evalue, .. } => {
                    Some(format!("code cell {number} failed: {ename}: {evalue}"))
                }
                _ => None,
            });
            cell.outputs = Some(outputs);
            cell.execution_count = Some(Some(count));
            if failure.is_some() {
                return Ok(failure);
            }
        }
        Ok(None)
    }
}

/// The outputs of an executed cell: standard output and displays in order, standard error, the error.
///
/// The order of standard error among the others is a matter of chance, so it comes after them;
/// that of a cell that fails is the error's text.
fn outputs(executed: Executed, code: &str, count: u64) -> Vec<Output> {
    let mut outputs = Vec::new();
    let mut stderr = String::new();
    let mut failure = None;
    for message in executed.messages {
        match message {
            Message::Stdout(text) => append_stdout(&mut outputs, &text),
            Message::Stderr(text) => append(&mut stderr, &text),
            Message::Show(bundle) => outputs.extend(display(bundle)),
            Message::Panicked => failure = Some(("Panic", None)),
            Message::Failed => failure = Some(("Error", None)),
            Message::TimedOut(seconds) => {
                let what = format!("the cell ran for longer than {seconds} s and was ended");
                failure = Some(("Timeout", Some(what)));
            }
            Message::Ended(how) if failure.is_none() => failure = Some(("Ended", Some(how))),
            Message::Ended(_) => {}
        }
    }
    let stderr = clean_stderr(&stderr);
    let error = match (failure, executed.result) {
        (Some((name, what)), _) => {
            let what = what.unwrap_or_else(|| panic_message(&stderr).to_owned());
            Some(error(name, what, &stderr))
        }
        (None, Err(Error::CompilationErrors(errors))) => {
            let texts: Vec<_> = errors
                .iter()
                .map(|e| compile_error::describe(e, code))
                .collect();
            let first = errors.first().map(|e| e.message()).unwrap_or_default();
            Some(error("CompilationError", first, &texts.join("\n")))
        }
        (None, Err(other)) => Some(error("EvaluationError", other.to_string(), &stderr)),
        (None, Ok(commands)) => {
            outputs.extend(display(commands.content_by_mime_type.into_iter().collect()));
            None
        }
    };
    if error.is_none() {
        make_last_display_the_result(&mut outputs, code, count);
        if !stderr.is_empty() {
            outputs.push(Output::Stream {
                name: "stderr".into(),
                text: stderr,
            });
        }
    }
    outputs.extend(error);
    outputs
}

fn append_stdout(outputs: &mut Vec<Output>, more: &str) {
    match outputs.last_mut() {
        Some(Output::Stream { text, .. }) => append(text, more),
        _ => outputs.push(Output::Stream {
            name: "stdout".into(),
            text: more.to_owned(),
        }),
    }
}

fn append(text: &mut String, more: &str) {
    const CUT: &str = "\n[the rest is cut: more than 1 MiB]\n";
    if text.len() + more.len() <= MAX_TEXT {
        text.push_str(more);
    } else if !text.ends_with(CUT) {
        text.push_str(CUT);
    }
}

/// None for the text that evcxr shows for the value `()`.
fn display(bundle: std::collections::BTreeMap<String, String>) -> Option<Output> {
    if bundle.is_empty()
        || (bundle.len() == 1 && bundle.get("text/plain").is_some_and(|text| text == "()"))
    {
        return None;
    }
    let data: Bundle = bundle
        .into_iter()
        .map(|(media_type, text)| {
            let text = bundle_text(&media_type, text);
            (media_type, text)
        })
        .collect();
    Some(Output::DisplayData {
        data,
        metadata: Map::new(),
    })
}

/// evcxr shows the value of an expression that ends a cell, like anything else.
fn make_last_display_the_result(outputs: &mut [Output], code: &str, count: u64) {
    if code.trim_end().ends_with([';', '}']) {
        return;
    }
    if let Some(last) = outputs.last_mut()
        && let Output::DisplayData { data, .. } = last
    {
        *last = Output::ExecuteResult {
            data: std::mem::take(data),
            execution_count: Some(count),
            metadata: Map::new(),
        };
    }
}

fn error(name: &str, value: String, text: &str) -> Output {
    let traceback = if text.is_empty() { &value } else { text };
    Output::Error {
        ename: name.to_owned(),
        traceback: traceback.lines().map(str::to_owned).collect(),
        evalue: value,
    }
}

/// Without what differs from run to run (a panic's thread number, its line in the code that evcxr generates)
/// or has no use here (the advice to set an environment variable).
fn clean_stderr(text: &str) -> String {
    let mut clean = String::new();
    for line in text.trim_start_matches('\n').split_inclusive('\n') {
        if line.starts_with("note: run with `RUST_BACKTRACE=1`") {
            continue;
        }
        match line.split_once(PANICKED) {
            Some((thread, place)) if thread.starts_with("thread '") => {
                let name = thread.rfind(" (").map_or(thread, |end| &thread[..end]);
                let place = if place.starts_with("cell/src/lib.rs:") {
                    "this cell:\n"
                } else {
                    place
                };
                clean.push_str(&format!("{name}{PANICKED}{place}"));
            }
            _ => clean.push_str(line),
        }
    }
    clean
}

/// What a panic says, without its place; the whole text of anything else.
fn panic_message(stderr: &str) -> &str {
    match stderr.rfind(PANICKED).map(|start| &stderr[start..]) {
        Some(panic) => panic
            .split_once('\n')
            .map_or("", |(_, message)| message)
            .trim(),
        None => stderr.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_reads_the_same_in_every_run() {
        let stderr = "\nthread 'main' (4711) panicked at cell/src/lib.rs:9:1:\nno (such) file\n\
                      note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let clean = clean_stderr(stderr);
        assert_eq!(
            clean,
            "thread 'main' panicked at this cell:\nno (such) file\n"
        );
        assert_eq!(panic_message(&clean), "no (such) file");
    }

    #[test]
    fn endless_text_is_cut_and_says_so() {
        let mut text = String::new();
        for _ in 0..3000 {
            append(&mut text, &"x".repeat(1000));
        }
        assert!(text.len() < MAX_TEXT + 100);
        assert_eq!(text.matches("the rest is cut").count(), 1);
    }
}
