# Takes the file $1 for the process that $own names. A link is made whole or not at all, so one of many gets it.
# Who is dead holds nothing; but only who has the lock on the dead one's own numbers may take its lock away, or a second
# one that looked at the same time would take away the first one's.
take() {
  ln "$own" "$1" 2>/dev/null && return
  holder "$1" && lives "$pid" "$start" "$id" && return 1
  set -- "$1" "$pid.$start"
  take "$1.$2" || return 1
  holder "$1"
  [ "$pid.$start" != "$2" ] || rm -f "$1"
  ln "$own" "$1" 2>/dev/null
  set -- "$1.$2" "$?"
  rm -f "$1"
  return "$2"
}
# Sets who holds the file: `PID START BOOT_ID FOLDER`.
holder() {
  pid=0 start=0 id='' owner=''
  { read -r pid start id owner <"$1"; } 2>/dev/null
  case $pid$start in '' | *[!0-9]*) pid=0 start=0 ;; esac
  [ "$pid" != 0 ]
}
# Takes the host for this process. A file of its own: what another process has linked is that one's lock.
take_host() {
  own=.lock.$$
  process $$ && printf '%s\n' "$$ $began $boot $folder" >"$own" && take "$lock"
  set -- "$?"
  rm -f "$own"
  [ "$1" != 0 ] || return 0
  holder "$lock"
  refusal="trial $owner runs on this host, process $pid"
  [ "$pid" != 0 ] || refusal="the lock $lock cannot be taken"
  return 1
}
leave_host() {
  holder "$lock"
  [ "$pid" != $$ ] || rm -f "$lock"
}
