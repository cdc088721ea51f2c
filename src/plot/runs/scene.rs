//! Runs laid out for SVG and PNG.
//!
//! With an interval it is an estimation plot: the difference has its own axis at the right, in the same scale,
//! with its zero at the first condition's mean (Gardner and Altman, BMJ 1986; Ho et al., Nature Methods 2019).

use std::collections::HashMap;

use super::{Difference, Runs, Strip};
use crate::plot::axis::{Axis, widened};
use crate::plot::font::{self, SMALL, TEXT};
use crate::plot::page::{Frame, Page};
use crate::plot::scene::{Anchor, Color, MARGIN, Scene, Shape, Symbol, look};
use crate::plot::{Group, Head, Interval};
use crate::unit::Unit;

const HEIGHT: i32 = 600;
const RADIUS: i32 = 9;

/// Least room at the right, without and with the axis of the difference.
const RIGHT: i32 = 48;
const RIGHT_WITH_AXIS: i32 = 190;

/// From the axis of the difference to its numbers.
const LABEL_GAP: i32 = 16;

/// Strips drawn at most; more do not fit with names that can be read.
const STRIPS: usize = 24;

/// Lays it out, or none when there is no value.
pub(in crate::plot) fn scene(
    head: &Head,
    unit: &Unit,
    groups: &[Group],
    interval: Option<Interval>,
) -> Option<Scene> {
    let runs = Runs::new(unit, groups, interval)?;
    let mut page = Page::new(&head.title_or(": every run"), runs.description(head));
    if let Some(difference) = &runs.difference {
        page.note(&runs.said_difference(difference));
    }
    let (low, high) = range(&runs);
    let values = Axis::new(low, high, 7);
    let differences = runs.difference.as_ref();
    let differences = differences.map(|difference| difference_axis(&runs, &values, difference));
    let right = match &differences {
        None => RIGHT,
        Some(axis) => {
            let labels = axis.ticks.iter().map(|tick| font::width(&tick.label, TEXT));
            RIGHT_WITH_AXIS.max(labels.max().unwrap_or(0) + LABEL_GAP + MARGIN)
        }
    };
    let frame = page.frame(&head.quantity(&runs.scale.unit), &values, HEIGHT, right);
    page.axis_lines(frame);

    let strips = &runs.strips[..runs.strips.len().min(STRIPS)];
    let slots = strips.len() + usize::from(runs.difference.is_some());
    let slot = (frame.right - frame.left) / slots.max(1) as i32;
    if let Some(difference) = &runs.difference {
        let zero = frame.y(&values, difference.reference * runs.scale.factor);
        for x in (frame.left..frame.right).step_by(24) {
            let dash = vec![(x, zero), ((x + 12).min(frame.right), zero)];
            page.scene.path(dash, 2, Color::GREY.faded(0.7));
        }
    }
    let names: Vec<String> = strips.iter().map(|strip| strip.name.clone()).collect();
    let room = (slot - 16).max(MARGIN);
    let shown = font::shorten_apart(&names, TEXT, room);
    let canvas = |i: usize| Canvas {
        runs: &runs,
        frame,
        values: &values,
        middle: frame.left + slot * i as i32 + slot / 2,
        slot,
    };
    let mut hidden = 0;
    for (i, strip) in strips.iter().enumerate() {
        hidden += canvas(i).strip(&mut page.scene, strip, i, &shown[i]);
    }
    if let (Some(difference), Some(axis)) = (&runs.difference, &differences) {
        let half = (room - font::width(" - ", TEXT)) / 2;
        let name = match font::shorten_apart(&names, TEXT, half).as_slice() {
            // Only what does not fit whole is cut.
            [first, second, ..] if font::width(&difference.name, TEXT) > room => {
                format!("{second} - {first}")
            }
            _ => difference.name.clone(),
        };
        canvas(strips.len()).difference(&mut page.scene, difference, axis, &name);
    }
    page.y = frame.bottom + 100;
    page.note("Each mark is a run; bars are means.");
    if hidden > 0 {
        page.note(&format!(
            "{hidden} runs are not drawn, because they coincide with others."
        ));
    }
    if runs.strips.len() > STRIPS {
        page.note(&format!(
            "and {} more conditions",
            runs.strips.len() - STRIPS
        ));
    }
    for note in &head.notes {
        page.note(note);
    }
    Some(page.end())
}

/// The range of the vertical axis, in the shown unit: values, and the interval where zero is the first mean.
fn range(runs: &Runs) -> (f64, f64) {
    let (mut low, mut high) = runs.values;
    if let Some(Difference {
        reference,
        interval,
        ..
    }) = &runs.difference
    {
        low = low.min(reference + interval.low);
        high = high.max(reference + interval.high);
    }
    widened((low * runs.scale.factor, high * runs.scale.factor), 0.06)
}

