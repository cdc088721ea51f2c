# Starts the supervisor, as an orphan as what it launches itself. A supervisor that died on this host has left a trial:
# that is ended first.
start() {
  if [ -e events ] || [ -e pid ]; then
    refuse "trial $folder was started before"
  fi
  if holder "$lock" && ! lives "$pid" "$start" "$id" && [ -n "$owner" ] && [ -f "../$owner/supervisor.sh" ]; then
    (cd "../$owner" && sh supervisor.sh recover) >/dev/null 2>&1
  fi
  env "$beside" setsid setsid sh supervisor.sh supervise </dev/null >/dev/null 2>&1 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
  tries=0
  until [ -e pid ]; do
    [ ! -e .refused ] || refuse "$(cat .refused)"
    [ "$((tries += 1))" -le 300 ] || refuse 'the supervisor did not start within 30 s'
    pause 10
  done
  read -r pid rest <pid
  printf 'started %s\n' "$pid"
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
  rm -f .room.*
  # A line may be cut where it died.
  [ -z "$(tail -c 1 events)" ] || echo >>events
  how=rebooted concluded=yes
  { read -r pid start id <pid; } 2>/dev/null || id=$boot
  if [ "$id" = "$boot" ]; then
    how=died
    end_all "$within" '' "$grace" INT TERM || event left "process $found still runs"
    end_all "$beside" '' 250 TERM || event left "process $found still runs"
    rm -f .restore.*
    restore
    leave_as_it_was
  fi
  case $(tail -n 1 events) in *' ended '*) ;; *) event ended "$how" ;; esac
  write_result
  leave_host
  echo "$how"
} 2>/dev/null

verb=$1
shift
"$verb" "$@"
