//! What YAML allows that no file of ktrial does, in one place: checked before anything else reads the text.
//!
//! `serde_yaml` expands aliases and follows any nesting, so a small file could take all memory and time.

use std::path::Path;

use saphyr_parser::{Event, Parser, Span, StrInput};

use crate::ascii;
use crate::error::{Error, Result};

/// The deepest nesting; the deepest file, a manifest, needs 4.
const MAX_DEPTH: usize = 8;

/// What a YAML file is for; decides how large it may be and how messages call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Experiment,
    Manifest,
    /// What `ktrial import --about` is given.
    About,
}

impl Purpose {
    /// The largest file. A manifest of 10000 trials has about 10 MiB.
    pub fn max_bytes(self) -> u64 {
        match self {
            Purpose::Experiment => 256 << 10,
            Purpose::Manifest => 32 << 20,
            Purpose::About => 1 << 20,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Purpose::Experiment => "experiments",
            Purpose::Manifest => "manifests",
            Purpose::About => "files of --about",
        }
    }

    fn when_empty(self) -> &'static str {
        match self {
            Purpose::Experiment => "docs/experiment.md has an experiment to start from",
            Purpose::Manifest | Purpose::About => "docs/record.md lists the keys",
        }
    }

    fn instead_of_anchors(self) -> &'static str {
        match self {
            Purpose::Experiment => {
                "write the value out, or share settings between files with `extends`"
            }
            Purpose::Manifest | Purpose::About => "write the value out",
        }
    }

    fn when_several(self) -> &'static str {
        match self {
            Purpose::Experiment => "keep one experiment a file",
            Purpose::Manifest | Purpose::About => "keep the first one only",
        }
    }

    fn when_large(self) -> &'static str {
        match self {
            Purpose::Experiment => "give the experiment's YAML file, not its data",
            Purpose::Manifest => "`ktrial run` and `ktrial import` write smaller manifests",
            Purpose::About => "give the file that says what the mail does not, not its data",
        }
    }
}

/// A place in the text; both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub line: usize,
    pub column: usize,
}

impl From<Span> for Spot {
    fn from(span: Span) -> Self {
        Spot {
            line: span.start.line(),
            column: span.start.col() + 1,
        }
    }
}

/// The text without a byte order mark.
pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Refuses what is too large for its purpose.
pub(crate) fn check_size(bytes: usize, file: &Path, purpose: Purpose) -> Result<()> {
    if bytes as u64 <= purpose.max_bytes() {
        return Ok(());
    }
    Err(too_large(file, purpose))
}

/// The error for a file past [`Purpose::max_bytes`].
pub(crate) fn too_large(file: &Path, purpose: Purpose) -> Error {
    let limit = purpose.max_bytes() / 1024;
    Error::input(format!("the file has more than {limit} KiB"))
        .at_line_column(file, 1, 1)
        .next(purpose.when_large())
}

/// Checks a whole text without keeping it.
///
/// # Errors
/// As [`Events::next`], and for a text that holds nothing.
pub(crate) fn check(text: &str, file: &Path, purpose: Purpose) -> Result<()> {
    check_size(text.len(), file, purpose)?;
    let mut events = Events::new(text, file, purpose);
    let mut empty = true;
    loop {
        match events.next()? {
            (Event::StreamEnd, _) if empty => return Err(events.empty()),
            (Event::StreamEnd, _) => return Ok(()),
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            _ => empty = false,
        }
    }
}

/// The events of a text of one document without anchors, aliases, tags and deep nesting.
pub(crate) struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
    file: &'a Path,
    purpose: Purpose,
    depth: usize,
    documents: usize,
}

