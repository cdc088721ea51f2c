//! The table of comparisons, in the widest of three shapes that fits.

use crate::compare::Comparison;
use crate::report::text::{is_adjusted, label, p_digits};
use crate::report::wrap::{WIDTH, wrapped};

/// Column heads; the first is the row's name.
const HEADS: [&str; 7] = ["metric", "a", "b", "difference", "95 % CI", "p", "n"];

type Row = [String; HEADS.len()];

/// One row a comparison. A name too long for its row gets a line of its own; numbers too long for one line
/// are written below each other.
pub(super) fn render(comparisons: &[Comparison]) -> String {
    let heads = heads(comparisons);
    let rows: Vec<Row> = comparisons.iter().map(row).collect();
    let mut widths = heads.each_ref().map(|head| head.len());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let [name_width, number_widths @ ..] = widths;
    let numbers_wide: usize = number_widths.iter().map(|width| width + 2).sum();
    if name_width + numbers_wide <= WIDTH {
        return lines(&heads, &rows, name_width, &number_widths);
    }
    if numbers_wide <= WIDTH {
        let mut text = numbers(&heads, &number_widths);
        for row in &rows {
            text += &wrapped(row.first().map_or("", String::as_str), 4);
            text += &numbers(row, &number_widths);
        }
        return text;
    }
    rows.iter().map(|row| list(&heads, row)).collect()
}

fn heads(comparisons: &[Comparison]) -> Row {
    let mut heads = HEADS.map(String::from);
    if comparisons.iter().any(is_adjusted)
        && let Some(p) = heads.get_mut(5)
    {
        *p = "p (Holm)".into();
    }
    heads
}

fn row(c: &Comparison) -> Row {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let p = c.p_adjusted.or(c.p());
    let scale = c.scale();
    let mean = |mean| scale.with_unit(&scale.mean(mean));
    [
        label(c) + if c.primary { " *" } else { "" },
        or_dash(c.a.mean.map(mean)),
        or_dash(c.b.mean.map(mean)),
        or_dash(c.difference.map(|d| scale.with_unit(&scale.signed(d)))),
        or_dash(
            c.difference_ci
                .map(|interval| scale.with_unit(&scale.span(interval))),
        ),
        or_dash(p.map(p_digits)),
        format!("{} + {}", c.a.n, c.b.n),
    ]
}

fn lines(heads: &Row, rows: &[Row], name_width: usize, widths: &[usize]) -> String {
    std::iter::once(heads)
        .chain(rows)
        .map(|row| {
            let name = row.first().map_or("", String::as_str);
            format!("{name:<name_width$}{}", numbers(row, widths))
        })
        .collect()
}

/// The cells after the name, right-aligned.
fn numbers(row: &Row, widths: &[usize]) -> String {
    let cells = row.iter().skip(1).zip(widths);
    let line: String = cells
        .map(|(cell, &width)| format!("  {cell:>width$}"))
        .collect();
    line + "\n"
}

fn list(heads: &Row, row: &Row) -> String {
    let [name, numbers @ ..] = row;
    let mut text = wrapped(name, 4);
    for (head, number) in heads.iter().skip(1).zip(numbers) {
        text += &wrapped(&format!("  {head}: {number}"), 6);
    }
    text
}
