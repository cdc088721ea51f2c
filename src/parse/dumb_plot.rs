//! Plots that gnuplot drew as text (`set term dumb`), back to points.
//!
//! gnuplot puts x at column `left + floor(x * columns / range + 0.5)` and y at a row likewise, so a point tells
//! its value to half a row either way. Points hide lines and tics; the frame hides points on it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};

/// Largest side of a plot, in characters.
const SIDE_LIMIT: usize = 512;
/// Smallest side that can be a plot.
const SIDE_MINIMUM: usize = 4;
/// Characters of a line that are looked at.
const LINE_LIMIT: usize = 1024;
const PLOT_LIMIT: usize = 64;
/// Largest number of a sample that is believed.
const SAMPLE_LIMIT: f64 = 1e9;
/// What gnuplot draws for a line with points in its key.
const KEY_SAMPLE: &str = "***A***";

/// One axis, from the lower to the upper end of the frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Value at cell 0, the left or bottom of the frame.
    pub low: f64,
    /// Value at cell `cells`, the right or top of the frame.
    pub high: f64,
    /// Characters from one end to the other.
    pub cells: usize,
    /// Whether both ends are labelled, so that no label's rounding to its cell moves the scale.
    pub exact: bool,
}

impl Axis {
    /// What one character is worth.
    pub fn step(&self) -> f64 {
        (self.high - self.low) / self.cells as f64
    }

    /// Full width of what a value read from a cell may be off by: the cell itself, and where the ends are not
    /// labelled one more on either side, as the scale then comes from labels that were rounded to cells
    /// (half a cell between labels, at most one beyond them with three labels or more).
    pub fn quantum(&self) -> f64 {
        self.step() * if self.exact { 1.0 } else { 3.0 }
    }

    /// The value at the middle of a cell.
    pub fn at(&self, cell: usize) -> f64 {
        self.low + cell as f64 * self.step()
    }

    /// The cell in which gnuplot draws a value, when it is within the axis.
    pub fn cell_of(&self, value: f64) -> Option<usize> {
        let cell = ((value - self.low) / self.step() + 0.5).floor();
        (cell >= 0.0 && cell <= self.cells as f64).then_some(cell as usize)
    }

    fn is_usable(&self) -> bool {
        self.low.is_finite()
            && self.high.is_finite()
            && self.step().is_normal()
            && self.step() > 0.0
    }
}

/// A point mark: its cell on each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Cells from the frame's left.
    pub column: usize,
    /// Cells from the frame's bottom.
    pub row: usize,
}

/// A plot of one curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Line of the frame's top, from 1.
    pub line: usize,
    /// The curve's name in the key.
    pub title: Option<String>,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Point marks, by column.
    pub points: Vec<Point>,
}

impl Plot {
    /// The points of a file of one column: x is the line's number from 0. Gives the first index that is seen and
    /// the row of each sample from there on.
    ///
    /// # Errors
    /// In words, when samples share columns or a sample between others is hidden: then single samples cannot be told.
    pub fn samples(&self) -> Result<(usize, Vec<usize>), String> {
        if self.x.step() > 1.0 {
            return Err(format!(
                "one column of the plot stands for {:.2} samples, so single samples cannot be told",
                self.x.step()
            ));
        }
        let mut first = None;
        let mut rows = Vec::new();
        for point in &self.points {
            let index = self.x.at(point.column).round();
            if !(0.0..SAMPLE_LIMIT).contains(&index) || self.x.cell_of(index) != Some(point.column)
            {
                return Err(format!(
                    "the point in column {} is at x = {:.2}, which is no sample's number",
                    point.column,
                    self.x.at(point.column)
                ));
            }
            let index = index as usize;
            let expected = *first.get_or_insert(index) + rows.len();
            if index != expected {
                return Err(format!("sample {expected} is hidden or stands twice"));
            }
            rows.push(point.row);
        }
        first
            .map(|first| (first, rows))
            .ok_or_else(|| "no point mark `A` is in it (drawn with lines only?)".into())
    }
}

/// Every plot in a text, quoting marks (`> `) before it allowed.
///
/// # Errors
/// `Input` at the line, when something is framed and labelled like a plot but cannot be read as one curve.
pub fn find(text: &str, file: &Path) -> Result<Vec<Plot>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut plots = Vec::new();
    let mut top = 0;
    while top < lines.len() {
        match frame(&lines, top) {
            Some(frame) => {
                let bottom = frame.bottom;
                if let Some(plot) = frame.read(&lines, file)? {
                    plots.push(plot);
                }
                if plots.len() > PLOT_LIMIT {
                    return Err(Error::input(format!("more than {PLOT_LIMIT} plots"))
                        .at(file)
                        .next("import a part of the text at a time"));
                }
                top = bottom + 1;
            }
            None => top += 1,
        }
    }
    Ok(plots)
}

