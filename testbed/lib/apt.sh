# Debian packages without touching the host's own apt: each suite has a configuration and state of its own.
# shellcheck shell=bash

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirrors are the host's own, as its apt knows them.
find_mirrors() {
    mirror=${KTRIAL_DEBIAN_MIRROR:-$(host_mirror debian)}
    security=${KTRIAL_DEBIAN_SECURITY_MIRROR:-$(host_mirror debian-security)}
    [ -n "$mirror" ] || die "this host's apt names no Debian mirror; set KTRIAL_DEBIAN_MIRROR to its URL"
    [ -n "$security" ] ||
        die "this host's apt names no Debian security mirror; set KTRIAL_DEBIAN_SECURITY_MIRROR to its URL"
}

host_mirror() {
    # shellcheck disable=SC2016 # apt's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep "/$1/*\$" | head -n 1
}

prepare_apt() { # prepare_apt SUITE
    local apt=$cache/apt/$1
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cat >"$apt/sources.list" <<LIST
deb [arch=amd64 signed-by=$keyring] $mirror $1 main
deb [arch=amd64 signed-by=$keyring] $mirror $1-updates main
deb [arch=amd64 signed-by=$keyring] $security $1-security main
LIST
    # How to fetch (proxies and the like) stays as the host has it.
    apt-config dump | grep '^Acquire::[^ ]* "[^"]*";$' >"$apt/acquire.conf" || :
    cat - "$apt/acquire.conf" >"$apt/apt.conf" <<CONF
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
CONF
    apt_of "$1" apt-get update -qq
}

apt_of() { # apt_of SUITE COMMAND...
    local suite=$1
    shift
    APT_CONFIG=$cache/apt/$suite/apt.conf "$@"
}

field() { # field SUITE PACKAGE FIELD
    apt_of "$1" apt-cache show --no-all-versions "$2" | sed -n "s/^$3: //p"
}

# What `uname -r` says in a guest with Debian's newest kernel of a series.
release_of() { # release_of 6.1|6.12
    local package
    case $1 in
    6.1) package=linux-image-amd64 ;;
    *) package=linux-image-$1-amd64 ;;
    esac
    field bookworm "$package" Depends | grep -o 'linux-image-[^ ,]*' | head -n 1 | sed 's/^linux-image-//'
}

# A kernel, its source, and what modules for it are built with.
kernel_packages() { # kernel_packages SERIES RELEASE
    echo "linux-image-$2 linux-source-$1 linux-headers-$2"
    field bookworm "linux-headers-$2" Depends | grep -o 'linux-\(headers\|kbuild\)-[^ ,]*'
}

versions() { # versions SUITE PACKAGE...
    local suite=$1
    shift
    apt_of "$suite" apt-cache show --no-all-versions "$@" | sed -n '/^Package: /p; /^Version: /p'
}
