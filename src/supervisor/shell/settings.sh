# hold FILE VALUE: for the trial; what it held before is in the journal first.
hold() {
  keep setting "$1" || { fail "setting $1 cannot be read"; return; }
  put "$1" "$2"
  value=$(choice "$(cat "$1")")
  same "$value" "$(choice "$2")" ||
    fail "setting $1 was to be $2, and after writing it reads $value (before it was $old)"
}
# guard FILE: the workload may change it. What cannot be read cannot be put back.
guard() { keep guarded "$1" || :; }
keep() {
  old=$(cat "$2") || return
  old=$(choice "$old")
  printf '%s %s\n%s\n' "$1" "$2" "$old" >>journal
}
# still FILE VALUE: whether the trial had the value to its end.
still() {
  value=$(choice "$(cat "$1")")
  same "$value" "$(choice "$2")" || event note "$1 was $value at the trial's end, not the $2 that was set"
}
# Puts back what the journal on standard input has, the last one first: a line for a file, a line for what it held.
put_back() {
  read -r kind file && read -r old || return 0
  set -- "$kind" "$file" "$old"
  put_back
  value=$(choice "$(cat "$2")")
  ! same "$value" "$3" || return 0
  put "$2" "$3"
  if ! same "$(choice "$(cat "$2")")" "$3"; then
    event left "$2 could not be put back to $3"
  elif [ "$1" = guarded ]; then
    event note "$2 was left at $value and was put back to $3"
  fi
}