/// The axis of the difference: the scale of the values, zero at the first mean, signs on its numbers.
fn difference_axis(runs: &Runs, values: &Axis, difference: &Difference) -> Axis {
    let start = difference.reference * runs.scale.factor;
    let mut axis = Axis::new(values.low - start, values.high - start, 7);
    for tick in &mut axis.ticks {
        if tick.at > 0.0 && tick.label != "0" {
            tick.label.insert(0, '+');
        }
    }
    axis
}

/// One slot of the figure.
struct Canvas<'a> {
    runs: &'a Runs,
    frame: Frame,
    values: &'a Axis,
    middle: i32,
    slot: i32,
}

impl Canvas<'_> {
    fn y(&self, value: f64) -> i32 {
        self.frame.y(self.values, value * self.runs.scale.factor)
    }

    /// Draws a strip; gives how many runs had no room.
    fn strip(&self, scene: &mut Scene, strip: &Strip, index: usize, name: &str) -> usize {
        let (color, symbol) = look(index);
        let half = self.slot / 4;
        let mean = self.y(strip.mean);
        let bar = vec![(self.middle - half, mean), (self.middle + half, mean)];
        scene.path(bar, 4, Color::BLACK);
        let (number, room) = (self.runs.mean(strip), self.slot / 4 - 10);
        // The axis has the unit too.
        let number = match font::shorten(&number, SMALL, room) {
            short if short == number => number,
            _ => {
                let bare = number.split(' ').next().unwrap_or_default();
                font::shorten(bare, SMALL, room)
            }
        };
        let at = (self.middle + half + 8, mean);
        let [left, top, right, bottom] = Shape::text_box(&number, at, SMALL, Anchor::Left);
        scene.rect((left - 4, top), (right, bottom), Color::WHITE);
        scene.text(&number, at, SMALL, Anchor::Left, Color::BLACK);
        // Runs of about the same height stand beside each other, round the middle.
        let room = (self.slot * 2 / 5 / (2 * RADIUS)).max(1) as usize;
        let mut beside: HashMap<i32, usize> = HashMap::new();
        let mut hidden = 0;
        for &value in &strip.values {
            let y = self.y(value);
            let count = beside.entry(y / (2 * RADIUS)).or_default();
            if *count >= room {
                hidden += 1;
                continue;
            }
            let side = if count.is_multiple_of(2) { 1 } else { -1 };
            let steps = side * (*count as i32 + 1) / 2;
            *count += 1;
            let at = (self.middle + steps * (2 * RADIUS + 2), y);
            scene.mark(symbol, at, RADIUS, color.faded(0.75));
        }
        let count = strip.values.len();
        self.names(scene, name, &format!("n = {count}"));
        hidden
    }

    fn difference(&self, scene: &mut Scene, difference: &Difference, axis: &Axis, name: &str) {
        let Difference {
            reference,
            interval,
            ..
        } = difference;
        let Interval {
            difference: value,
            low,
            high,
        } = *interval;
        let Frame {
            top, right, bottom, ..
        } = self.frame;
        let (from, to) = (self.y(reference + low), self.y(reference + high));
        scene.path(
            vec![(self.middle, from), (self.middle, to)],
            5,
            Color::BLACK,
        );
        for y in [from, to] {
            scene.path(
                vec![(self.middle - 14, y), (self.middle + 14, y)],
                5,
                Color::BLACK,
            );
        }
        scene.mark(
            Symbol::Circle,
            (self.middle, self.y(reference + value)),
            12,
            Color::BLACK,
        );

        scene.path(vec![(right, top), (right, bottom)], 2, Color::GREY);
        for tick in &axis.ticks {
            let y = self.frame.y(axis, tick.at);
            scene.path(vec![(right, y), (right + 8, y)], 2, Color::GREY);
            let at = (right + LABEL_GAP, y);
            scene.text(&tick.label, at, TEXT, Anchor::Left, Color::BLACK);
        }
        self.names(scene, name, "95 % interval");
    }

    /// The two lines under a slot.
    fn names(&self, scene: &mut Scene, name: &str, below: &str) {
        let bottom = self.frame.bottom;
        for (text, dy) in [(name, 30), (below, 68)] {
            let text = font::shorten(text, TEXT, (self.slot - 16).max(MARGIN));
            scene.text(
                &text,
                (self.middle, bottom + dy),
                TEXT,
                Anchor::Center,
                Color::BLACK,
            );
        }
    }
}
