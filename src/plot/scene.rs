//! A figure laid out: shapes at whole pixels, the same for SVG and PNG.

use super::font;

/// Pixels across. Figures are shown at half of this, so that lines are fine and text is crisp.
pub(super) const WIDTH: i32 = 1600;

/// Free space at the edges.
pub(super) const MARGIN: i32 = 24;

/// A colour with its opacity, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Color(pub u8, pub u8, pub u8, pub f64);

impl Color {
    pub const BLACK: Color = Color(0, 0, 0, 1.0);
    pub const GREY: Color = Color(90, 90, 90, 1.0);
    pub const GRID: Color = Color(216, 216, 216, 1.0);
    pub const WHITE: Color = Color(255, 255, 255, 1.0);

    pub fn faded(self, opacity: f64) -> Color {
        Color(self.0, self.1, self.2, opacity)
    }
}

/// The form of a run's mark; tells conditions apart where colour does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Symbol {
    Circle,
    Triangle,
    Square,
    Diamond,
    Ring,
}

/// How a line is broken: drawn and left out by turns, in pixels, beginning with what is drawn; empty for a whole line.
pub(super) type Dash = &'static [i32];

/// A whole line.
pub(super) const WHOLE: Dash = &[];

/// The n-th condition's dash: tells lines apart where colour does not.
pub(super) fn dash(condition: usize) -> Dash {
    const DASHES: [Dash; 4] = [WHOLE, &[26, 12], &[8, 9], &[36, 10, 8, 10]];
    DASHES[condition % DASHES.len()]
}

/// The n-th condition's colour and mark: colours of Okabe and Ito (Color Universal Design, 2008), which people
/// with any colour vision tell apart, without the yellow that white paper swallows.
pub(super) fn look(condition: usize) -> (Color, Symbol) {
    const COLORS: [Color; 7] = [
        Color(0, 114, 178, 1.0),
        Color(213, 94, 0, 1.0),
        Color(0, 158, 115, 1.0),
        Color(204, 121, 167, 1.0),
        Color(86, 180, 233, 1.0),
        Color(230, 159, 0, 1.0),
        Color(0, 0, 0, 1.0),
    ];
    const SYMBOLS: [Symbol; 4] = [
        Symbol::Circle,
        Symbol::Triangle,
        Symbol::Square,
        Symbol::Diamond,
    ];
    let pick = condition % (COLORS.len() * SYMBOLS.len());
    (COLORS[pick % COLORS.len()], SYMBOLS[pick % SYMBOLS.len()])
}

/// Which point of a text stands at its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Left,
    Center,
    Right,
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Rect {
        from: (i32, i32),
        to: (i32, i32),
        color: Color,
    },
    Path {
        points: Vec<(i32, i32)>,
        width: u32,
        color: Color,
    },
    Mark {
        symbol: Symbol,
        at: (i32, i32),
        radius: i32,
        color: Color,
    },
    /// Vertically centred at its position.
    Text {
        text: String,
        at: (i32, i32),
        size: f64,
        anchor: Anchor,
        color: Color,
    },
}

/// The shapes, back to front, and what they show in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scene {
    pub height: i32,
    pub shapes: Vec<Shape>,
    pub title: String,
    pub description: String,
}

impl Scene {
    /// The scenes one below the other; none when there are none.
    pub fn stacked(scenes: Vec<Scene>) -> Option<Scene> {
        let mut scenes = scenes.into_iter();
        let mut all = scenes.next()?;
        for mut scene in scenes {
            scene
                .shapes
                .iter_mut()
                .for_each(|shape| shape.lower(all.height));
            all.shapes.append(&mut scene.shapes);
            all.height += scene.height;
            all.title = format!("{}; {}", all.title, scene.title);
            all.description = format!("{} {}", all.description, scene.description);
        }
        Some(all)
    }

    pub fn rect(&mut self, from: (i32, i32), to: (i32, i32), color: Color) {
        self.shapes.push(Shape::Rect { from, to, color });
    }

    pub fn path(&mut self, mut points: Vec<(i32, i32)>, width: u32, color: Color) {
        points.dedup();
        self.shapes.push(Shape::Path {
            points,
            width,
            color,
        });
    }

