export LC_ALL=C
folder=${PWD##*/}
lock=${PWD%/*}/lock
# What everything but the workload has in its environment, and what the workload has: by these, processes are known
# whatever became of their parents.
beside="KTRIAL_BESIDE=[$folder]"
within="KTRIAL_TRIAL=[$folder]"
{ read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null

# Sets `up` to CLOCK_BOOTTIME in seconds, and `now` to the same in hundredths. A wall clock that is set changes nothing.
clock() {
  read -r up rest </proc/uptime
  now=$((${up%.*} * 100 + 1${up#*.} - 100))
}
pause() { sleep "$(($1 / 100)).$(($1 / 10 % 10))$(($1 % 10))"; }
event() { clock; event_at "$up" "$@"; }
# On a full disk there is the room that was kept; a line that was cut there is none of the events.
event_at() { printf '%s\n' "$*" >>events || { rm -f .room.1; printf '\n%s\n' "$*" >>events; }; } 2>/dev/null
keep_room() { for part in 1 2; do head -c 65536 /dev/zero >".room.$part"; done; }
# Writes the file $1 whole.
save() {
  printf '%s\n' "$2" >"$1.new" || { rm -f .room.1; printf '%s\n' "$2" >"$1.new"; }
  mv "$1.new" "$1"
} 2>/dev/null
# What others said, a line each: it must not make a line of its own among the events.
clean() { tr '\000-\011\013-\037\177' ' ' | cut -c 1-300; }
last_line() { tail -n 1 "$1" 2>/dev/null | clean; }

# Sets what /proc/PID/stat says; its second field may hold anything, so what follows the last parenthesis counts.
process() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  stat=$(cat "/proc/$1/stat" 2>/dev/null) && [ -n "$stat" ] || return 1
  set -- ${stat##*) }
  state=$1 began=${20}
}
# lives PID START BOOT: whether it is still that process. A zombie has ended; nobody may ever ask for it.
lives() {
  [ "$3" = "$boot" ] && process "$1" && [ "$began" = "$2" ] || return 1
  case $state in Z | X) return 1 ;; esac
}
lives_in() { [ -f "$1" ] && lives $(cat "$1"); } 2>/dev/null
