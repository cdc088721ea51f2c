# What testbed/check and testbed/faults share: one guest, runs of ktrial on it, and what is left there.
# Needs $ktrial, and to be in the project's folder.
# shellcheck shell=bash

here=$PWD/testbed
. testbed/lib/common.sh
. testbed/lib/guest.sh

place=$(mktemp -d)
guests=$place/guests
dir=$guests
self=$(basename "$0")
run_pid=
record=
log=
reach=(--ssh-config "$guests/ssh_config" --boot-hook "testbed/boot $guests")
end() {
    [ -z "$run_pid" ] || kill -KILL "$run_pid" 2>/dev/null || :
    testbed/down "$guests"
    rm -rf "$place"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

tell() { echo "$self: $*"; }

# Ends with all that may explain it: $trial is the one that it is about, if any.
fail() {
    echo "$self: $*" >&2
    {
        if [ -n "$record" ]; then
            tail -n 30 "$log"
            cat "$record/manifest.yaml"
            [ -z "${trial-}" ] || tail -n 30 "$record"/raw/"$trial"*/{events.txt,workload.stderr}
        fi
        guest 'journalctl --no-pager -o short-monotonic -n 60 -u "ktrial-*"'
    } >&2 2>/dev/null || :
    exit 1
}

guest() {
    ssh -n -F "$guests/ssh_config" -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=20 \
        root@kdevops-kmod "$@" 2>>"$place/ssh.log"
}
boot_id() { guest cat /proc/sys/kernel/random/boot_id; }

says() { grep -qs -- "$2" "$1"; } # says FILE PATTERN

within() { # within SECONDS COMMAND...: whether it comes true
    local left=$1
    shift
    until "$@"; do
        [ "$left" -gt 0 ] || return 1
        left=$((left - 1))
        sleep 1
    done
}

await() { # await SECONDS WHAT COMMAND...: while ktrial runs
    local left=$1 what=$2
    shift 2
    until "$@"; do
        kill -0 "$run_pid" 2>/dev/null || fail "ktrial ended before $what"
        [ "$left" -gt 0 ] || fail "waited too long: $what"
        left=$((left - 1))
        sleep 1
    done
}

# Starts ktrial in the background; $log has what it says.
begin() { # begin NAME ARGUMENT...
    log=$place/$1.log
    shift
    # As a terminal's Ctrl-C finds it: a background job of a script would ignore INT.
    python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
        "$ktrial" "$@" "${reach[@]}" >"$log.said" 2>"$log" &
    run_pid=$!
}

# Sets $code to what it ended with.
finish() {
    code=0
    # Without bash's own words on one that was killed.
    wait "$run_pid" 2>/dev/null || code=$?
    run_pid=
}

interrupt() {
    kill -INT "$run_pid"
    finish
    [ "$code" -ne 0 ] || fail "an interrupted ktrial ended with 0"
    says "$record/manifest.yaml" '^state: interrupted' || fail "the record is not interrupted"
    says "$log" 'ktrial resume' || fail "nobody told how to go on"
}

# Sets $record to the newest one of an experiment, once it is there.
find_record() { # find_record EXPERIMENT
    record=$(ls -d "$place/runs"/*-"$1" 2>/dev/null | tail -n 1)
    [ -n "$record" ] && [ -e "$record/manifest.yaml" ]
}

# What the manifest has of a trial.
of_trial() { # of_trial TRIAL
    awk -v id="$1" '/^- id: / { on = $3 == id } /^[a-z]/ { on = 0 } on' "$record/manifest.yaml"
}
trial_says() { of_trial "$1" | grep -q -- "$2"; } # trial_says TRIAL PATTERN
workload_runs() { trial_says "$1" '^  start_boottime_s:'; }

# What meminfo gave, in a folder of the record's raw files. Large files are compressed once their trial is over.
meminfo() { # meminfo FOLDER
    local file=$record/raw/$1/meminfo.txt
    cat "$file" 2>/dev/null || zstd -dcq "$file.zst" 2>/dev/null || :
}
samples() { meminfo "$1" | grep -ac '^[@+] ' || :; } # samples FOLDER: how many there are
has_samples() { [ "$(samples "$1")" -ge "$2" ]; }   # has_samples FOLDER N

# Everything that a trial may change or leave.
state() {
    guest 'cat /proc/sys/kernel/modprobe /proc/sys/vm/oom_dump_tasks; lsmod | cut -d " " -f 1 | sort
        pgrep -l "stress-ng|kmod.sh|modprobe|^agent-" || :
        grep -ls -e KTRIAL_TRIAL -e KTRIAL_BESIDE /proc/[0-9]*/environ || :
        ls -A /var/tmp/ktrial-* /tmp/ktrial* 2>/dev/null | grep -v "^agent-" || :
        find /sys/fs/cgroup -name "ktrial-*"'
}
is_clean() { [ "$(state)" = "$clean" ]; }

# A supervisor needs a moment after its last word.
left_as_it_was() {
    local now
    within 20 is_clean && tell "nothing was left" && return
    now=$(state)
    fail "this was left on the guest:
$(diff <(echo "$clean") <(echo "$now"))"
}

testbed/build
testbed/up "$guests" kdevops-kmod
# Also the folder that trials have in common.
guest 'mkdir -m 700 /var/tmp/ktrial-0'
clean=$(state)
