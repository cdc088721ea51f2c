//! A file of the kernel such as `/proc/meminfo`, whole, each block under a line `@ SECONDS` with the host's
//! CLOCK_BOOTTIME: for hosts where the agent cannot run.

use std::time::Duration;

/// Only the shell itself and `sleep`: reading with the shell's own `read` costs a third of a `cat`
/// and does not fork while memory is short. A block is one write, so that a cut connection cuts at most one.
///
/// `/proc/uptime` is CLOCK_BOOTTIME with two digits after the point; times are kept as hundredths.
/// A sample that is late does not shift those after it; one that is late by a whole period is skipped.
/// Periods are rounded up to hundredths; a shell is seldom as fast as that anyway.
pub(super) fn script(name: &str, path: &str, period: Duration, limit: Duration) -> String {
    let period = hundredths(period).max(1);
    let limit = hundredths(limit);
    format!(
        r#"# monitor {name}: {path} every {period} hundredths of a second
period={period}
nl='
'
read -r up rest </proc/uptime
due=${{up%.*}}${{up#*.}}
stop=$((due + {limit}))
while [ "$due" -lt "$stop" ]; do
  read -r up rest </proc/uptime
  block="@ $up"
  while IFS= read -r line; do block=$block$nl$line; done <{path}
  printf '%s\n' "$block" || exit
  read -r up rest </proc/uptime
  now=${{up%.*}}${{up#*.}}
  due=$((due + period))
  [ "$due" -le "$now" ] && due=$((now + period - (now - due) % period))
  wait=$((due - now))
  sleep "$((wait / 100)).$((wait / 10 % 10))$((wait % 10))"
done
"#
    )
}

fn hundredths(time: Duration) -> u128 {
    time.as_millis().div_ceil(10)
}
