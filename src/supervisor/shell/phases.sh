# Ends the trial for this reason.
fail() { [ -n "$how" ] || how="failed $*"; return 1; }
# Whether the trial is to end, and how: looked at once a second. Putting the host in order is never cut short.
is_over() {
  [ -z "$how" ] || return 0
  clock
  if [ -z "$concluded" ]; then
    look_at_lease
    if [ -n "$told" ] || [ -e stop ]; then how=stopped
    elif [ "$now" -ge "$((seen + lease))" ]; then how=lease
    fi
  fi
  [ -n "$how" ] || [ -z "$deadline" ] || [ "$now" -lt "$deadline" ] || how=$late
  [ -n "$how" ]
}
# Who follows writes CLOCK_BOOTTIME into the lease: its time of change would be the wall clock's.
look_at_lease() {
  { read -r renewed rest <lease; } || return 0
  case $renewed in
  *[!0-9.]* | *.*.*) return 0 ;;
  [0-9]*.[0-9][0-9]) renewed=$((${renewed%.*} * 100 + 1${renewed#*.} - 100)) ;;
  *) return 0 ;;
  esac
  [ "$renewed" -gt "$now" ] || [ "$renewed" -lt "$seen" ] || seen=$renewed
}
# Until the time $1, unless the trial is to end before.
linger() {
  until is_over; do
    [ "$now" -lt "$1" ] || return 0
    pause $(($1 - now < 100 ? $1 - now : 100))
  done
  return 1
}
# Starts $1 as an orphan: no shell's child, so that it has no ignored signals, as what `&` starts has; a session leader
# has to fork for its setsid(1), which is why there are two. Nothing of it is open here.
launch() {
  env "$beside" setsid setsid sh supervisor.sh run "$1" </dev/null >/dev/null 2>&1 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
  tries=0
  until [ -s ".$1.runner" ]; do
    [ "$((tries += 1))" -le 1000 ] || { fail "$1 could not be started"; return 1; }
    pause 1
  done
}
# What `launch` starts.
run() {
  process $$
  save ".$1.runner" "$$ $began $boot"
  case $1 in
  workload)
    unset KTRIAL_BESIDE
    env "$within" setsid sh supervisor.sh lead >>workload.stdout 2>>workload.stderr
    ;;
  prepare | restore) sh "$1.sh" >>workload.stdout 2>".$1.err" ;;
  *) exec sh "$1.sh" >"$1.txt" 2>"$1.err" ;;
  esac
  set -- "$1" "$?"
  clock
  save ".$1.end" "$up $2"
}
# The workload leads a session and a process group of its own, and may be killed when memory runs out.
lead() {
  process $$
  printf '%s\n' "$$ $began" >.workload.new && mv .workload.new .workload.group
  { read -r score <.oom && printf '%s\n' "$score" >/proc/$$/oom_score_adj; } 2>/dev/null
  exec sh command.sh
}
runner() { cut -d ' ' -f 1 ".$1.runner"; }
# Whether what was launched as $1 has ended; `code` and `ended_at` say how and when, where that is known.
has_ended() {
  [ -e ".$1.end" ] || ! lives_in ".$1.runner" || return 1
  code='' ended_at=''
  { read -r ended_at code <".$1.end"; } 2>/dev/null
  return 0
}
# Waits for its end, unless the trial is to end before. Often at first: much of it ends at once.
await() {
  step=5
  until has_ended "$1"; do
    ! is_over || return 1
    [ -z "$deadline" ] || [ "$((deadline - now))" -gt "$step" ] || step=$((deadline - now))
    pause "$step"
    step=$((step < 50 ? step * 2 : 100))
  done
}
# What a script said: lines for the reader of the record become notes; with $2 the last line is the reason of a failure.
said() {
  cat ".$1.err" >>workload.stderr
  { if [ -n "$2" ]; then sed '$d' ".$1.err"; else cat ".$1.err"; fi; } | grep '^ktrial: ' | head -n 10 | clean |
    while IFS= read -r line; do event note "${line#ktrial: }"; done
}
# aside NAME SECONDS: runs `prepare` or `restore`, at most for so long.
aside() {
  launch "$1" || return
  clock
  deadline=$((now + $2 * 100)) late="failed $1 did not end within $2 s"
  await "$1"
  deadline=
  has_ended "$1" || end_all '' "$(runner "$1")" 500 TERM
  has_ended "$1"
}

