//! Where every key and value of a YAML text stands.
//!
//! `serde_yaml` gives the values but forgets their places; errors about meaning need them.

use std::path::Path;

use saphyr_parser::{Event, ScalarStyle, Span};

use crate::error::Result;
use crate::experiment::words::shown;
use crate::yaml::{self, Events, Purpose, Spot};

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

/// Reads the outline of a text without a byte order mark.
///
/// # Errors
/// `Input` for what [`crate::yaml`] refuses, double keys and keys that are not text.
pub(super) fn outline(text: &str, file: &Path) -> Result<Node> {
    yaml::check_size(text.len(), file, Purpose::Experiment)?;
    let mut reader = Reader {
        events: Events::new(text, file, Purpose::Experiment),
    };
    reader.document()
}

struct Reader<'a> {
    events: Events<'a>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node> {
        loop {
            let (event, span) = self.events.next()?;
            match event {
                Event::StreamEnd => return Err(self.events.empty()),
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                event => {
                    let root = self.node(event, span)?;
                    while self.events.next()?.0 != Event::StreamEnd {}
                    return Ok(root);
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node> {
        let at = Spot::from(span);
        let content = match event {
            Event::Scalar(value, style, ..) => Content::Text {
                value: value.into_owned(),
                plain: style == ScalarStyle::Plain,
            },
            Event::SequenceStart(..) => Content::List(self.list()?),
            Event::MappingStart(..) => Content::Map(self.map()?),
            _ => return Err(self.events.error(at, "a value is missing")),
        };
        Ok(Node { at, content })
    }

    fn list(&mut self) -> Result<Vec<Node>> {
        let mut elements = Vec::new();
        loop {
            match self.events.next()? {
                (Event::SequenceEnd, _) => return Ok(elements),
                (event, span) => elements.push(self.node(event, span)?),
            }
        }
    }

    fn map(&mut self) -> Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, span) = self.events.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key_node = self.node(event, span)?;
            let Content::Text { value: key, .. } = key_node.content else {
                return Err(self.events.error(key_node.at, "a key must be a word"));
            };
            if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let message = format!(
                    "key {} stands twice, first on line {}",
                    shown(&key),
                    first.key_at.line
                );
                return Err(self
                    .events
                    .error(key_node.at, message)
                    .next("keep one of them"));
            }
            let (event, span) = self.events.next()?;
            entries.push(Entry {
                key,
                key_at: key_node.at,
                value: self.node(event, span)?,
            });
        }
    }
}
