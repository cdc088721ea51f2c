# A guest of a testbed in $dir: its folder is $dir/guests/NAME.
# shellcheck shell=bash

boot_limit_s=300

ssh_to() { # ssh_to NAME SECONDS COMMAND...
    local name=$1 limit_s=$2
    shift 2
    timeout "$limit_s" ssh -n -F "$dir/ssh_config" -o BatchMode=yes "root@$name" "$@" 2>>"$dir/ssh.log"
}

is_running() { # is_running NAME; sets $supervisor, its process
    [ -s "$dir/guests/$1/supervisor.pid" ] || return 1
    supervisor=$(cat "$dir/guests/$1/supervisor.pid")
    tr '\0' '\n' 2>/dev/null <"/proc/$supervisor/cmdline" | grep -Fx "$dir/guests/$1" >/dev/null
}

# Makes a guest's folder: a disk over the clean image, keys of its own.
make_guest() { # make_guest NAME
    local guest=$dir/guests/$1
    rm -rf "$guest"
    mkdir -p "$guest/seed/etc/ssh"
    qemu-img create -q -f qcow2 -b "$images/disk.img" -F raw "$guest/overlay.qcow2"
    ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$guest/seed/etc/ssh/ssh_host_ed25519_key"
    cp "$dir/user_key.pub" "$guest/seed/etc/ssh/authorized_keys"
    chmod 644 "$guest/seed/etc/ssh/authorized_keys"
    echo "$1" >"$guest/seed/etc/hostname"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$1" >"$guest/seed/etc/hosts"
    tr -d - </proc/sys/kernel/random/uuid >"$guest/seed/etc/machine-id"
    choose_port >"$guest/port"
}

choose_port() {
    # The kernel's own choice would need a program that binds; trying a few is enough.
    local port=$((20000 + $$ % 20000))
    while grep -qi ":$(printf '%04X' "$port") " /proc/net/tcp || grep -qsx "$port" "$dir"/guests/*/port; do
        port=$((port + 1))
    done
    echo "$port"
}

# Sets $kernel to the name of the kernel that a word means: a name, a release or a pattern of one, or `-` for the
# guest's own. Names come first, so that 6.12 is Debian's.
find_named_kernel() { # find_named_kernel GUEST WORD
    local release
    kernel=$2
    if [ "$kernel" = - ]; then
        kernel=$(cat "$dir/guests/$1/kernel")
    fi
    is_kernel "$kernel" && return
    for kernel in $kernels $switchable; do
        find_folder "$kernel"
        release=$(cat "$kernel_folder/release-$kernel" 2>/dev/null) || continue
        # shellcheck disable=SC2254 # a pattern is meant
        case $release in '') ;; $2 | $2[.+-]*) return ;; esac
    done
    die "no kernel here is '$2'; there are $kernels, and $switchable once testbed/build --switchable has made it"
}

# Sets $kernel_folder, where a kernel's vmlinux, initrd and release are.
find_kernel() { # find_kernel KERNEL
    find_folder "$1"
    [ -e "$kernel_folder/vmlinux-$1" ] || die "the kernel $1 is not there yet; testbed/build --switchable makes it"
}

find_folder() { # find_folder KERNEL
    kernel_folder=$dir/images
    [ "$1" != "$switchable" ] || kernel_folder=$cache/switchable
    kernel_folder=$(readlink -f "$kernel_folder")
}

start_guest() { # start_guest NAME KERNEL [WORD...]
    local guest=$dir/guests/$1
    find_kernel "$2"
    echo "$2" >"$guest/kernel"
    ln -sfn "$kernel_folder/vmlinux-$2" "$guest/vmlinux"
    ln -sfn "$kernel_folder/release-$2" "$guest/release"
    # The kernel takes several archives, one after the other; the initrd's init puts /seed on the disk.
    (cd "$guest" && find seed | cpio -o -H newc -R 0:0 --quiet) | cat - "$kernel_folder/initrd-$2" >"$guest/initrd"
    shift 2
    echo "$*" >"$guest/append"
    setsid bash "$here/lib/supervise" "$guest" "$(cat "$dir/accel")" \
        </dev/null >>"$guest/qemu.log" 2>&1 &
    echo $! >"$guest/supervisor.pid"
}

# Waits for an SSH login, and checks that the right kernel runs.
wait_for_guest() { # wait_for_guest NAME
    local guest=$dir/guests/$1 began running wanted try_s
    began=$(date +%s)
    # QEMU takes a connection before the guest does, so each try ends by its own limit; they grow.
    try_s=2
    until running=$(ssh_to "$1" "$try_s" uname -r); do
        sleep 0.5
        is_running "$1" || {
            tail -n 5 "$guest/qemu.log" "$guest/console.log" >&2
            die "$1: QEMU ended; its words are above"
        }
        [ $(($(date +%s) - began)) -lt "$boot_limit_s" ] ||
            die "$1: no SSH login within $boot_limit_s s; see $guest/console.log and $dir/ssh.log"
        [ "$try_s" -ge 20 ] || try_s=$((try_s + 1))
    done
    wanted=$(cat "$guest/release")
    [ "$running" = "$wanted" ] || die "$1 runs $running, not $wanted"
    say "$1: $running after $(($(date +%s) - began)) s"
}

stop_guest() { # stop_guest NAME: by a clean power-off when it answers, else as a power cut
    is_running "$1" || return 0
    ssh_to "$1" 15 'sync; systemctl poweroff' || :
    local left=60
    while is_running "$1" && [ "$left" -gt 0 ]; do
        sleep 0.5
        left=$((left - 1))
    done
    kill_guest "$1"
}

kill_guest() { # kill_guest NAME
    while is_running "$1"; do
        kill "$supervisor" 2>/dev/null || :
        sleep 0.2
    done
    rm -f "$dir/guests/$1/supervisor.pid"
}

kill_guests() {
    local guest
    for guest in "$dir"/guests/*; do
        [ ! -d "$guest" ] || kill_guest "$(basename "$guest")"
    done
}