trial() {
  keep_room
  event begun $$
  seen=$now
  # A host out of memory should not lose who ends its workload; only root may say so.
  cat /proc/$$/oom_score_adj >.oom && printf '%s\n' -1000 >/proc/$$/oom_score_adj
  guard_all
  set_all && ! is_over || return
  printf '' >.prepared
  aside prepare "$prepare_limit"
  if [ -z "$how" ] && [ "$code" != 0 ]; then
    said prepare last
    reason=$(last_line .prepare.err)
    reason=${reason#ktrial: }
    fail "${reason:-prepare ended with code $code}"
    return
  fi
  said prepare
  for monitor in $monitors; do launch "$monitor" || return; done
  await_samples || return
  event idle
  linger $((now + idle)) || return
  event start
  deadline=$((now + limit)) late=limit
  launch workload || return
  await workload || return
  deadline=
  workload_ended
  clock
  linger $((now + settle)) || return
  event settled
  how=complete
}
# The idle phase counts only with every monitor under way.
await_samples() {
  clock
  deadline=$((now + 1500))
  for monitor in $monitors; do
    late="failed the monitor $monitor gave no sample: "
    until [ -s "$monitor.txt" ]; do
      if is_over || ! lives_in ".$monitor.runner" && [ ! -s "$monitor.txt" ]; then
        how=${how:-$late}
        [ "$how" != "$late" ] || how=$how$(last_line "$monitor.err")
        return 1
      fi
      pause 5
    done
  done
  deadline=
}
# Ends the workload where the trial is to end, tells its end, and ends what outlived it; once.
workload_ended() {
  [ -e .workload.runner ] && [ -z "$end_is_told" ] || return 0
  end_is_told=yes
  # The first thing that it does is to tell its group.
  tries=0
  until [ -s .workload.group ] || has_ended workload || [ "$((tries += 1))" -gt 200 ]; do pause 5; done
  group=$(cat .workload.group)
  leader=${group#* } group=${group%% *}
  [ -z "$how" ] || for signal in INT TERM KILL; do
    ! is_gone || break
    ! is_anothers || break
    kill "-$signal" "-$group"
    clock
    over=$((now + grace))
    until is_gone || [ "$now" -ge "$over" ]; do pause 10; clock; done
  done
  tries=0
  until has_ended workload || [ "$((tries += 1))" -gt 100 ]; do pause 5; done
  case $code in
  '' | *[!0-9]*) fail 'the end of the workload is not known' ;;
  *) event_at "$ended_at" end "$code" ;;
  esac
  ! is_anothers || group=
  end_all "$within" "$group" 250 TERM || event left "process $found still runs"
  [ -z "$found" ] ||
    event note "the workload left $total processes that outlived it and were ended: $found"
  # What it may have put in the place of its output: nobody is to wait for it, or to follow it.
  for name in workload.stdout workload.stderr; do
    [ -f "$name" ] && [ ! -L "$name" ] || rm -f "$name"
  done
}
# Whether the number of the workload's leader is another process' by now, so that no group or session of it is its own.
is_anothers() { process "$group" && [ "$began" != "$leader" ]; }
is_gone() { has_ended workload && [ -z "$(processes '' "$group" '')" ]; }

# However the trial ended: the host is left as it was, and what there is can be fetched.
conclude() {
  [ -z "$concluded" ] || return 0
  concluded=yes
  look_at_disk
  fail 'the supervisor broke off'
  workload_ended
  for monitor in $monitors; do
    [ ! -e ".$monitor.runner" ] || end_monitor
  done
  restore
  # What the scripts beside the workload left, in whatever session.
  spared=$$
  end_all "$beside" '' 250 TERM || event left "process $found still runs"
  spared=
  leave_as_it_was
  note_output
  event ended "$how"
  write_result
  leave_host
}
# Whether all could be written until now; what follows has the rest of the room.
look_at_disk() {
  { [ -e .room.1 ] && printf '%s\n' "$$" >.probe; } 2>/dev/null
  set -- "$?"
  rm -f .room.2 .probe
  [ "$1" = 0 ] || event note 'the disk is full: what was to be written meanwhile is lost'
}
# The session of one that has ended may be another's by now; what is left of it is known by its environment.
end_monitor() {
  lives_in ".$monitor.runner" || {
    case $how in
    failed*) ;;
    *) event note "the monitor $monitor ended early: $(last_line "$monitor.err")" ;;
    esac
    return
  }
  end_all '' "$(runner "$monitor")" 250 TERM || event left "the monitor $monitor still runs: $found"
}
# What `prepare` began is undone, also when it did not come to its end.
restore() {
  [ -e .prepared ] || return 0
  set -- "$how"
  how=
  aside restore "$restore_limit" || event left 'restore did not come to its end'
  how=$1
  said restore
  case $code in 0 | '') ;; *) event note "restore ended with code $code" ;; esac
}
leave_as_it_was() {
  [ ! -e .prepared ] || still_all
  [ ! -e journal ] || put_back <journal
}
note_output() {
  for name in workload.stdout workload.stderr; do
    [ -f "$name" ] && [ ! -L "$name" ] || continue
    bytes=$(($(wc -c <"$name")))
    [ "$bytes" -le "$output_limit" ] || event note "$name had $bytes bytes; its first $output_limit are kept"
  done
}
# bounded NAME BYTES: sets `bytes` to how many of them are to be fetched at most.
bounded() {
  bytes=$2
  case $1 in
  workload.stdout | workload.stderr) [ "$bytes" -le "$output_limit" ] || bytes=$output_limit ;;
  esac
}
# A line for each file that is to be fetched. Of one that still grows, the begin counts.
write_result() {
  for name in $files; do
    [ -f "$name" ] && [ ! -L "$name" ] || continue
    bounded "$name" $(($(wc -c <"$name")))
    sum=$(head -c "$bytes" "$name" | sha256sum)
    sum=${sum%% *}
    printf '%s %s %s\n' "$name" "$bytes" "${sum:--}"
  done >.result.new && mv .result.new result
}
