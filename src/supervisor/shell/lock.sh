# Takes the file $1 for the process that the file $mine names. A link is made whole or not at all, so one of many gets it.
# Who is dead holds nothing; but only who has the lock on the dead one's own numbers may take its lock away, or a second
# one that looked at the same time would take away the first one's.
take() {
  ln "$mine" "$1" 2>/dev/null && return
  holder "$1" && lives "$pid" "$start" "$id" && return 1
  set -- "$1" "$pid.$start"
  take "$1.$2" || return 1
  holder "$1"
  # Without a file anyone may link one just now.
  [ "$pid.$start" != "$2" ] || [ "$pid" = none ] || rm -f "$1"
  ln "$mine" "$1" 2>/dev/null
  set -- "$1.$2" "$?"
  rm -f "$1"
  return "$2"
}
# Sets who holds the file: `PID START BOOT_ID FOLDER`. The numbers are 0 in one that cannot be read as that, and `none`
# without a file.
holder() {
  pid=none start=none id='' owner=''
  { pid='' start=''; read -r pid start id owner; } 2>/dev/null <"$1"
  [ "$pid$start" != nonenone ] || return 1
  case $pid$start in '' | *[!0-9]*) pid=0 start=0; return 1 ;; esac
}
# Takes the host for this process, with a file of its own: one that was linked once would still be the lock.
take_host() {
  mine=.lock.$$
  process $$ && printf '%s\n' "$$ $began $boot $folder" >"$mine" && take_when_over
  set -- "$?"
  rm -f "$mine"
  [ "$1" != 0 ] || return 0
  holder "$lock"
  refusal="trial $owner runs on this host, process $pid"
  [ -n "$owner" ] || refusal="the lock $lock cannot be taken"
  return 1
}
# A trial that is over gives the lock back at once; its folder may be gone by then, as a controller saw the result.
take_when_over() {
  tries=0
  until take "$lock"; do
    holder "$lock"
    case $owner in '' | */* | "$folder") return 1 ;; esac
    [ ! -d "../$owner" ] || [ -e "../$owner/result" ] || return 1
    [ "$((tries += 1))" -le 50 ] || return 1
    pause 10
  done
}
leave_host() {
  holder "$lock"
  [ "$pid" != $$ ] || rm -f "$lock"
}