/// Where a plot's frame is: indices of lines and of characters in them.
struct Frame {
    top: usize,
    bottom: usize,
    left: usize,
    right: usize,
}

fn characters(line: &str) -> Vec<char> {
    line.chars().take(LINE_LIMIT).collect()
}

/// The columns of the two `+` of a line `LABEL +-----+`.
fn border(line: &str) -> Option<(usize, usize)> {
    if !line.contains("+----") {
        return None;
    }
    let line = characters(line);
    let left = line.windows(2).position(|pair| pair == ['+', '-'])?;
    let rest = line.get(left + 1..)?;
    let right = left + 1 + rest.iter().position(|&c| c == '+')?;
    let only_dashes = line.get(left + 1..right)?.iter().all(|&c| c == '-');
    let nothing_after = line.get(right + 1..)?.iter().all(|c| c.is_whitespace());
    let width = right - left;
    (only_dashes && nothing_after && (SIDE_MINIMUM..=SIDE_LIMIT).contains(&width))
        .then_some((left, right))
}

fn frame(lines: &[&str], top: usize) -> Option<Frame> {
    let (left, right) = border(lines.get(top)?)?;
    for (index, line) in lines.iter().enumerate().skip(top + 1).take(SIDE_LIMIT) {
        if border(line) == Some((left, right)) {
            return (index - top >= SIDE_MINIMUM).then_some(Frame {
                top,
                bottom: index,
                left,
                right,
            });
        }
        let line = characters(line);
        if line.get(left) != Some(&'|') || line.get(right) != Some(&'|') {
            return None;
        }
    }
    None
}

impl Frame {
    /// None when no row has a label: a table, not a plot.
    fn read(&self, lines: &[&str], file: &Path) -> Result<Option<Plot>> {
        let fail = |index: usize, message: String| {
            Error::input(message)
                .at_line(file, index + 1)
                .next("ktrial reads plots of one curve that gnuplot drew with `set term dumb`, linear axes, points or linespoints, the key away from the points")
        };
        let rows: Vec<Vec<char>> = lines
            .get(self.top..=self.bottom)
            .unwrap_or_default()
            .iter()
            .map(|line| characters(line))
            .collect();
        let height = self.bottom - self.top;
        let width = self.right - self.left;

        let labels: Vec<(usize, f64)> = rows
            .iter()
            .enumerate()
            .filter_map(|(index, row)| Some((height - index, self.label(row)?)))
            .collect();
        if labels.is_empty() {
            return Ok(None);
        }
        let y = axis(&labels, height, 0.51).ok_or_else(|| {
            fail(
                self.top,
                "the plot's y axis cannot be read: it needs labels at both ends or three within, and a linear scale"
                    .into(),
            )
        })?;

        let below = characters(lines.get(self.bottom + 1).copied().unwrap_or_default());
        let x = axis(&self.x_labels(&rows, &below), width, 1.0)
            .ok_or_else(|| fail(self.bottom, "the plot's x axis cannot be read: it needs labels at both ends or three within, and a linear scale".into()))?;

        let mut title = None;
        let mut points = Vec::new();
        for (index, row) in rows.iter().enumerate().take(height).skip(1) {
            let mut inside: Vec<char> = row
                .get(self.left + 1..self.right)
                .unwrap_or_default()
                .to_vec();
            if let Some(text) = take_key(&mut inside) {
                title.get_or_insert(text);
            }
            for (column, &mark) in inside.iter().enumerate() {
                match mark {
                    'A' => points.push(Point {
                        column: column + 1,
                        row: height - index,
                    }),
                    ' ' | '*' | '+' | '-' | '|' => {}
                    other => {
                        return Err(fail(
                            self.top + index,
                            format!(
                                "the plot holds `{}` beside the curve of `A` and `*`",
                                other.escape_default()
                            ),
                        ));
                    }
                }
            }
        }
        points.sort();
        Ok(Some(Plot {
            line: self.top + 1,
            title,
            x,
            y,
            points,
        }))
    }

    /// The number just left of the frame.
    fn label(&self, row: &[char]) -> Option<f64> {
        let before: String = row.get(..self.left)?.iter().collect();
        before.split_whitespace().next_back()?.parse().ok()
    }

    /// Column and value of each label under the frame that a tic or a corner stands above.
    fn x_labels(&self, rows: &[Vec<char>], below: &[char]) -> Vec<(usize, f64)> {
        let mut tics = BTreeSet::from([self.left, self.right]);
        let last = rows.len().saturating_sub(2);
        for row in [rows.get(1), rows.get(last)].into_iter().flatten() {
            tics.extend((self.left + 1..self.right).filter(|&c| row.get(c) == Some(&'+')));
        }
        words(below)
            .filter_map(|(start, word)| {
                let value: f64 = word.parse().ok()?;
                // gnuplot centres a label with its sign's place; its middle is at most one column off the tic.
                let middle = start + (word.len().saturating_sub(1)) / 2;
                let tic = tics.iter().copied().min_by_key(|t| t.abs_diff(middle))?;
                (tic.abs_diff(middle) <= 1).then_some((tic - self.left, value))
            })
            .collect()
    }
}