impl<'a> Events<'a> {
    /// The events of a text without a byte order mark.
    pub fn new(text: &'a str, file: &'a Path, purpose: Purpose) -> Events<'a> {
        Events {
            parser: Parser::new_from_str(text),
            file,
            purpose,
            depth: 0,
            documents: 0,
        }
    }

    /// The next event; the stream's end again and again once it is reached.
    ///
    /// # Errors
    /// `Input` with the place for what is not YAML, anchors, aliases, tags, a second document and deep nesting.
    pub fn next(&mut self) -> Result<(Event<'a>, Span)> {
        let (event, span) = match self.parser.next() {
            Some(Ok(event)) => event,
            Some(Err(error)) => {
                let at = Spot {
                    line: error.marker().line(),
                    column: error.marker().col() + 1,
                };
                return Err(self.not_yaml(at, error.info()));
            }
            None => (Event::StreamEnd, Span::default()),
        };
        self.allow(&event, span.into())?;
        Ok((event, span))
    }

    fn allow(&mut self, event: &Event<'a>, at: Spot) -> Result<()> {
        match event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(anchor, tag)
            | Event::MappingStart(anchor, tag) => {
                if self.depth > MAX_DEPTH {
                    return Err(self.deep(at));
                }
                if *anchor != 0 {
                    return Err(self.anchor(at));
                }
                if tag.is_some() {
                    let said = format!("YAML tags are not used in {}", self.purpose.plural());
                    return Err(self.error(at, said).next(
                        "remove the word that begins with `!`; quote a text that begins with it",
                    ));
                }
            }
            Event::Alias(_) => return Err(self.anchor(at)),
            Event::DocumentStart(_) if self.documents > 0 => {
                return Err(self
                    .error(at, "a second YAML document begins")
                    .next(self.purpose.when_several()));
            }
            _ => {}
        }
        match event {
            Event::DocumentStart(_) => self.documents += 1,
            Event::SequenceStart(..) | Event::MappingStart(..) => self.depth += 1,
            Event::SequenceEnd | Event::MappingEnd => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Ok(())
    }

    /// The error for a text that holds nothing.
    pub fn empty(&self) -> Error {
        self.error(Spot { line: 1, column: 1 }, "the file is empty")
            .next(self.purpose.when_empty())
    }

    fn not_yaml(&self, at: Spot, info: &str) -> Error {
        if info.contains("unknown anchor") {
            return self.anchor(at);
        }
        // The scanner looks ahead and has a limit of its own, which it may reach first.
        if info.contains("recursion limit") {
            return self.deep(at);
        }
        let error = self.error(at, format!("not YAML: {}", ascii::escaped(info)));
        if info.contains("tab") {
            return error.next("indent with spaces; YAML takes no tabs there");
        }
        error.next("check the indentation, quotes and brackets on and above this line")
    }

    fn deep(&self, at: Spot) -> Error {
        self.error(at, format!("nested deeper than {MAX_DEPTH} levels"))
    }

    fn anchor(&self, at: Spot) -> Error {
        let said = format!(
            "YAML anchors and aliases are not used in {}",
            self.purpose.plural()
        );
        self.error(at, said).next(self.purpose.instead_of_anchors())
    }

    /// An error at a place of this text.
    pub fn error(&self, at: Spot, message: impl Into<String>) -> Error {
        Error::input(message).at_line_column(self.file, at.line, at.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let file = Path::new("manifest.yaml");
        check(text, file, Purpose::Manifest)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn plain_yaml_passes() {
        let text = "a: [1, {b: c}]\nd: '!quoted & *quoted'\n";
        check(text, Path::new("manifest.yaml"), Purpose::Manifest).unwrap();
    }

    #[test]
    fn what_could_grow_without_end_is_refused_with_its_place() {
        for (text, expected) in [
            ("a: &x 1\n", "1:4: YAML anchors and aliases"),
            ("a: *x\n", "YAML anchors and aliases"),
            ("a: !!str 1\n", "YAML tags are not used in manifests"),
            ("a: 1\n---\nb: 2\n", "a second YAML document"),
            ("", "the file is empty"),
        ] {
            let error = error(text);
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        for open in ["[", "a: {", "- "] {
            let error = error(&open.repeat(100_000));
            assert!(error.contains("nested deeper than 8"), "{open}: {error}");
        }
    }
}
