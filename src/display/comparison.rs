//! Comparisons, the verdict first.

use crate::ascii::escaped;
use crate::compare::{Comparison, Verdict};
use crate::display::{Column, Listing, Rich, Show, escape_html};
use crate::unit::significant;

impl Show for [Comparison] {
    fn to_plain(&self) -> String {
        let mut text = String::new();
        for comparison in self {
            text.push_str(&format!("{}\n", escaped(&headline(comparison))));
        }
        text.push('\n');
        text.push_str(&table(self).to_plain());
        text
    }

    fn to_rich(&self) -> Rich {
        let mut html = String::new();
        for comparison in self {
            let line = escape_html(&headline(comparison));
            html.push_str(&match comparison.verdict {
                Verdict::Supported | Verdict::Equivalent => {
                    format!("<p><strong>{line}</strong></p>\n")
                }
                Verdict::NotShown | Verdict::CannotBeShown => format!("<p>{line}</p>\n"),
            });
        }
        html.push_str(&table(self).to_html());
        Rich::Html(html)
    }
}

impl Show for Comparison {
    fn to_plain(&self) -> String {
        std::slice::from_ref(self).to_plain()
    }

    fn to_rich(&self) -> Rich {
        std::slice::from_ref(self).to_rich()
    }
}

/// The verdict in one line, with the numbers that it stands on, all in one unit.
fn headline(of: &Comparison) -> String {
    let (low, high) = of.difference_ci.unzip();
    let numbers = [of.difference, low, high].into_iter().flatten();
    let unit = of
        .unit
        .scaled_for(numbers.map(f64::abs).fold(0.0, f64::max));
    let show = |value| of.unit.show_in(value, &unit);

    let mut line = format!("{}: {}", subject(of), of.verdict.words());
    if let Some(difference) = of.difference {
        let plus = if difference > 0.0 { "+" } else { "" };
        line.push_str(&format!(", {plus}{}", show(difference)));
    }
    if let Some(ratio) = of.ratio {
        line.push_str(&format!(" ({:+.1} %)", (ratio - 1.0) * 100.0));
    }
    if let Some((low, high)) = of.difference_ci {
        line.push_str(&format!(", 95 % interval {} to {}", show(low), show(high)));
    }
    if let Some(p) = of.p_adjusted {
        line.push_str(&format!(", adjusted p {}", p_value(p)));
    }
    line.push_str(&format!(", n {} and {}", of.a.n, of.b.n));
    line
}

fn subject(of: &Comparison) -> String {
    let cell: Vec<_> = of
        .cell
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let conditions = format!("{} against {}", of.condition_b, of.condition_a);
    match cell.is_empty() {
        true => format!("{}, {conditions}", of.metric),
        false => format!("{}, {conditions}, {}", of.metric, cell.join(", ")),
    }
}

fn table(comparisons: &[Comparison]) -> Listing {
    let number = |value: Option<f64>| value.map(significant).unwrap_or_default();
    let columns = vec![
        Column::text("metric"),
        Column::text("conditions"),
        Column::text("parameters"),
        Column::text("unit"),
        Column::number("n"),
        Column::number("mean a"),
        Column::number("mean b"),
        Column::number("difference"),
        Column::number("95 % low"),
        Column::number("95 % high"),
        Column::number("adjusted p"),
        Column::number("smallest p"),
        Column::text("verdict"),
    ];
    let rows = comparisons.iter().map(|of| {
        let cell: Vec<_> = of
            .cell
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        vec![
            of.metric.clone(),
            format!("{} - {}", of.condition_b, of.condition_a),
            cell.join(", "),
            of.unit.to_string(),
            format!("{} + {}", of.a.n, of.b.n),
            number(of.a.mean),
            number(of.b.mean),
            number(of.difference),
            number(of.difference_ci.map(|(low, _)| low)),
            number(of.difference_ci.map(|(_, high)| high)),
            of.p_adjusted.map(p_value).unwrap_or_default(),
            of.p_min.map(p_value).unwrap_or_default(),
            of.verdict.words().to_owned(),
        ]
    });
    let mut table = Listing::new(columns, rows.collect());
    for of in comparisons {
        for warning in &of.warnings {
            table = table.with_note(format!("{}: {warning}", subject(of)));
        }
    }
    table
}

fn p_value(p: f64) -> String {
    if p < 1e-4 {
        "< 0.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Options, Sample, adjust, compare};
    use crate::series::Cell;
    use crate::unit::Unit;

    #[test]
    fn the_verdict_comes_first_in_one_unit() {
        let sample = |condition: &str, values: &[f64]| Sample {
            condition: condition.into(),
            values: values.to_vec(),
        };
        let before = sample("before", &[5.672, 5.418, 5.707, 6.250]);
        let after = sample("<after>", &[4.652, 4.634, 4.745]);
        let cell = Cell::from([("config".into(), "!debug".into())]);
        let options = Options::default();
        let mut all = [compare(
            "settle",
            &Unit::Second,
            &cell,
            &before,
            &after,
            &options,
        )];
        adjust(&mut all);
        let plain = all.to_plain();
        assert_eq!(
            plain.lines().next().unwrap(),
            "settle, <after> against before, config !debug: supported, -1.08 s (-18.8 %), \
             95 % interval -1.63 s to -0.539 s, adjusted p 0.0072, n 4 and 3"
        );
        assert!(plain.is_ascii());
        let html = all.to_html();
        assert!(
            html.starts_with("<p><strong>settle, &lt;after&gt; against before"),
            "{html}"
        );
        assert!(!html.contains("<after>"));
    }
}
