//! The pipeline that kernel mails use: `free -k -s 1 -c 40 | grep Mem | awk '{print $3}'`.

use std::time::Duration;

/// The pipeline under a line `@ SECONDS PERIOD`: the host's CLOCK_BOOTTIME at its start, and the time between samples.
///
/// Literal but for buffering: `grep` and `awk` hold back up to 4 KiB when they write to a pipe, and a pipeline
/// that is ended early would lose a minute of samples. mawk holds back its input too unless it is `-W interactive`.
/// busybox's `free` cannot repeat itself, nor its `grep` line-buffer: there a loop does the same.
pub(super) fn script(period: Duration, limit: Duration) -> String {
    let seconds = period.as_secs_f64().max(0.1);
    let count = (limit.as_secs_f64() / seconds).ceil() as u64;
    format!(
        r#"# monitor free: the "used" column of free, in KiB
awk=awk
case $(awk -W version 2>&1 </dev/null) in mawk*) awk='awk -W interactive' ;; esac
read -r up rest </proc/uptime
printf '@ %s {seconds}\n' "$up"
if free -k -s {seconds} -c 1 >/dev/null 2>&1 && echo Mem | grep --line-buffered Mem >/dev/null 2>&1; then
  free -k -s {seconds} -c {count} | grep --line-buffered Mem | $awk '{{print $3; fflush()}}'
else
  n=0
  while [ "$n" -lt {count} ]; do
    free | grep Mem | awk '{{print $3}}' || exit
    n=$((n + 1))
    sleep {seconds}
  done
fi
"#
    )
}
