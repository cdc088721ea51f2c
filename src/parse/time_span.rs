//! Time spans as systemd's `format_timespan` writes them: parts from years to microseconds, largest first, a fraction
//! only on the last (`1min 2.345s`, `2h 1min 3s`, `505ms`).

/// Parts of a time span, largest first, in nanoseconds. Month and year as systemd counts them.
const PARTS: [(&str, u64); 9] = [
    ("y", 31_557_600_000_000_000),
    ("month", 2_629_800_000_000_000),
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// Nanoseconds, and the weight of the last digit in nanoseconds; none when it is no time span.
pub(super) fn time_span(text: &str) -> Option<(u64, u64)> {
    let mut total: u64 = 0;
    let mut resolution = None;
    let mut allowed = &PARTS[..];
    for word in text.split_whitespace() {
        // A fraction stands on the last part only.
        if resolution.is_some_and(|(_, fraction)| fraction) {
            return None;
        }
        let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, symbol) = word.split_at(digits);
        let at = allowed.iter().position(|(name, _)| *name == symbol)?;
        let scale = allowed.get(at)?.1;
        allowed = allowed.get(at + 1..)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || number.ends_with('.') || fraction.len() > 9 {
            return None;
        }
        let mut weight = scale;
        for _ in 0..fraction.len() {
            if weight % 10 != 0 {
                return None;
            }
            weight /= 10;
        }
        let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
        total = total.checked_add(digits.checked_mul(weight)?)?;
        resolution = Some((weight, !fraction.is_empty()));
    }
    resolution.map(|(weight, _)| (total, weight))
}

/// Nanoseconds as seconds.
pub(super) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
