# One of Debian's kernels for the guests: an ELF image that QEMU boots directly, its modules, and the test
# modules of kmod.sh, which Debian does not build.
# shellcheck shell=bash

# make_kernel SERIES RELEASE: fills $work/SERIES (root/ as the packages unpack, source/, test/)
# and writes vmlinux-SERIES and release-SERIES.
make_kernel() {
    local parts=$work/$1 deb
    mkdir -p "$parts/debs" "$parts/root" "$parts/source" "$parts/test"
    # shellcheck disable=SC2046 # a list of words
    (cd "$parts/debs" && apt_of bookworm apt-get download -q $(kernel_packages "$1" "$2"))
    for deb in "$parts"/debs/*.deb; do
        dpkg-deb -x "$deb" "$parts/root"
    done
    tar -C "$parts/source" --strip-components=1 --wildcards -xJf "$parts/root/usr/src/linux-source-$1.tar.xz" \
        '*/lib/test_kmod.c' '*/lib/test_module.c' '*/tools/testing/selftests/kmod' '*/scripts/extract-vmlinux'
    sh "$parts/source/scripts/extract-vmlinux" "$parts/root/boot/vmlinuz-$2" >"$out/vmlinux-$1"
    echo "$2" >"$out/release-$1"
    make_test_modules "$parts" "$2"
    # stress-ng gives the file as it is to the kernel.
    find "$parts/root/lib/modules/$2" -name xfs.ko.xz -exec xz -d {} +
    depmod -b "$parts/root" "$2"
}

make_test_modules() { # make_test_modules PARTS RELEASE
    local parts=$1 headers=$1/root/usr/src/linux-headers-$2
    cp "$parts/source/lib/test_kmod.c" "$parts/source/lib/test_module.c" "$parts/test"
    echo 'obj-m := test_kmod.o test_module.o' >"$parts/test/Kbuild"
    # The headers name the common ones by their place in an installed system.
    sed -i "s,/usr/src/linux-headers,$parts/root/usr/src/linux-headers,g" "$headers/Makefile"
    # Type information for BPF would need one more tool and serves no test.
    make -C "$headers" M="$parts/test" CONFIG_DEBUG_INFO_BTF_MODULES= modules
    mkdir -p "$parts/root/lib/modules/$2/updates"
    cp "$parts"/test/*.ko "$parts/root/lib/modules/$2/updates"
}
