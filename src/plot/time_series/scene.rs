//! A time series laid out for SVG and PNG.

use super::TimeSeries;
use super::curve::{Condition, phase_name};
use crate::plot::axis::Axis;
use crate::plot::decimate::decimate;
use crate::plot::font::{self, SMALL, TEXT};
use crate::plot::label;
use crate::plot::page::{Frame, Page};
use crate::plot::scene::{Anchor, Color, Dash, Scene, Shape, Symbol, WHOLE, WIDTH, dash, look};
use crate::plot::{Head, Line};
use crate::series::Phase;
use crate::unit::Unit;

/// Height of the data's frame, of the strip with the phases' names in it, and room at the right.
const HEIGHT: i32 = 600;
const PHASE_STRIP: i32 = 40;
const RIGHT: i32 = 48;

/// Columns that all trials together are decimated to; bounds the size of the SVG.
const COLUMNS: usize = 11_000;

/// Lays it out, or none when there is no sample.
pub(in crate::plot) fn scene(head: &Head, unit: &Unit, lines: &[Line]) -> Option<Scene> {
    let series = TimeSeries::new(unit, lines)?;
    let mut page = Page::new(&head.title_or(" over time"), series.description(head));
    let names = series.conditions.iter().map(|c| label::clean(&c.name));
    let names = font::shorten_apart(&names.collect::<Vec<_>>(), TEXT, WIDTH / 2);
    let entries = series.conditions.iter().zip(&names).enumerate();
    let entries = entries.map(|(i, (condition, name))| {
        let said = series.said(condition);
        (look(i).0, dash(i), format!("{name}: {said}"))
    });
    page.legend(&entries.collect::<Vec<_>>());

    let values = axis_with_strip(series.shown_values(), !series.phases.is_empty());
    let (start, end) = series.shown_time();
    let time = Axis::new(start, end, 10);
    let frame = page.frame(&head.quantity(&series.shown), &values, HEIGHT, RIGHT);
    let canvas = Canvas {
        series: &series,
        frame,
        time: &time,
        values: &values,
    };
    canvas.phases(&mut page.scene);
    canvas.own_ends(&mut page.scene);
    for (i, condition) in series.conditions.iter().enumerate() {
        canvas.trials(&mut page.scene, condition, i);
    }
    for (i, condition) in series.conditions.iter().enumerate() {
        canvas.median(&mut page.scene, condition, i);
    }
    canvas.peaks(&mut page.scene);
    page.axis_lines(frame);
    page.horizontal(frame, &series.time_name(), &time);
    page.note(&key(&series));
    for note in &head.notes {
        page.note(note);
    }
    Some(page.end())
}

/// What is drawn beside the conditions' own lines.
fn key(series: &TimeSeries) -> String {
    let mut key = String::new();
    if series.conditions.iter().any(|c| c.trials.len() > 1) {
        key.push_str("Thin lines: trials. Thick lines: median of the trials. ");
    }
    key.push_str(&format!("Rings: {}.", series.peak_meaning()));
    if series.ends_apart {
        key.push_str(" Upright lines in a condition's colour: its workload's end.");
    }
    key
}

/// The vertical axis, with room above the data for the highest samples' numbers and the phases' names.
fn axis_with_strip((low, high): (f64, f64), strip: bool) -> Axis {
    let room = 36 + if strip { PHASE_STRIP } else { 0 };
    let high = high + (high - low) * f64::from(room) / f64::from(HEIGHT - room);
    Axis::new(low, high, 7)
}

struct Canvas<'a> {
    series: &'a TimeSeries,
    frame: Frame,
    time: &'a Axis,
    values: &'a Axis,
}

