//! What all drawn figures share: title, legend, notes, and the frame with its axes between them.

use super::Head;
use super::axis::Axis;
use super::font::{self, SMALL, TEXT, TITLE};
use super::label;
use super::scene::{Anchor, Color, Dash, MARGIN, Scene, WIDTH};

/// Height of a row of text.
const ROW: i32 = 38;

/// Rows of title and legend at most; what is more is shortened.
const TITLE_ROWS: usize = 3;
const LEGEND_ENTRIES: usize = 12;

/// The rectangle of the data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Frame {
    /// The pixel of a value on the horizontal axis.
    pub fn x(&self, axis: &Axis, value: f64) -> i32 {
        self.left + (axis.place(value) * f64::from(self.right - self.left)).round() as i32
    }

    /// The pixel of a value on the vertical axis.
    pub fn y(&self, axis: &Axis, value: f64) -> i32 {
        self.bottom - (axis.place(value) * f64::from(self.bottom - self.top)).round() as i32
    }
}

/// The page of a figure without data.
pub(super) fn empty(head: &Head) -> Scene {
    let text = format!("no samples of {}", head.metric);
    let mut page = Page::new(&head.title, text.clone());
    page.row(&text, MARGIN, TEXT, Color::GREY);
    for note in &head.notes {
        page.note(note);
    }
    page.end()
}

/// A figure under way: a scene and how far down it is filled.
pub(super) struct Page {
    pub scene: Scene,
    pub y: i32,
}

impl Page {
    /// Begins with the title, wrapped; a long one in smaller letters, a very long one shortened.
    pub fn new(title: &str, description: String) -> Page {
        let mut page = Page {
            scene: Scene {
                height: 0,
                shapes: Vec::new(),
                title: title.to_owned(),
                description,
            },
            y: MARGIN,
        };
        let most = WIDTH - 2 * MARGIN;
        let wrapped = |size| label::wrap(title, |line| font::width(line, size) <= most);
        let fits = |lines: &[String], size| {
            lines.len() <= TITLE_ROWS && lines.iter().all(|line| font::width(line, size) <= most)
        };
        let size = if fits(&wrapped(TITLE), TITLE) {
            TITLE
        } else {
            SMALL
        };
        let lines = wrapped(size);
        for (row, line) in lines.iter().take(TITLE_ROWS).enumerate() {
            let cut = row + 1 == TITLE_ROWS && lines.len() > TITLE_ROWS;
            let line = if cut {
                format!("{line} …")
            } else {
                line.clone()
            };
            page.row(&line, MARGIN, size, Color::BLACK);
        }
        page
    }

    fn row(&mut self, text: &str, x: i32, size: f64, color: Color) {
        let text = font::shorten(text, size, WIDTH - MARGIN - x);
        self.scene
            .text(&text, (x, self.y + ROW / 2), size, Anchor::Left, color);
        self.y += ROW;
    }

    /// The legend: a piece of line and a text each, as many beside each other as fit.
    pub fn legend(&mut self, entries: &[(Color, Dash, String)]) {
        const SAMPLE: i32 = 92;
        let mut x = MARGIN;
        for (color, dash, text) in entries.iter().take(LEGEND_ENTRIES) {
            let text = font::shorten(text, TEXT, WIDTH - 2 * MARGIN - SAMPLE);
            let width = SAMPLE + font::width(&text, TEXT);
            if x > MARGIN && x + width > WIDTH - MARGIN {
                x = MARGIN;
                self.y += ROW;
            }
            let middle = self.y + ROW / 2;
            let line = vec![(x, middle), (x + SAMPLE - 14, middle)];
            self.scene.dashed(line, 5, *color, dash);
            self.scene.text(
                &text,
                (x + SAMPLE, middle),
                TEXT,
                Anchor::Left,
                Color::BLACK,
            );
            x += width + 40;
        }
        self.y += ROW;
        if entries.len() > LEGEND_ENTRIES {
            let more = format!("and {} more conditions", entries.len() - LEGEND_ENTRIES);
            self.row(&more, MARGIN, TEXT, Color::BLACK);
        }
    }

    /// A line of small text.
    pub fn note(&mut self, text: &str) {
        for line in label::wrap(text, |line| font::width(line, SMALL) <= WIDTH - 2 * MARGIN) {
            self.row(&line, MARGIN, SMALL, Color::GREY);
        }
    }

    /// A frame of this height with a vertical axis at its left: name above, numbers beside, fine lines across.
    pub fn frame(&mut self, name: &str, axis: &Axis, height: i32, right: i32) -> Frame {
        self.row(name, MARGIN, TEXT, Color::GREY);
        let widest = axis
            .ticks
            .iter()
            .map(|tick| font::width(&tick.label, TEXT))
            .max();
        let frame = Frame {
            left: MARGIN + widest.unwrap_or(0).max(40) + 16,
            top: self.y + 8,
            right: WIDTH - right,
            bottom: self.y + 8 + height,
        };
        for tick in &axis.ticks {
            let y = frame.y(axis, tick.at);
            self.scene
                .path(vec![(frame.left, y), (frame.right, y)], 1, Color::GRID);
            self.scene.text(
                &tick.label,
                (frame.left - 12, y),
                TEXT,
                Anchor::Right,
                Color::BLACK,
            );
        }
        self.y = frame.bottom + 8;
        frame
    }

    /// The lines at the left and at the foot of the data.
    pub fn axis_lines(&mut self, frame: Frame) {
        let Frame {
            left,
            top,
            right,
            bottom,
        } = frame;
        self.scene.path(
            vec![(left, top), (left, bottom), (right, bottom)],
            2,
            Color::GREY,
        );
    }

    /// The horizontal axis: ticks, numbers, name.
    pub fn horizontal(&mut self, frame: Frame, name: &str, axis: &Axis) {
        for tick in &axis.ticks {
            let x = frame.x(axis, tick.at);
            self.scene.path(
                vec![(x, frame.bottom), (x, frame.bottom + 8)],
                2,
                Color::GREY,
            );
            let half = font::width(&tick.label, TEXT) / 2;
            let middle = x.min(WIDTH - MARGIN - half);
            self.scene.text(
                &tick.label,
                (middle, self.y + ROW / 2),
                TEXT,
                Anchor::Center,
                Color::BLACK,
            );
        }
        self.y += ROW;
        let middle = (frame.left + frame.right) / 2;
        self.scene.text(
            name,
            (middle, self.y + ROW / 2),
            TEXT,
            Anchor::Center,
            Color::GREY,
        );
        self.y += ROW + 6;
    }

    /// The finished scene.
    pub fn end(mut self) -> Scene {
        self.scene.height = (self.y + MARGIN) / 2 * 2;
        self.scene
    }
}
