# processes VARIABLE GROUP SESSION: the numbers of those that have it in their environment or are in that process group
# or session; each of the three may be empty.
processes() {
  {
    # By -z, as busybox's grep looks no further than the first NUL otherwise.
    [ -z "$1" ] || grep -lszF "$1" /proc/[0-9]*/environ
    [ -z "$2$3" ] || for file in /proc/[0-9]*/stat; do
      { read -r stat <"$file"; } 2>/dev/null || continue
      # Field 3 of the file is the state, 5 the group, 6 the session. A zombie has ended.
      set -- "$1" "$2" "$3" ${stat##*) }
      case $4 in Z | X) continue ;; esac
      [ "$6" != "$2" ] && [ "$7" != "$3" ] || printf '%s\n' "$file"
    done
  } | tr -dc '0-9\n' | sort -u | others
}
# Of the numbers on standard input those that are not of the session `spared`: the supervisor and its subshells have the
# variable of what is beside the workload too.
others() {
  [ -n "$spared" ] || { cat; return; }
  while read -r number; do
    { read -r stat <"/proc/$number/stat"; } 2>/dev/null || continue
    set -- ${stat##*) }
    [ "$4" = "$spared" ] || printf '%s\n' "$number"
  done
}
# Sets `list` to `PID COMMAND; PID COMMAND; ...` of those whose numbers follow, at most five, and `count`.
name_all() {
  list='' count=$#
  for number; do
    list="$list${list:+; }$number $({ tr '\000\n' '  ' <"/proc/$number/cmdline"; } 2>/dev/null | clean)"
    case $list in *\;*\;*\;*\;*) break ;; esac
  done
}
# end_all VARIABLE SESSION GRACE SIGNAL...: sends the signals, each after a grace, until none of them is left; fails when
# some still are. Afterwards `found` has those that there were at first, and `total` how many.
end_all() {
  variable=$1 session=$2 patience=$3 found='' total=0
  shift 3
  # Once more, for those that were begun while their parents were killed.
  for step in "$@" KILL 0; do
    set -- $(processes "$variable" '' "$session")
    [ $# != 0 ] || return 0
    [ -n "$found" ] || { name_all "$@"; found=$list total=$count; }
    [ "$step" != 0 ] || return 1
    for number; do kill -s "$step" "$number"; done 2>/dev/null
    clock
    over=$((now + patience))
    while [ "$now" -lt "$over" ] && [ -n "$(processes "$variable" '' "$session")" ]; do pause 20; clock; done
  done
}
