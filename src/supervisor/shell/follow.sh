# follow NAME=OFFSET...: what the files have from there on, as it comes.
follow() {
  given=
  for pair; do
    case $pair in *[!A-Za-z0-9._=-]* | *=*[!0-9]* | *=) ;; *=*) given="$given $pair" ;; esac
  done
  renew
  told=$now
  # Who writes a line is there. Its output is not this one's: nobody is to wait for it.
  # What `&` starts would have no input but by another number.
  exec 3<&0
  while read -r line; do renew; done <&3 >/dev/null 2>&1 &
  trap "kill $! 2>/dev/null" EXIT
  while :; do
    # In this order: who is gone has written its result before.
    gone=yes
    ! lives_in pid || gone=
    complete=
    [ ! -e result ] || complete=yes
    more=
    pass "$files"
    clock
    if [ "$now" -ge "$((told + 500))" ]; then
      printf '%s\n\n' '- 0 0' || exit
      told=$now
    fi
    [ -z "$more" ] || continue
    [ -z "$complete" ] || pass result
    [ -z "$complete" ] || { printf '%s\n\n' '. 0 0'; exit; }
    [ -z "$gone" ] || { printf '%s\n\n' '! 0 0'; exit; }
    sleep 1
  done
}
# Written over, as a full disk has no room for another file; a later time is never shorter.
renew() {
  clock
  [ ! -d . ] || printf '%s\n' "$up" 1<>lease
}
# Gives of each of these files what is new, at most 256 KiB at once. A list of files costs the host less than a look at each.
pass() {
  sizes=$(ls -ln $1 2>/dev/null)
  offsets=$given
  while read -r mode links user group bytes month day time name; do
    case $mode in -*) ;; *) continue ;; esac
    bounded "$name" "$bytes"
    offset=0
    case "$offsets " in *" $name="*) offset=${offsets##*" $name="} offset=${offset%% *} ;; esac
    [ -z "$complete" ] || [ "$name" = result ] || bytes=$(fetched "$name")
    length=$((bytes - offset))
    if [ "$length" -gt 262144 ]; then
      length=262144 more=yes
    fi
    if [ "$length" -gt 0 ]; then
      printf '%s %s %s\n' "$name" "$offset" "$length" || exit
      tail -c "+$((offset + 1))" "$name" | head -c "$length" || exit
      # Only the workload could make a file shorter: a frame that may be cut is the last one.
      [ "$(($(ls -ln "$name" | { read -r mode links user group bytes rest && echo "$bytes"; })))" -ge "$((offset + length))" ] || exit
      printf '\n' || exit
      offset=$((offset + length))
    fi
    rest=$given given=
    for pair in $rest; do
      [ "${pair%=*}" = "$name" ] || given="$given $pair"
    done
    given="$given $name=$offset"
  done <<END
$sizes
END
}
# How much of a file the result has.
fetched() {
  while read -r name bytes sum; do
    [ "$name" != "$1" ] || { printf '%s\n' "$bytes"; return; }
  done <result
  echo 0
}