    /// A line of dashes over a thin whole line, so that nothing falls into a gap.
    pub fn dashed(&mut self, points: Vec<(i32, i32)>, width: u32, color: Color, dash: Dash) {
        if dash.is_empty() {
            return self.path(points, width, color);
        }
        for piece in dashes(&points, dash) {
            self.path(piece, width, color);
        }
        self.path(points, 1.max(width / 4), color);
    }

    pub fn mark(&mut self, symbol: Symbol, at: (i32, i32), radius: i32, color: Color) {
        self.shapes.push(Shape::Mark {
            symbol,
            at,
            radius,
            color,
        });
    }

    pub fn text(&mut self, text: &str, at: (i32, i32), size: f64, anchor: Anchor, color: Color) {
        self.shapes.push(Shape::Text {
            text: text.into(),
            at,
            size,
            anchor,
            color,
        });
    }
}

/// Dashes of one line at most; a longer line has longer ones.
const DASHES: f64 = 200.0;

/// The pieces of a line that its dash draws.
fn dashes(points: &[(i32, i32)], dash: Dash) -> Vec<Vec<(i32, i32)>> {
    let steps = || points.windows(2).map(|pair| (pair[0], pair[1]));
    let length =
        |(a, b): ((i32, i32), (i32, i32))| f64::from(b.0 - a.0).hypot(f64::from(b.1 - a.1));
    let total: f64 = steps().map(length).sum();
    let period = f64::from(dash.iter().sum::<i32>());
    let scale = (total / period / (DASHES / dash.len() as f64 * 2.0)).max(1.0);
    let mut left_of = dash.iter().cycle().map(|&part| f64::from(part) * scale);
    let mut left = left_of.next().unwrap_or(total);
    let mut drawn = true;
    let mut pieces = Vec::new();
    let mut piece: Vec<(i32, i32)> = points.first().copied().into_iter().collect();
    for (from, to) in steps() {
        let whole = length((from, to));
        let mut gone = 0.0;
        while whole - gone > left {
            gone += left;
            let along = |a: i32, b: i32| a + (f64::from(b - a) * gone / whole).round() as i32;
            let at = (along(from.0, to.0), along(from.1, to.1));
            piece.push(at);
            if drawn {
                pieces.push(std::mem::take(&mut piece));
            }
            piece = vec![at];
            drawn = !drawn;
            left = left_of.next().unwrap_or(total);
        }
        left -= whole - gone;
        piece.push(to);
    }
    if drawn {
        pieces.push(piece);
    }
    pieces
}

impl Shape {
    /// Moves the shape down.
    fn lower(&mut self, by: i32) {
        match self {
            Shape::Rect { from, to, .. } => {
                from.1 += by;
                to.1 += by;
            }
            Shape::Path { points, .. } => points.iter_mut().for_each(|point| point.1 += by),
            Shape::Mark { at, .. } | Shape::Text { at, .. } => at.1 += by,
        }
    }

    /// The rectangle that a text fills: left, top, right, bottom.
    pub fn text_box(text: &str, at: (i32, i32), size: f64, anchor: Anchor) -> [i32; 4] {
        let width = font::width(text, size);
        let left = match anchor {
            Anchor::Left => at.0,
            Anchor::Center => at.0 - width / 2,
            Anchor::Right => at.0 - width,
        };
        let half = (size / 2.0) as i32;
        [left, at.1 - half, left + width, at.1 + half]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_follow_the_line_and_are_bounded() {
        let corner = [(0, 0), (30, 0), (30, 30)];
        assert_eq!(
            dashes(&corner, &[26, 12]),
            [vec![(0, 0), (26, 0)], vec![(30, 8), (30, 30)]]
        );
        let jagged: Vec<_> = (0..3000).map(|i| (i / 2, 600 * (i % 2))).collect();
        assert!(dashes(&jagged, &[8, 9]).len() <= DASHES as usize + 1);
        assert!(dashes(&[], &[8, 9]).iter().all(Vec::is_empty));
    }
}
