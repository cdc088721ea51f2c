# Starts the supervisor, as an orphan as what it launches itself, unless an earlier start of this trial did.
start() {
  if holder "$lock" && [ "$owner" = "$folder" ] && lives "$pid" "$start" "$id"; then
    say_started
  fi
  if [ -e events ] || [ -e pid ]; then
    refuse "trial $folder was started before"
  fi
  put_others_right
  rm -f .refused
  env "$beside" setsid setsid sh supervisor.sh supervise </dev/null >/dev/null 2>&1 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
  say_started
}
say_started() {
  tries=0
  until [ -e pid ]; do
    [ ! -e .refused ] || refuse "$(cat .refused)"
    [ "$((tries += 1))" -le 300 ] || refuse 'the supervisor did not start within 30 s'
    pause 10
  done
  read -r pid rest <pid
  printf 'started %s\n' "$pid"
  exit
}
# Supervisors that died on this host have left trials: nothing is measured before those are put right. A trial of
# another boot is left as it is.
put_others_right() {
  for file in ../*/pid; do
    other=${file%/pid}
    { read -r pid start id <"$file"; } 2>/dev/null || continue
    # In this order: who is gone has written its result before.
    [ "$id" = "$boot" ] && ! lives "$pid" "$start" "$id" && [ ! -e "$other/result" ] || continue
    why=$(put_right "$other" 2>&1 | tail -n 1 | clean)
    # Somebody else may be at it.
    tries=0
    until [ -e "$other/result" ] || [ ! -e "$file" ]; do
      holder "$lock" && [ "../$owner" = "$other" ] && lives "$pid" "$start" "$id" && [ "$((tries += 1))" -le 340 ] ||
        [ -e "$other/result" ] ||
        refuse "what the trial ${other#../} left on this host could not be put right: ${why#refused }"
      pause 50
    done
  done
}
# The agent's journal is its own to read.
put_right() {
  [ ! -f "$1/supervisor.sh" ] || { cd "$1" && sh supervisor.sh recover; return; }
  for agent in ../agent-*; do
    if [ -f "$agent" ] && [ -x "$agent" ]; then
      "$agent" recover "$1" && return
    fi
  done
  [ -f "$agent" ] || echo 'an agent had it, and none is there'
}
refuse() { printf 'refused %s\n' "$*"; exit 1; }
supervise() {
  trap 'told=yes' INT TERM QUIT
  trap : HUP PIPE
  take_host || { printf '%s\n' "$refusal" >.refused.new && mv .refused.new .refused; exit 1; }
  process $$
  printf '%s\n' "$$ $began $boot" >.pid && mv .pid pid
  trap conclude EXIT
  trial
  exit
}
stop() { touch stop; }
# Puts in order what a supervisor that died has left.
recover() {
  ! lives_in pid || { echo running; exit; }
  [ ! -e result ] || { echo ended; exit; }
  take_host || refuse "$refusal"
  # Now that nobody else can: somebody may have been quicker.
  [ ! -e result ] || { leave_host; echo ended; exit; }
  rm -f .room.*
  # A line may be cut where it died.
  [ -z "$(tail -c 1 events)" ] || echo >>events
  how=rebooted concluded=yes
  { read -r pid start id <pid; } 2>/dev/null || id=$boot
  if [ "$id" = "$boot" ]; then
    how=died
    end_all "$within" '' "$grace" INT TERM || event left "process $found still runs"
    end_all "$beside" '' 250 TERM || event left "process $found still runs"
    # What began a workload may have done so while the first look went on.
    end_all "$within" '' 250 TERM || event left "process $found still runs"
    rm -f .restore.*
    restore
    leave_as_it_was
  fi
  note_output
  case $(tail -n 1 events) in *' ended '*) ;; *) event ended "$how" ;; esac
  write_result
  leave_host
  echo "$how"
} 2>/dev/null

verb=$1
shift
"$verb" "$@"
