//! Runs in plain ASCII, for a mail or a terminal.

use super::Runs;
use crate::plot::ascii::{Page, place, shorten_apart};
use crate::plot::axis::{Axis, extent, widened};
use crate::plot::{Group, Head, Interval, label};
use crate::unit::Unit;

/// Strips drawn at most.
const STRIPS: usize = 24;

pub(in crate::plot) fn text(
    head: &Head,
    unit: &Unit,
    groups: &[Group],
    interval: Option<Interval>,
    width: usize,
) -> String {
    let mut page = Page::new(&head.title, width);
    let Some(runs) = Runs::new(unit, groups, interval) else {
        page.wrapped(&format!("no samples of {}", head.metric), "");
        return page.end(head);
    };
    let strips = &runs.strips[..runs.strips.len().min(STRIPS)];
    let counts: Vec<String> = strips
        .iter()
        .map(|strip| format!(" (n = {})", strip.values.len()))
        .collect();
    let longest = counts.iter().map(String::len).max().unwrap_or(0);
    let most = (page.width / 3).saturating_sub(longest);
    let names = shorten_apart(strips.iter().map(|strip| &strip.name), most);
    let names: Vec<String> = names
        .iter()
        .zip(&counts)
        .map(|(name, count)| format!("{name}{count}"))
        .collect();
    let difference_label = match runs.scale.unit.symbol() {
        "" => "difference".to_owned(),
        symbol => format!("difference, {symbol}"),
    };
    let labels = names
        .iter()
        .chain(runs.difference.is_some().then_some(&difference_label));
    let widest = labels.map(String::len).max().unwrap_or(0);
    let indent = widest + 2;
    let columns = page.width - indent;
    let (low, high) = runs.values;
    let (low, high) = widened((low * runs.scale.factor, high * runs.scale.factor), 0.06);
    let values = Axis::new(low, high, columns / 9);

    page.wrapped(
        &format!(
            "{}: every run, and the means (^)",
            head.quantity(&runs.scale.unit)
        ),
        "",
    );
    for (name, strip) in names.iter().zip(&runs.strips) {
        let counts = strip
            .values
            .iter()
            .map(|value| place(&values, value * runs.scale.factor, columns));
        page.lines
            .push(format!("{name:>widest$} |{}", dots(counts, columns)));
        let mean = place(&values, strip.mean * runs.scale.factor, columns);
        let number = runs.mean(strip);
        page.lines.push(format!(
            "{:>widest$} |{}",
            "",
            mean_mark(mean, &label::ascii(&number), columns)
        ));
    }
    page.horizontal(&values, indent, columns);
    if let Some(difference) = &runs.difference {
        page.lines.push(String::new());
        let Interval {
            difference: value,
            low,
            high,
        } = difference.interval;
        let ends = extent([low, high, value, 0.0]).unwrap_or((low, high));
        let (from, to) = widened(
            (ends.0 * runs.scale.factor, ends.1 * runs.scale.factor),
            0.06,
        );
        let (from, to) = (from.min(-0.06 * (to - from)), to.max(0.06 * (to - from)));
        let axis = Axis::new(from, to, columns / 9);
        let at = |value: f64| place(&axis, value * runs.scale.factor, columns);
        let bar = interval_bar(at(low), at(value), at(high), at(0.0), columns);
        page.lines
            .push(format!("{difference_label:>widest$} |{bar}"));
        page.horizontal(&axis, indent, columns);
        page.wrapped(&runs.said_difference(difference), "  ");
    }
    if runs.strips.len() > STRIPS {
        page.wrapped(
            &format!("and {} more conditions", runs.strips.len() - STRIPS),
            "",
        );
    }
    page.end(head)
}

/// One character a column: `o` one run, a digit so many runs, `#` ten or more.
fn dots(places: impl Iterator<Item = usize>, columns: usize) -> String {
    let mut counts = vec![0u32; columns];
    for column in places {
        counts[column] += 1;
    }
    counts
        .into_iter()
        .map(|count| match count {
            0 => ' ',
            1 => 'o',
            2..=9 => char::from_digit(count, 10).unwrap_or('#'),
            _ => '#',
        })
        .collect()
}

/// `^ 5.79 s`, the number at the left where the right has no room.
fn mean_mark(column: usize, number: &str, columns: usize) -> String {
    if column + 2 + number.len() <= columns {
        format!("{}^ {number}", " ".repeat(column))
    } else {
        format!(
            "{}{number} ^",
            " ".repeat(column.saturating_sub(number.len() + 1))
        )
    }
}

/// `<---*--->`, with `:` at zero.
fn interval_bar(low: usize, value: usize, high: usize, zero: usize, columns: usize) -> String {
    let mut bar = vec![' '; columns];
    bar[low.min(high)..=high.max(low)].fill('-');
    bar[zero] = ':';
    bar[low] = '<';
    bar[high] = '>';
    bar[value] = '*';
    bar.into_iter().collect()
}