/// Words of a line with the column at which each begins.
fn words(line: &[char]) -> impl Iterator<Item = (usize, String)> {
    let mut start = 0;
    line.split(|c| c.is_whitespace())
        .map(move |word| {
            let at = start;
            start += word.len() + 1;
            (at, word.iter().collect::<String>())
        })
        .filter(|(_, word)| !word.is_empty())
}

/// The axis through the outermost labels, when every label is within `tolerance` cells of it. Two labels do where
/// they stand at the ends of the frame, else it takes three.
fn axis(labels: &[(usize, f64)], cells: usize, tolerance: f64) -> Option<Axis> {
    let &(low_cell, low) = labels.iter().min_by_key(|(cell, _)| *cell)?;
    let &(high_cell, high) = labels.iter().max_by_key(|(cell, _)| *cell)?;
    let exact = low_cell == 0 && high_cell == cells;
    if low_cell == high_cell || !(exact || labels.len() >= 3) {
        return None;
    }
    let step = (high - low) / (high_cell - low_cell) as f64;
    let axis = Axis {
        low: low - low_cell as f64 * step,
        high: high + (cells - high_cell.min(cells)) as f64 * step,
        cells,
        exact,
    };
    let linear = labels
        .iter()
        .all(|&(cell, value)| ((value - axis.low) / step - cell as f64).abs() <= tolerance);
    (axis.is_usable() && linear).then_some(axis)
}

