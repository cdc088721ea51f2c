# What every guest starts from: the disk image and Debian's kernels, kept in $cache/KEY.
# shellcheck shell=bash

guest_packages='systemd-sysv udev dbus libpam-systemd openssh-server sudo passwd kmod procps stress-ng iproute2'

make_rootfs() {
    include=$(echo "$guest_packages" | tr ' ' ',')
    # stress-ng draws in graphics drivers that no stressor of ours uses.
    mmdebstrap --variant=essential --architectures=amd64 --include="$include" \
        --aptopt="$cache/apt/trixie/acquire.conf" \
        --dpkgopt='path-exclude=/usr/lib/x86_64-linux-gnu/libLLVM*' \
        --dpkgopt='path-exclude=/usr/lib/x86_64-linux-gnu/libgallium*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        trixie "$work/rootfs.tar" "$cache/apt/trixie/sources.list"
}

# Sets $release, by series.
find_releases() {
    local kernel
    declare -gA release
    for kernel in $kernels; do
        release[$kernel]=$(release_of "$kernel")
    done
}

# The folder's name: whatever changes the result changes it.
find_base_key() {
    local kernel
    key=$({
        cat "$here"/lib/{base,apt,kernel,initrd}.sh "$here"/lib/{init,image}
        # shellcheck disable=SC2086 # lists of words
        versions trixie $guest_packages
        for kernel in $kernels; do
            # shellcheck disable=SC2046
            versions bookworm $(kernel_packages "$kernel" "${release[$kernel]}")
        done
    } | sha256sum | cut -c 1-16)
}

# Fills $out.
make_base() {
    local kernel
    step "Debian trixie" make_rootfs
    for kernel in $kernels; do
        step "kernel ${release[$kernel]}" make_kernel "$kernel" "${release[$kernel]}"
        step "initrd for it" make_initrd "$kernel" "${release[$kernel]}"
    done
    step "disk image" as_root sh "$here/lib/image" "$work" "$out/disk.img"
}
