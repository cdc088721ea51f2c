//! polars data frames as tables.

use polars::prelude::{AnyValue, DataFrame, DataType};

use crate::display::{Column, Listing, Rich, Show};
use crate::frame::Table;
use crate::unit::Unit;

impl Show for Table {
    fn to_plain(&self) -> String {
        listing(&self.frame(), |column| self.unit(column)).to_plain()
    }

    fn to_rich(&self) -> Rich {
        listing(&self.frame(), |column| self.unit(column)).to_rich()
    }
}

impl Show for DataFrame {
    fn to_plain(&self) -> String {
        listing(self, |_| Unit::None).to_plain()
    }

    fn to_rich(&self) -> Rich {
        listing(self, |_| Unit::None).to_rich()
    }
}

/// Below a column's name stands its unit, or its type when it has none.
fn listing(frame: &DataFrame, unit: impl Fn(&str) -> Unit) -> Listing {
    let columns = frame.columns();
    let heads = columns.iter().map(|column| {
        let name = column.name().as_str();
        let head = if column.dtype().is_numeric() {
            Column::number(name)
        } else {
            Column::text(name)
        };
        head.with_below(match unit(name) {
            Unit::None => type_word(column.dtype()),
            unit => unit.to_string(),
        })
    });
    Listing::of_rows(heads.collect(), frame.height(), |row| {
        let values = columns.iter().map(|column| column.get(row));
        let texts = values.map(|value| value.map_or_else(|_| String::new(), |value| text(&value)));
        texts.collect()
    })
    .with_note(format!(
        "{} rows, {} columns",
        frame.height(),
        frame.width()
    ))
}

fn type_word(of: &DataType) -> String {
    match of {
        DataType::Boolean => "bool".into(),
        DataType::String => "text".into(),
        other => other.to_string(),
    }
}

fn text(value: &AnyValue) -> String {
    match value {
        AnyValue::Null => String::new(),
        AnyValue::String(text) => (*text).to_owned(),
        AnyValue::StringOwned(text) => text.to_string(),
        AnyValue::Float64(number) => float(*number),
        AnyValue::Float32(number) => float(f64::from(*number)),
        other => other.to_string(),
    }
}

/// Six significant digits or every digit before the point, without zeros at the end.
fn float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{number:.5e}");
    }
    let before_point = if size < 1.0 {
        0.0
    } else {
        size.log10().floor()
    };
    let decimals = (5.0 - before_point).clamp(0.0, 9.0) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use polars::df;

    use super::*;

    #[test]
    fn a_frame_is_a_table_with_types() {
        let frame = df!(
            "trial" => ["t01", "<script>"],
            "peak" => [Some(528732.0), None],
            "boots" => [1i64, 2],
        )
        .unwrap();
        assert_eq!(
            frame.to_plain(),
            "trial       peak  boots\n\
             text         f64    i64\n\
             --------  ------  -----\n\
             t01       528732      1\n\
             <script>              2\n\
             2 rows, 3 columns\n"
        );
        assert!(frame.to_html().contains("&lt;script&gt;"));
    }

    #[test]
    fn numbers_are_short_and_exact_where_they_are_whole() {
        for (number, text) in [
            (0.0, "0"),
            (-1.0908, "-1.0908"),
            (0.000072, "7.20000e-5"),
            (0.1 + 0.2, "0.3"),
            (1234567.0, "1234567"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(float(number), text);
        }
    }
}
