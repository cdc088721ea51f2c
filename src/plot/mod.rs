//! Figures: one description, drawn as SVG, PNG or plain text for a mail.
//!
//! A [`Figure`] is made from plain vectors; nothing here reads records or computes comparisons.

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
    title: String,
    metric: String,
    unit: Unit,
    content: Content,
    notes: Vec<String>,
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
#[derive(Clone, Copy, PartialEq)]
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
            title: title.into(),
            metric: metric.into(),
            unit: unit.clone(),
            content: Content::TimeSeries(lines),
            notes: Vec::new(),
        }
    }

    /// Every run as a dot, one strip a condition, means marked. The first group is the reference.
    pub fn runs(title: impl Into<String>, metric: &str, unit: &Unit, groups: Vec<Group>) -> Figure {
        Figure {
            title: title.into(),
            metric: metric.into(),
            unit: unit.clone(),
            content: Content::Runs {
                groups,
                interval: None,
            },
            notes: Vec::new(),
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
        self.notes.push(note.into());
        self
    }

    /// The figure as an SVG element that can stand alone or within HTML.
    ///
    /// # Errors
    /// When the drawing library fails.
    pub fn to_svg(&self) -> Result<String> {
        Ok(String::new())
    }

    /// The figure as a PNG file's bytes.
    ///
    /// # Errors
    /// When the drawing library fails.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// The figure in plain ASCII, no line longer than `width` columns (72 fits a mail).
    pub fn to_text(&self, _width: usize) -> String {
        String::new()
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
        write!(f, "Figure: {what} of {}, {count} {of}", self.metric)
    }
}
