# The guests' own small initrd: busybox and the modules for the root file system. Debian's takes longer to boot.
# shellcheck shell=bash

make_initrd() { # make_initrd SERIES RELEASE
    local tree=$work/$1/initrd module file name
    mkdir -p "$tree/bin" "$tree/modules" "$tree/proc" "$tree/dev" "$tree/root"
    cp "$(command -v busybox)" "$tree/bin/busybox"
    cp "$here/lib/init" "$tree/init"
    chmod 755 "$tree/init" "$tree/bin/busybox"
    for module in virtio_pci virtio_blk crc32c_generic ext4; do
        modprobe -d "$work/$1/root" -S "$2" --show-depends "$module"
    done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' >"$work/$1/initrd-modules"
    while read -r file; do
        cp "$file" "$tree/modules"
        name=$(basename "$file")
        case $name in *.xz) xz -d "$tree/modules/$name" ;; esac
        echo "${name%.xz}" >>"$tree/modules/order"
    done <"$work/$1/initrd-modules"
    (cd "$tree" && find . | sort | cpio -o -H newc -R 0:0 --quiet) | gzip -9n >"$out/initrd-$1"
}
