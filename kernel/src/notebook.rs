//! The notebook's file: nbformat 4, <https://nbformat.readthedocs.io/en/latest/format_description.html>.
//!
//! What this program does not know is kept as it is. Files are written the way Jupyter writes them
//! (sorted keys, one space of indentation, texts as lists of lines), so that a run changes outputs only.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Notebooks past this size are refused.
const MAX_BYTES: u64 = 256 << 20;

/// A notebook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Notebook {
    /// Cells in order.
    pub cells: Vec<Cell>,
    nbformat: u32,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A cell of any kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cell {
    cell_type: String,
    /// Its text.
    #[serde(with = "lines")]
    pub source: String,
    /// What it gave; only code cells have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<Output>>,
    /// How many cells the session had executed with it, or null; only code cells have it.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub execution_count: Option<Option<u64>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// One output of a code cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "output_type", rename_all = "snake_case")]
pub enum Output {
    /// Text on `stdout` or `stderr`.
    Stream {
        name: String,
        #[serde(with = "lines")]
        text: String,
    },
    /// Something that the cell showed, by media type.
    DisplayData {
        data: Bundle,
        metadata: Map<String, Value>,
    },
    /// The value of the cell's last expression, by media type.
    ExecuteResult {
        data: Bundle,
        execution_count: Option<u64>,
        metadata: Map<String, Value>,
    },
    /// How the cell failed.
    Error {
        ename: String,
        evalue: String,
        traceback: Vec<String>,
    },
}

/// One thing in several media types.
pub type Bundle = BTreeMap<String, Value>;

/// A text as it stands in a bundle: Jupyter splits text and SVG into lines, not base64.
pub fn bundle_text(media_type: &str, text: String) -> Value {
    if media_type.starts_with("text/") || media_type == "image/svg+xml" {
        text.split_inclusive('\n').map(Value::from).collect()
    } else {
        Value::from(text)
    }
}

impl Cell {
    /// Whether it is to be executed.
    pub fn is_code(&self) -> bool {
        self.cell_type == "code"
    }
}

impl Notebook {
    /// Reads a notebook.
    pub fn read(path: &Path) -> Result<Notebook> {
        let place = path.display();
        let file =
            File::open(path).with_context(|| format!("{place}: cannot open the notebook"))?;
        let mut text = String::new();
        file.take(MAX_BYTES + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("{place}: cannot read the notebook"))?;
        if text.len() as u64 > MAX_BYTES {
            bail!(
                "{place}: larger than {} MiB; clear its outputs first",
                MAX_BYTES >> 20
            );
        }
        let version: Value = serde_json::from_str(&text)
            .with_context(|| format!("{place}: not a notebook, which is JSON"))?;
        match version.get("nbformat").and_then(Value::as_u64) {
            Some(4) => {}
            Some(other) => bail!(
                "{place}: nbformat {other}; convert it to 4 with `jupyter nbconvert --to notebook`"
            ),
            None => bail!("{place}: not a notebook: it has no `nbformat`"),
        }
        serde_json::from_value(version).with_context(|| format!("{place}: not a valid notebook"))
    }

    /// Writes it whole: a reader sees the old file or the new one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut value = serde_json::to_value(self)?;
        value.sort_all_objects();
        let mut text = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b" ");
        value.serialize(&mut serde_json::Serializer::with_formatter(
            &mut text, format,
        ))?;
        text.push(b'\n');

        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".part");
        let written = File::create(&temporary)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| std::fs::rename(&temporary, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        written.with_context(|| format!("{}: cannot write the notebook", path.display()))
    }

    /// Where another notebook of the same cells has other outputs first.
    pub fn first_difference(&self, other: &Notebook) -> Option<Difference> {
        let pairs = self
            .cells
            .iter()
            .zip(&other.cells)
            .filter(|(a, _)| a.is_code());
        for (number, (a, b)) in pairs.enumerate() {
            let none = Vec::new();
            let (was, is) = (
                a.outputs.as_ref().unwrap_or(&none),
                b.outputs.as_ref().unwrap_or(&none),
            );
            for output in 0..was.len().max(is.len()) {
                let (was, is) = (was.get(output), is.get(output));
                if was.map(Output::compared) != is.map(Output::compared) {
                    return Some(Difference::new(number + 1, output + 1, was, is));
                }
            }
        }
        None
    }
}

impl Output {
    /// The output without its execution count, which says nothing of what the cell gave.
    fn compared(&self) -> Output {
        let mut output = self.clone();
        if let Output::ExecuteResult {
            execution_count, ..
        } = &mut output
        {
            *execution_count = None;
        }
        output
    }
}

/// The first place in which the outputs of two runs differ.
pub struct Difference {
    cell: usize,
    output: usize,
    was: String,
    is: String,
}

impl Difference {
    fn new(cell: usize, output: usize, was: Option<&Output>, is: Option<&Output>) -> Difference {
        let text = |output: Option<&Output>| match output {
            Some(output) => serde_json::to_string_pretty(&output.compared())
                .unwrap_or_else(|error| error.to_string()),
            None => "nothing".to_owned(),
        };
        let (was, is) = (text(was), text(is));
        let same = was
            .lines()
            .zip(is.lines())
            .take_while(|(a, b)| a == b)
            .count();
        let line = |text: &str| {
            let line = text.lines().nth(same).unwrap_or("nothing").trim();
            line.chars().take(200).collect()
        };
        Difference {
            cell,
            output,
            was: line(&was),
            is: line(&is),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "code cell {}, output {} differs\n  file: {}\n  now:  {}",
            self.cell, self.output, self.was, self.is
        )
    }
}

/// Keeps a null that is there apart from a field that is not.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// A text that files hold as one string or as a list of lines; always written as lines.
mod lines {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Text {
        Whole(String),
        Lines(Vec<String>),
    }

    pub fn serialize<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(text.split_inclusive('\n'))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        Ok(match Text::deserialize(from)? {
            Text::Whole(text) => text,
            Text::Lines(lines) => lines.concat(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Why\n",
    "é"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "a2",
   "metadata": {
    "tags": [
     "kept"
    ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\n"
     ]
    }
   ],
   "source": [
    "println!(\"1\")"
   ]
  }
 ],
 "metadata": {
  "anything": 1
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

    #[test]
    fn a_notebook_as_jupyter_writes_it_comes_back_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("n.ipynb");
        std::fs::write(&path, NOTEBOOK).unwrap();
        Notebook::read(&path).unwrap().write(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), NOTEBOOK);
    }

    #[test]
    fn what_is_no_notebook_is_said_to_be_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("n.ipynb");
        for (text, says) in [
            ("", "not a notebook, which is JSON"),
            ("[1]", "it has no `nbformat`"),
            (r#"{"nbformat":3}"#, "nbformat 3"),
            (r#"{"nbformat":4}"#, "not a valid notebook"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", Notebook::read(&path).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_first_differing_line_is_named() {
        let notebook: Notebook = serde_json::from_str(NOTEBOOK).unwrap();
        let mut other = notebook.clone();
        assert!(notebook.first_difference(&other).is_none());
        other.cells[1].outputs = Some(vec![Output::Stream {
            name: "stdout".into(),
            text: "2\n".into(),
        }]);
        let difference = notebook.first_difference(&other).unwrap().to_string();
        assert!(difference.contains("code cell 1, output 1"), "{difference}");
        assert!(difference.contains(r#"file: "1\n""#), "{difference}");
        assert!(difference.contains(r#"now:  "2\n""#), "{difference}");
    }
}
