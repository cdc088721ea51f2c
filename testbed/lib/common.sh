# Shared by the testbed's scripts: where things are kept, how steps are told.
# shellcheck shell=bash

cache=${KTRIAL_CACHE:-$HOME/.cache/ktrial}/testbed
# Debian's kernels before and after the module loader's duplicate check of 6.4.
kernels='6.1 6.12'
# Of our own making, for those who ask for it (testbed/build --switchable).
switchable=6.12-switchable
# Where Debian keeps mke2fs, depmod and others, which a user's own path may lack.
PATH=$PATH:/usr/sbin:/sbin
# What goes into a guest keeps its modes there.
umask 022

say() { echo "testbed: $*"; }

die() {
    echo "testbed: $*" >&2
    exit 1
}

# Prints the usage, that is the script's leading comment, and ends.
usage() {
    sed -n '2,/^[^#]/s/^#\{1\} \{0,1\}//p' "$0" >&2
    exit 2
}

# step TEXT COMMAND...: runs it with its output in $log, and says how long it took.
# (Not `if ! COMMAND`: under it `set -e` would not hold inside COMMAND.)
step() {
    local text=$1 began
    began=$(date +%s)
    shift
    "$@" >>"$log" 2>&1
    say "$text: $(($(date +%s) - began)) s"
}

is_kernel() {
    case " $kernels $switchable " in *" $1 "*) ;; *) return 1 ;; esac
}
