//! Figures: one description, drawn as SVG, PNG or plain text for a mail.
//!
//! A [`Figure`] is made from plain vectors; nothing here reads records or computes comparisons.

mod ascii;
mod axis;
mod decimate;
mod draw;
mod font;
mod label;
mod page;
mod runs;
mod scene;
mod time_series;

use std::fmt;

use crate::error::Result;
use crate::series::PhaseSpan;
use crate::unit::Unit;

/// One trial's series of the metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The trial, such as `t01`.
    pub label: String,
    /// Its condition; lines of one condition share colour and mark.
    pub condition: String,
    /// Seconds, ascending.
    pub time_s: Vec<f64>,
    /// As many as `time_s`, in the figure's unit; NaN is a gap.
    pub values: Vec<f64>,
    /// The trial's phases, when known.
    pub phases: Vec<PhaseSpan>,
}

/// The runs of one condition, each with one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The condition.
    pub condition: String,
    /// One value a run, in the figure's unit.
    pub values: Vec<f64>,
}

/// A figure: what is drawn, not how. Cheap to make, owned, drawn by the `to_` methods.
#[derive(Clone, PartialEq)]
pub struct Figure {
    head: Head,
    unit: Unit,
    content: Content,
}

/// What every figure says beside its data; fit to be shown.
#[derive(Clone, PartialEq)]
struct Head {
    title: String,
    metric: String,
    notes: Vec<String>,
}

impl Head {
    fn new(title: &str, metric: &str) -> Head {
        Head {
            title: label::clean(title),
            metric: label::clean(metric),
            notes: Vec::new(),
        }
    }

    /// The title, or what the figure shows when it has none.
    fn title_or(&self, what: &str) -> String {
        match self.title.as_str() {
            "" => format!("{}{what}", self.metric),
            title => title.to_owned(),
        }
    }

    /// `memory.used, MiB`: the name of an axis.
    fn quantity(&self, unit: &Unit) -> String {
        match unit.symbol() {
            "" => self.metric.clone(),
            symbol => format!("{}, {symbol}", self.metric),
        }
    }
}

/// What the figure shows.
#[derive(Clone, PartialEq)]
enum Content {
    TimeSeries(Vec<Line>),
    Runs {
        groups: Vec<Group>,
        interval: Option<Interval>,
    },
}

/// A difference of means (second group minus first) with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    difference: f64,
    low: f64,
    high: f64,
}

impl Figure {
    /// All trials over time, conditions over-laid. `title` says the finding; it may be empty.
    pub fn time_series(
        title: impl Into<String>,
        metric: &str,
        unit: &Unit,
        lines: Vec<Line>,
    ) -> Figure {
        Figure {
            head: Head::new(&title.into(), metric),
            unit: unit.clone(),
            content: Content::TimeSeries(lines),
        }
    }

    /// Every run as a dot, one strip a condition, means marked. The first group is the reference.
    pub fn runs(title: impl Into<String>, metric: &str, unit: &Unit, groups: Vec<Group>) -> Figure {
        Figure {
            head: Head::new(&title.into(), metric),
            unit: unit.clone(),
            content: Content::Runs {
                groups,
                interval: None,
            },
        }
    }

    /// Adds the difference of means (second group minus first) and its 95 % interval `(low, high)`,
    /// on an own axis beside the runs. Of no effect on a time series.
    pub fn with_interval(mut self, difference: f64, interval: (f64, f64)) -> Figure {
        if let Content::Runs { interval: slot, .. } = &mut self.content {
            *slot = Some(Interval {
                difference,
                low: interval.0,
                high: interval.1,
            });
        }
        self
    }

    /// Adds a line below the figure: what a reader has to know of it.
    pub fn with_note(mut self, note: impl Into<String>) -> Figure {
        self.head.notes.push(label::clean(&note.into()));
        self
    }

    /// The figure as an SVG element that can stand alone or within HTML.
    ///
    /// # Errors
    /// When the drawing library fails.
    pub fn to_svg(&self) -> Result<String> {
        draw::svg(&self.scene())
    }

    /// The figure as a PNG file's bytes.
    ///
    /// # Errors
    /// When the drawing library fails.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        draw::png(&self.scene())
    }

    fn scene(&self) -> scene::Scene {
        let scene = match &self.content {
            Content::TimeSeries(lines) => time_series::scene::scene(&self.head, &self.unit, lines),
            Content::Runs { groups, interval } => {
                runs::scene::scene(&self.head, &self.unit, groups, *interval)
            }
        };
        scene.unwrap_or_else(|| page::empty(&self.head))
    }

    /// The figure in plain ASCII, no line longer than `width` columns (72 fits a mail).
    pub fn to_text(&self, width: usize) -> String {
        match &self.content {
            Content::TimeSeries(lines) => {
                time_series::text::text(&self.head, &self.unit, lines, width)
            }
            Content::Runs { groups, interval } => {
                runs::text::text(&self.head, &self.unit, groups, *interval, width)
            }
        }
    }
}

impl fmt::Debug for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, count, of) = match &self.content {
            Content::TimeSeries(lines) => ("time series", lines.len(), "trials"),
            Content::Runs { groups, .. } => (
                "runs",
                groups.iter().map(|group| group.values.len()).sum(),
                "runs",
            ),
        };
        write!(f, "Figure: {what} of {}, {count} {of}", self.head.metric)
    }
}