impl Canvas<'_> {
    fn at(&self, (time_s, value): (f64, f64)) -> (i32, i32) {
        (
            self.frame.x(self.time, time_s * self.series.time_factor),
            self.frame.y(self.values, value * self.series.factor),
        )
    }

    fn phases(&self, scene: &mut Scene) {
        let Frame { top, bottom, .. } = self.frame;
        for span in self.series.visible_phases() {
            let left = self.at((span.start_s, 0.0)).0;
            let right = self.at((span.end_s, 0.0)).0;
            if span.phase == Phase::Workload {
                scene.rect((left, top), (right, bottom), Color(110, 110, 110, 0.10));
            }
            for x in [left, right] {
                scene.path(vec![(x, top), (x, bottom)], 1, Color::GREY.faded(0.6));
            }
            let name = font::shorten(phase_name(span.phase), SMALL, right - left - 8);
            let at = ((left + right) / 2, top + PHASE_STRIP / 2);
            scene.text(&name, at, SMALL, Anchor::Center, Color::GREY);
        }
    }

    /// A thin line at the end of each condition's workload, where they differ.
    fn own_ends(&self, scene: &mut Scene) {
        let Frame { top, bottom, .. } = self.frame;
        for (i, condition) in self.series.conditions.iter().enumerate() {
            if let Some(end_s) = self.series.own_end_s(condition) {
                let x = self.at((end_s, 0.0)).0;
                scene.dashed(vec![(x, top), (x, bottom)], 3, look(i).0, dash(i));
            }
        }
    }

    fn trials(&self, scene: &mut Scene, condition: &Condition, index: usize) {
        let all: usize = self
            .series
            .conditions
            .iter()
            .map(|condition| condition.trials.len())
            .sum();
        let columns = (COLUMNS / all.max(1)).clamp(8, 1400);
        let color = look(index).0;
        let (width, color, dash) = match condition.trials.len() {
            // One trial alone is its own median.
            1 => (5, color, dash(index)),
            // The more trials, the fainter each: their density shows, and the median stays clear.
            count => (
                2,
                color.faded((0.8 / (count as f64).sqrt()).max(0.1)),
                WHOLE,
            ),
        };
        for trial in &condition.trials {
            self.line(
                scene,
                &decimate(&trial.points, self.series.time_s, columns),
                width,
                color,
                dash,
            );
        }
    }

    fn median(&self, scene: &mut Scene, condition: &Condition, index: usize) {
        if condition.trials.len() > 1 {
            let median = condition.median(&self.series.grid(500));
            self.line(scene, &median, 9, Color::WHITE.faded(0.8), WHOLE);
            self.line(scene, &median, 5, look(index).0, dash(index));
        }
    }

    /// A line, broken at gaps; a sample between two gaps is a dot.
    fn line(&self, scene: &mut Scene, points: &[(f64, f64)], width: u32, color: Color, dash: Dash) {
        for piece in points.split(|point| point.1.is_nan()) {
            match piece {
                [] => {}
                [alone] => scene.mark(Symbol::Circle, self.at(*alone), width as i32 + 1, color),
                _ => {
                    let points = piece.iter().map(|&point| self.at(point)).collect();
                    scene.dashed(points, width, color, dash);
                }
            }
        }
    }

    /// A ring and the number at each condition's peak, the numbers clear of each other and of the rings.
    fn peaks(&self, scene: &mut Scene) {
        const RING: i32 = 12;
        let found: Vec<_> = self
            .series
            .conditions
            .iter()
            .enumerate()
            .filter_map(|(i, condition)| Some((look(i).0, condition.peak()?)))
            .map(|(color, peak)| {
                let at = self.at((peak.time_s, peak.value));
                (color, at, self.series.unit.show(peak.value))
            })
            .collect();
        let mut taken: Vec<[i32; 4]> = Vec::new();
        for (color, (x, y), _) in &found {
            scene.mark(Symbol::Ring, (*x, *y), RING, *color);
            taken.push([x - RING, y - RING, x + RING, y + RING]);
        }
        for (color, (x, y), text) in &found {
            let half = font::width(text, SMALL) / 2 + 4;
            let middle = (*x)
                .max(self.frame.left + half)
                .min(self.frame.right - half);
            let boxed = |at| Shape::text_box(text, at, SMALL, Anchor::Center);
            let free = [-30, 30, -60, 60]
                .into_iter()
                .map(|dy| (middle, y + dy))
                .find(|&at| {
                    let [left, top, right, bottom] = boxed(at);
                    let inside = top > self.frame.top && bottom < self.frame.bottom;
                    inside
                        && taken.iter().all(|other| {
                            right < other[0]
                                || left > other[2]
                                || bottom < other[1]
                                || top > other[3]
                        })
                });
            // Without a free place the number is in the legend only.
            if let Some(at) = free {
                let [left, top, right, bottom] = boxed(at);
                taken.push([left, top, right, bottom]);
                scene.rect((left, top), (right, bottom), Color::WHITE.faded(0.8));
                scene.text(text, at, SMALL, Anchor::Center, *color);
            }
        }
    }
}
