# The switchable kernel: Debian's source of 6.12 with the patches in patches/, and only what a guest needs.
# shellcheck shell=bash

switchable_source=linux-source-6.12

# The folder's name: whatever changes the result changes it.
find_switchable_key() {
    source_version=$(field bookworm "$switchable_source" Version)
    key=switchable-$({
        cat "$here"/lib/switchable.{sh,config} "$here"/patches/*.patch "$here"/lib/{initrd.sh,init}
        echo "$source_version"
    } | sha256sum | cut -c 1-16)
}

# Fills $out.
make_switchable() {
    parts=$work/$switchable
    mkdir -p "$parts/source" "$parts/test"
    step "Linux source, $source_version" unpack_source
    step "its configuration" configure
    release=$(make_in_source -s kernelrelease)
    step "kernel $release" compile
    step "initrd for it" finish
}

make_in_source() {
    make -C "$parts/source" KBUILD_BUILD_USER=ktrial KBUILD_BUILD_HOST=testbed "$@"
}

unpack_source() {
    # apt's lists and caches belong to the holder of the other lock.
    (flock 8 && cd "$parts" && apt_of bookworm apt-get download -q "$switchable_source=$source_version") 8>"$cache/lock"
    dpkg-deb --fsys-tarfile "$parts"/*.deb | tar -xO "./usr/src/$switchable_source.tar.xz" |
        tar -C "$parts/source" --strip-components=1 -xJ
    for patch in "$here"/patches/*.patch; do
        patch -d "$parts/source" -p1 --fuzz=0 <"$patch"
    done
}

configure() {
    make_in_source KCONFIG_ALLCONFIG="$here/lib/switchable.config" allnoconfig
    # What cannot be had is left out without a word.
    local missing
    missing=$(grep '^CONFIG_' "$here/lib/switchable.config" | grep -vxFf "$parts/source/.config" || :)
    [ -z "$missing" ] || die "not in the kernel's configuration:" "$missing"
}

compile() {
    make_in_source -s -j "$(nproc)" vmlinux modules
    # The test modules by themselves, as their place in the kernel's configuration would bring btrfs along.
    cp "$parts/source/lib/test_kmod.c" "$parts/source/lib/test_module.c" "$parts/test"
    echo 'obj-m := test_kmod.o test_module.o' >"$parts/test/Kbuild"
    make_in_source -s M="$parts/test" modules
}

# The disk image knows nothing of this kernel: its modules come with the initrd, which puts /seed on the disk.
finish() {
    local tree=$parts/initrd
    mkdir -p "$tree/modules"
    : >"$tree/modules/order" # all that the root file system needs is built in
    make_in_source -s INSTALL_MOD_PATH="$tree/seed/usr" INSTALL_MOD_STRIP=1 modules_install
    make_in_source -s INSTALL_MOD_PATH="$tree/seed/usr" INSTALL_MOD_STRIP=1 M="$parts/test" modules_install
    rm -f "$tree/seed/usr/lib/modules/$release/build" "$tree/seed/usr/lib/modules/$release/source"
    ln -s initrd/seed/usr "$parts/root"
    make_initrd "$switchable" "$release"
    cp "$parts/source/vmlinux" "$out/vmlinux-$switchable"
    echo "$release" >"$out/release-$switchable"
}
