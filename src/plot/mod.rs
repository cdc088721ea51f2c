//! Figures: one description, drawn as SVG, PNG or plain text for a mail.
//!
//! A [`Figure`] is made from plain vectors, or of a record by [`Record::figure`](crate::record::Record::figure),
//! or of a comparison by [`Comparison::figure`](crate::compare::Comparison::figure).

mod ascii;
mod axis;
mod comparison;
mod decimate;
mod draw;
mod font;
mod label;
mod page;
mod record;
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
    Stack(Vec<Figure>),
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

    /// Several figures, one below the other. Its own metric and notes are empty: each figure has its own.
    pub fn stacked(figures: Vec<Figure>) -> Figure {
        Figure {
            head: Head::new("", ""),
            unit: Unit::None,
            content: Content::Stack(figures),
        }
    }

    /// Adds the difference of means (second group minus first) and its 95 % interval `(low, high)`,
    /// on an own axis beside the runs. Only figures of runs have one.
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
            Content::Stack(figures) => {
                scene::Scene::stacked(figures.iter().map(Figure::scene).collect())
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
            Content::Stack(figures) => {
                let texts: Vec<String> = figures.iter().map(|f| f.to_text(width)).collect();
                texts.join("\n")
            }
        }
    }
}

impl fmt::Debug for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, count, of) = match &self.content {
            Content::Stack(figures) => return f.debug_list().entries(figures).finish(),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::scene::{Scene, Shape, WIDTH};
    use super::*;
    use crate::series::Phase;

    fn wave(label: &str, condition: &str, level: f64) -> Line {
        let time_s: Vec<f64> = (-50..350).map(|i| f64::from(i) / 10.0).collect();
        let values = time_s.iter().map(|t| level + 9000.0 * t.sin()).collect();
        let span = |phase, start_s, end_s| PhaseSpan {
            phase,
            start_s,
            end_s,
        };
        Line {
            label: label.into(),
            condition: condition.into(),
            time_s,
            values,
            phases: vec![
                span(Phase::Idle, -5.0, 0.0),
                span(Phase::Workload, 0.0, 30.0),
                span(Phase::Settle, 30.0, 35.0),
            ],
        }
    }

    fn group(condition: &str, values: &[f64]) -> Group {
        Group {
            condition: condition.into(),
            values: values.to_vec(),
        }
    }

    fn text_boxes(scene: &Scene) -> Vec<(&str, [i32; 4])> {
        let boxes = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Text {
                text,
                at,
                size,
                anchor,
                ..
            } => Some((text.as_str(), Shape::text_box(text, *at, *size, *anchor))),
            _ => None,
        });
        boxes.collect()
    }

    fn assert_no_text_is_cut(scene: &Scene) {
        for (text, [left, top, right, bottom]) in text_boxes(scene) {
            assert!(
                left >= 0 && top >= 0 && right <= WIDTH && bottom <= scene.height,
                "{text:?} leaves the figure: {left} {top} {right} {bottom}"
            );
        }
    }

    #[test]
    fn texts_neither_overlap_nor_leave_the_figure() {
        let long = "a finding in very many words ".repeat(12);
        let lines = ["before", "after", &"n".repeat(200)].map(|name| wave("t01", name, 4e5));
        let runs = vec![
            group("before", &[5.5, 5.9, 6.1]),
            group("after", &[4.5, 4.7, 4.9]),
        ];
        let figures = [
            Figure::time_series("short", "memory.used", &Unit::KiB, lines.to_vec()),
            Figure::time_series(&*long, "memory.used", &Unit::KiB, lines.to_vec())
                .with_note(&*long),
            Figure::runs(&*long, &long, &Unit::Second, runs.clone()),
            Figure::runs("", "settle", &Unit::Second, runs).with_interval(-1.1, (-1.6, -0.6)),
        ];
        for figure in figures.iter().chain([&Figure::stacked(figures.to_vec())]) {
            let scene = figure.scene();
            assert_no_text_is_cut(&scene);
            let boxes = text_boxes(&scene);
            for (i, (text, a)) in boxes.iter().enumerate() {
                for (other, b) in &boxes[i + 1..] {
                    let apart = a[2] <= b[0] || a[0] >= b[2] || a[3] <= b[1] || a[1] >= b[3];
                    assert!(apart, "{text:?} overlaps {other:?}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn debug_is_short() {
        let figure =
            Figure::time_series("t", "memory.used", &Unit::KiB, vec![wave("t01", "a", 1.0)]);
        assert_eq!(
            format!("{figure:?}"),
            "Figure: time series of memory.used, 1 trials"
        );
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => -1e6..1e6f64,
            1 => prop::num::f64::ANY,
            1 => Just(5.0),
            1 => Just(f64::NAN),
        ]
    }

    fn any_line() -> impl Strategy<Value = Line> {
        let numbers = || prop::collection::vec(number(), 0..40);
        let spans = prop::collection::vec((0..3usize, number(), number()), 0..4);
        (".{0,20}", "[a-c]", numbers(), numbers(), spans).prop_map(
            |(label, condition, time_s, values, spans)| Line {
                label,
                condition,
                time_s,
                values,
                phases: spans
                    .into_iter()
                    .map(|(phase, start_s, end_s)| PhaseSpan {
                        phase: [Phase::Idle, Phase::Workload, Phase::Settle][phase],
                        start_s,
                        end_s,
                    })
                    .collect(),
            },
        )
    }

    fn any_figure() -> impl Strategy<Value = Figure> {
        let head = || {
            (
                ".{0,80}",
                ".{0,30}",
                prop_oneof![Just(Unit::KiB), Just(Unit::None), Just(Unit::Second)],
            )
        };
        let lines = prop::collection::vec(any_line(), 0..5);
        let group = (".{0,30}", prop::collection::vec(number(), 0..30))
            .prop_map(|(condition, values)| Group { condition, values });
        let groups = prop::collection::vec(group, 0..5);
        let time_series = (head(), lines).prop_map(|((title, metric, unit), lines)| {
            Figure::time_series(title, &metric, &unit, lines)
        });
        let runs = (head(), groups, number(), number(), number()).prop_map(
            |((title, metric, unit), groups, difference, low, high)| {
                Figure::runs(title, &metric, &unit, groups).with_interval(difference, (low, high))
            },
        );
        prop_oneof![time_series, runs]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn anything_can_be_drawn(figure in any_figure(), width in 0..120usize) {
            assert_no_text_is_cut(&figure.scene());
            let svg = figure.to_svg().unwrap();
            prop_assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            let text = figure.to_text(width);
            for line in text.lines() {
                prop_assert!(line.len() <= width, "{line:?} is wider than {width}");
                prop_assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line:?}");
            }
        }
    }
}
