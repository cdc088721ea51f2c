# How QEMU is called for a guest.
# shellcheck shell=bash

guest_cpus=2
guest_memory_mib=4096

# Sets $machine, QEMU's words for the machine, and $clock, a word for the kernel command line.
# Under TCG the CPU is the simplest one that Debian boots on, with a source of randomness. The time-stamp counter
# is not to be trusted there, and left alone the two kernels would decide differently about it.
set_machine() { # set_machine kvm|tcg
    case $1 in
    kvm)
        machine='-accel kvm -cpu host'
        clock=
        ;;
    *)
        machine='-accel tcg,thread=multi -cpu qemu64,+rdrand'
        clock=clocksource=hpet
        ;;
    esac
    # shellcheck disable=SC2034 # for the caller
    machine="-machine q35 $machine -smp $guest_cpus -m $guest_memory_mib -nodefaults -no-user-config"
    machine="$machine -display none -no-reboot"
}

# Sets $accel. KVM counts only when every kernel of ours really boots on it, soon: where the host is itself a
# guest, /dev/kvm may open and yet be of no use. The answer holds until this host boots again.
choose_accel() {
    local host_boot accel_boot kernel
    host_boot=$(cat /proc/sys/kernel/random/boot_id)
    # shellcheck disable=SC2034 # for the caller
    if [ -r "$cache/accel" ] && read -r accel accel_boot <"$cache/accel" && [ "$accel_boot" = "$host_boot" ]; then
        return
    fi
    accel=tcg
    if [ -w /dev/kvm ]; then
        accel=kvm
        for kernel in $kernels; do
            boots_on_kvm "$kernel" || accel=tcg
        done
    fi
    echo "$accel $host_boot" >"$cache/accel"
}

boots_on_kvm() ( # boots_on_kvm 6.1|6.12
    # A subshell without stderr, as bash would tell of a QEMU that aborts.
    exec 2>/dev/null
    set +o pipefail
    set_machine kvm
    # shellcheck disable=SC2086 # a list of words
    timeout -k 2 10 qemu-system-x86_64 $machine -serial stdio \
        -kernel "$images/vmlinux-$1" -initrd "$images/initrd-$1" \
        -append 'console=ttyS0 quiet mitigations=off testbed.probe' </dev/null |
        grep 'testbed: the kernel boots' >/dev/null
)
