//! Comparisons, the verdict first.

use crate::compare::{Comparison, Verdict};
use crate::display::{Column, Listing, Rich, Show, escape_html};
use crate::report::{Report, headline, label, p_digits};

impl Show for [Comparison] {
    /// The text report.
    fn to_plain(&self) -> String {
        let report = Report {
            title: String::new(),
            setup: Vec::new(),
            comparisons: self.to_vec(),
            figures: Vec::new(),
            notes: Vec::new(),
        };
        report.to_text()
    }

    /// A sentence a comparison, then a table with what a reader has to know below.
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
        html.push_str(&listing(self).to_html());
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

fn listing(comparisons: &[Comparison]) -> Listing {
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
        let scale = of.scale();
        let mean = |value: Option<f64>| value.map(|value| scale.mean(value)).unwrap_or_default();
        let difference = |value: Option<f64>| {
            value
                .map(|value| scale.difference(value))
                .unwrap_or_default()
        };
        vec![
            of.metric.clone(),
            format!("{} - {}", of.condition_b, of.condition_a),
            cell.join(", "),
            scale.unit.to_string(),
            format!("{} + {}", of.a.n, of.b.n),
            mean(of.a.mean),
            mean(of.b.mean),
            difference(of.difference),
            difference(of.difference_ci.map(|(low, _)| low)),
            difference(of.difference_ci.map(|(_, high)| high)),
            of.p_adjusted.map(p_digits).unwrap_or_default(),
            of.p_min.map(p_digits).unwrap_or_default(),
            of.verdict.words().to_owned(),
        ]
    });
    let mut table = Listing::new(columns, rows.collect());
    for of in comparisons {
        for warning in &of.warnings {
            table = table.with_note(format!("{}: {warning}", label(of)));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Options, Sample, adjust, compare};
    use crate::series::Cell;
    use crate::unit::Unit;

    #[test]
    fn the_verdict_comes_first_and_names_are_escaped() {
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
        assert!(
            plain.starts_with("settle [config=!debug] 1.08 s lower in <after>"),
            "{plain}"
        );
        assert!(plain.is_ascii());
        let html = all.to_html();
        assert!(
            html.starts_with("<p><strong>settle [config=!debug] 1.08 s lower in &lt;after&gt;"),
            "{html}"
        );
        assert!(!html.contains("<after>"));
    }
}