/// Blanks the key's entry out of a row and gives the curve's name.
fn take_key(inside: &mut [char]) -> Option<String> {
    let sample: Vec<char> = KEY_SAMPLE.chars().collect();
    let end = inside.windows(sample.len()).rposition(|w| w == sample)?;
    // The name stands just before, after at least two blanks. A curve's own `***A***` has no name.
    let before = inside.get(..end)?.strip_suffix(&[' '])?;
    let start = before
        .windows(2)
        .rposition(|pair| pair == [' ', ' '])
        .map_or(0, |at| at + 2);
    let name: String = before.get(start..)?.iter().collect();
    if !name.chars().any(|c| c.is_alphanumeric() && c != 'A') {
        return None;
    }
    inside.get_mut(start..end + sample.len())?.fill(' ');
    Some(name)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Draws as gnuplot's dumb terminal does: points at whole x from 0, frame in front.
    pub(crate) fn draw(values: &[f64], x_high: f64, y: Axis, width: usize) -> String {
        let x = Axis {
            low: 0.0,
            high: x_high,
            cells: width,
            exact: true,
        };
        let mut grid = vec![vec![' '; width + 1]; y.cells + 1];
        for (index, &value) in values.iter().enumerate() {
            if let (Some(column), Some(row)) = (x.cell_of(index as f64), y.cell_of(value)) {
                grid[y.cells - row][column] = 'A';
            }
        }
        let tics: Vec<f64> = (0..=4).map(|k| x_high * f64::from(k) / 4.0).collect();
        let mut below = vec![' '; width + 30];
        for &tic in &tics {
            let column = x.cell_of(tic).unwrap();
            if grid[1][column] == ' ' {
                grid[1][column] = '+';
            }
            let label: Vec<char> = format!(" {tic}").chars().collect();
            let start = 10 + column - label.len() / 2;
            below[start..start + label.len()].copy_from_slice(&label);
        }
        let border = format!("+{}+", "-".repeat(width - 1));
        let mut text = String::new();
        for (index, row) in grid.iter().enumerate() {
            let label = if index % 2 == 0 {
                y.at(y.cells - index).to_string()
            } else {
                String::new()
            };
            let body = if index == 0 || index == y.cells {
                border.clone()
            } else {
                let inside: String = row[1..width].iter().collect();
                format!("|{inside}|")
            };
            text.push_str(&format!("{label:>9} {body}\n"));
        }
        text.push_str(&below.iter().collect::<String>());
        text.push('\n');
        text
    }

    fn one(text: &str) -> Plot {
        let mut plots = find(text, Path::new("mail")).unwrap();
        assert_eq!(plots.len(), 1, "{text}");
        plots.remove(0)
    }

    const DRAWN_BY_GNUPLOT: &str = "
  300 +-------------------------------+
      |   +   +   +    +   +   +   +  |
      |                  load ***A*** |
  250 |-+                           +-|
      |                               |
      |                   *AA*        |
  200 |*+   A*AA*     AA*A    *AA*A *-|
      |*AA*A     A*AA            *AA* |
      |   +   +   +    +   +   +   +  |
  150 +-------------------------------+
      0   2   4   6    8   10  12  14 16
";

    #[test]
    fn a_plot_as_gnuplot_draws_it() {
        let plot = one(DRAWN_BY_GNUPLOT);
        assert_eq!(plot.title.as_deref(), Some("load"));
        assert_eq!((plot.x.low, plot.x.high, plot.x.cells), (0.0, 16.0, 32));
        assert_eq!((plot.y.low, plot.y.high, plot.y.cells), (150.0, 300.0, 9));
        assert_eq!(plot.line, 2);
        assert!(plot.points.contains(&Point { column: 2, row: 2 }));
        assert!(
            !plot.points.iter().any(|p| p.row == 7),
            "the key is no point"
        );
    }

    #[test]
    fn quoting_and_windows_line_ends_do_not_matter() {
        let quoted: String = DRAWN_BY_GNUPLOT
            .lines()
            .map(|line| format!("> {line}\r\n"))
            .collect();
        assert_eq!(one(&quoted).points, one(DRAWN_BY_GNUPLOT).points);
    }

    #[test]
    fn a_second_curve_is_refused_with_its_line() {
        let two = DRAWN_BY_GNUPLOT.replace("*AA*        |", "*AA*  B     |");
        let error = find(&two, Path::new("mail")).unwrap_err();
        assert!(
            error.to_string().starts_with("mail:7: the plot holds `B`"),
            "{error}"
        );
    }

    #[test]
    fn axes_that_are_not_linear_are_refused() {
        let log = DRAWN_BY_GNUPLOT.replace("  250 |", "  199 |");
        assert!(find(&log, Path::new("mail")).is_err());
        let endless = DRAWN_BY_GNUPLOT.replace("  300 +", "1e999 +");
        assert!(find(&endless, Path::new("mail")).is_err());
        let flat = DRAWN_BY_GNUPLOT
            .replace(" 16\n", " 0\n")
            .replace("0   2", "0   0");
        assert!(find(&flat, Path::new("mail")).is_err());
    }

    #[test]
    fn a_table_is_no_plot() {
        let table = "+------+\n| a    |\n| b    |\n| c    |\n| d    |\n+------+\n";
        assert_eq!(find(table, Path::new("mail")).unwrap(), []);
    }

    #[test]
    fn samples_that_share_columns_are_not_told() {
        let y = Axis {
            low: 0.0,
            high: 100.0,
            cells: 10,
            exact: true,
        };
        let text = draw(&[50.0; 80], 80.0, y, 40);
        let why = one(&text).samples().unwrap_err();
        assert!(why.contains("2.00 samples"), "{why}");
    }

    #[test]
    fn a_sample_outside_the_frame_between_others_is_missed() {
        let y = Axis {
            low: 0.0,
            high: 100.0,
            cells: 10,
            exact: true,
        };
        let text = draw(&[50.0, 50.0, 500.0, 50.0], 4.0, y, 40);
        assert_eq!(
            one(&text).samples().unwrap_err(),
            "sample 2 is hidden or stands twice"
        );
    }

    proptest! {
        #[test]
        fn any_text_does_no_harm(text in "[-+|A* 0-9e.\n>]{0,400}") {
            let _ = find(&text, Path::new("mail"));
        }

        #[test]
        fn any_change_to_a_plot_does_no_harm(at in 0usize..450, c in any::<char>()) {
            let mut text: Vec<char> = DRAWN_BY_GNUPLOT.chars().collect();
            if let Some(place) = text.get_mut(at) { *place = c; }
            if let Ok(plots) = find(&text.iter().collect::<String>(), Path::new("mail")) {
                for plot in plots { let _ = plot.samples(); }
            }
        }

        #[test]
        fn digitised_values_are_within_half_a_row(
            parts in proptest::collection::vec(0.0f64..1.0, 2..40),
            rows in 5usize..40,
            width in 44usize..120,
        ) {
            // Kept off the frame, which hides what is drawn on it.
            let y = Axis { low: 0.0, high: 100.0 * rows as f64, cells: rows, exact: true };
            let values: Vec<f64> = parts.iter().map(|p| 60.0 + p * (y.high - 120.0)).collect();
            let plot = one(&draw(&values, 40.0, y, width));
            let (first, seen) = plot.samples().unwrap();
            // The first sample is at x = 0, behind the frame.
            prop_assert_eq!(first, 1);
            prop_assert_eq!(seen.len(), values.len() - 1);
            for (row, value) in seen.iter().zip(&values[1..]) {
                prop_assert!((plot.y.at(*row) - value).abs() <= plot.y.step() * 0.5 + 1e-6);
            }
        }
    }
}
