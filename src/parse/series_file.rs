//! Writes a record's series file: comments that say what the numbers are, then one number a line.

use crate::series::Series;

/// The file of one series sampled every `interval_s` seconds. `remarks` become comments of their own;
/// one must not begin with a known key (`metric:`, `unit:`, `quantum:`, `interval:`).
///
/// ```
/// use ktrial::{parse::series_file, series::Series, unit::Unit};
/// let series = Series { metric: "memory.used".into(), unit: Unit::KiB, values: vec![508000.0], ..Series::default() };
/// let text = series_file::write(&series, 1.0, &[]);
/// assert_eq!(text, "# metric: memory.used\n# unit: KiB\n# interval: 1 s\n508000\n");
/// ```
pub fn write(series: &Series, interval_s: f64, remarks: &[String]) -> String {
    let mut text = format!("# metric: {}\n# unit: {}\n", series.metric, series.unit);
    if let Some(quantum) = series.quantum {
        text.push_str(&format!("# quantum: {quantum}\n"));
    }
    text.push_str(&format!("# interval: {interval_s} s\n"));
    for remark in remarks {
        text.push_str(&format!("# {remark}\n"));
    }
    for value in &series.values {
        text.push_str(&format!("{value}\n"));
    }
    text
}
