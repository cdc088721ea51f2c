//! When a monitor's samples were taken, read from what it writes as it comes.

use std::ops::RangeInclusive;

/// Longest line that can tell a time.
const LINE_LIMIT: usize = 80;

/// Most times that are kept; a trial with more of them has samples everywhere.
const TIMES_LIMIT: usize = 1 << 20;

/// Times of samples, seconds of the host's CLOCK_BOOTTIME.
///
/// `@ SECONDS` or `+ SECONDS` stands above a sample; `@ SECONDS PERIOD` above many, one a line.
#[derive(Debug, Default)]
pub(super) struct SampleTimes {
    line: Vec<u8>,
    next: Option<(f64, f64)>,
    times: Vec<f64>,
    /// How many samples came.
    pub(super) count: u64,
}

impl SampleTimes {
    /// Takes the next piece of the monitor's output.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.read_line();
                self.line.clear();
            } else if self.line.len() < LINE_LIMIT {
                self.line.push(byte);
            }
        }
    }

    /// Whether some sample lies within this time.
    pub(super) fn any_in(&self, time: &RangeInclusive<f64>) -> bool {
        self.times.len() == TIMES_LIMIT || self.times.iter().any(|at| time.contains(at))
    }

    fn read_line(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        let stamp = text.strip_prefix("@ ").or(text.strip_prefix("+ "));
        let Some(stamp) = stamp else {
            if let (Some((at, period)), Ok(_)) = (self.next, text.trim().parse::<f64>()) {
                self.next = Some((at + period, period));
                self.add(at);
            }
            return;
        };
        let mut numbers = stamp.split(' ').map(|word| word.parse::<f64>().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(at), Some(period)) => self.next = Some((at, period)),
            (Some(at), None) => self.add(at),
            (None, _) => {}
        }
    }

    fn add(&mut self, at: f64) {
        self.count += 1;
        if self.times.len() < TIMES_LIMIT {
            self.times.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_monitors_are_read_in_any_pieces() {
        let mut meminfo = SampleTimes::default();
        let text = b"@ 10.00\nMemTotal: 9 kB\n+ 10.501\nMemFree: 3 kB\n! 10.7 3\n@ 10.75\nMemTotal";
        for piece in text.chunks(3) {
            meminfo.feed(piece);
        }
        assert_eq!(meminfo.times, [10.0, 10.501, 10.75]);

        let mut free = SampleTimes::default();
        free.feed(b"@ 10.00 2\n700\n701\nno number\n702\n");
        assert_eq!((free.count, &free.times[..]), (3, &[10.0, 12.0, 14.0][..]));
        assert!(free.any_in(&(11.0..=12.0)) && !free.any_in(&(12.1..=13.9)));
    }
}
