//! Where every key and value of a YAML text stands, and what YAML allows that an experiment does not.
//!
//! `serde_yaml` gives the values but forgets their places; errors about meaning need them.

use std::path::Path;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use crate::ascii;
use crate::error::{Error, Result};
use crate::experiment::words::shown;

/// The largest experiment file.
pub(super) const MAX_BYTES: u64 = 256 * 1024;
/// The deepest nesting; an experiment needs 3.
const MAX_DEPTH: usize = 8;

/// A place in the text; both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
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

/// A value and where it begins.
#[derive(Debug)]
pub(super) struct Node {
    pub at: Spot,
    pub content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Text {
        value: String,
        /// Not quoted, not a block.
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key, where it begins, and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_at: Spot,
    pub value: Node,
}

impl Node {
    /// The entry of a key, when this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The element of a list, when this is a list that has it.
    pub fn element(&self, index: &str) -> Option<&Node> {
        match &self.content {
            Content::List(elements) => elements.get(index.parse::<usize>().ok()?),
            _ => None,
        }
    }
}

/// The text without a byte order mark.
pub(super) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads the outline of a text without a byte order mark.
///
/// # Errors
/// `Input` for what is not YAML, and for anchors, aliases, tags, several documents, double keys,
/// keys that are not text, deep nesting and large files.
pub(super) fn outline(text: &str, file: &Path) -> Result<Node> {
    check_size(text.len(), file)?;
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        file,
    };
    reader.document()
}

/// Refuses what is too large to be an experiment.
pub(super) fn check_size(bytes: usize, file: &Path) -> Result<()> {
    if bytes as u64 <= MAX_BYTES {
        return Ok(());
    }
    let limit = MAX_BYTES / 1024;
    Err(Error::input(format!("the file has more than {limit} KiB"))
        .at_line_column(file, 1, 1)
        .next("give the experiment's YAML file, not its data"))
}

struct Reader<'a, P> {
    parser: P,
    file: &'a Path,
}

impl<'a, P> Reader<'a, P>
where
    P: Iterator<Item = Result<(Event<'a>, Span), ScanError>>,
{
    fn document(&mut self) -> Result<Node> {
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => {
                    return Err(self
                        .error(Spot { line: 1, column: 1 }, "the file is empty")
                        .next("docs/experiment.md has an experiment to start from"));
                }
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                event => {
                    let root = self.node(event, span, 0)?;
                    self.end()?;
                    return Ok(root);
                }
            }
        }
    }

    /// Nothing may come after the first document.
    fn end(&mut self) -> Result<()> {
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::DocumentStart(_) => {
                    return Err(self
                        .error(span.into(), "a second YAML document begins")
                        .next("keep one experiment a file"));
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node> {
        let at = Spot::from(span);
        if depth > MAX_DEPTH {
            return Err(self.error(at, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(anchor, tag)
            | Event::MappingStart(anchor, tag) => (*anchor, tag.is_some()),
            Event::Alias(id) => (*id, false),
            _ => (0, false),
        };
        if anchor != 0 {
            return Err(self.anchor(at));
        }
        if tag {
            return Err(self
                .error(at, "YAML tags are not used in experiments")
                .next("remove the word that begins with `!`; quote a text that begins with it"));
        }
        let content = match event {
            Event::Scalar(value, style, ..) => Content::Text {
                value: value.into_owned(),
                plain: style == ScalarStyle::Plain,
            },
            Event::SequenceStart(..) => Content::List(self.list(depth)?),
            Event::MappingStart(..) => Content::Map(self.map(depth)?),
            _ => return Err(self.error(at, "a value is missing")),
        };
        Ok(Node { at, content })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(elements),
                (event, span) => elements.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key_node = self.node(event, span, depth + 1)?;
            let Content::Text { value: key, .. } = key_node.content else {
                return Err(self.error(key_node.at, "a key must be a word"));
            };
            if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let message = format!(
                    "key {} stands twice, first on line {}",
                    shown(&key),
                    first.key_at.line
                );
                return Err(self.error(key_node.at, message).next("keep one of them"));
            }
            let (event, span) = self.next()?;
            entries.push(Entry {
                key,
                key_at: key_node.at,
                value: self.node(event, span, depth + 1)?,
            });
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span)> {
        match self.parser.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let at = Spot {
                    line: error.marker().line(),
                    column: error.marker().col() + 1,
                };
                Err(self.not_yaml(at, error.info()))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn not_yaml(&self, at: Spot, info: &str) -> Error {
        if info.contains("unknown anchor") {
            return self.anchor(at);
        }
        let error = self.error(at, format!("not YAML: {}", ascii::escaped(info)));
        if info.contains("tab") {
            return error.next("indent with spaces; YAML takes no tabs there");
        }
        error.next("check the indentation, quotes and brackets on and above this line")
    }

    fn anchor(&self, at: Spot) -> Error {
        self.error(at, "YAML anchors and aliases are not used in experiments")
            .next("write the value out, or share settings between files with `extends`")
    }

    fn error(&self, at: Spot, message: impl Into<String>) -> Error {
        Error::input(message).at_line_column(self.file, at.line, at.column)
    }
}
