# What a kdevops tree has, for the guests in $dir: inventory, variables, ssh config.
# shellcheck shell=bash

write_tree() {
    write_whole hosts inventory
    write_whole extra_vars.yaml variables
    write_whole known_hosts known_hosts
    write_whole ssh_config ssh_config
}

write_whole() { # write_whole FILE COMMAND
    "$2" >"$dir/$1.new"
    mv "$dir/$1.new" "$dir/$1"
}

guest_names() { # guest_names all|baseline|dev
    local guest name
    for guest in "$dir"/guests/*; do
        [ -s "$guest/port" ] || continue # its making was interrupted
        name=$(basename "$guest")
        case $1:$name in
        baseline:*-dev) ;;
        all:* | baseline:* | dev:*-dev) echo "$name" ;;
        esac
    done
}

inventory() {
    echo '[all]'
    echo 'localhost ansible_connection=local'
    guest_names all
    for group in baseline dev; do
        printf '\n[%s]\n' "$group"
        guest_names "$group"
    done
    printf '\n[service]\n'
}

# kdevops' own names, as far as they apply, and what the guests are.
variables() {
    cat <<YAML
---
topdir_path: "$dir"
topdir_path_sha256sum: "$(printf '%s' "$dir" | sha256sum | cut -d ' ' -f 1)"
kdevops_host_prefix: "kdevops"
kdevops_baseline_and_dev: $([ -z "$(guest_names dev)" ] && echo False || echo True)
data_path: "/data"
target_linux_tree: "linux"
testbed_accelerator: "$(cat "$dir/accel")"
testbed_cpus: $guest_cpus
testbed_memory_mib: $guest_memory_mib
YAML
}

known_hosts() {
    local name
    for name in $(guest_names all); do
        echo "[127.0.0.1]:$(cat "$dir/guests/$name/port") $(cat "$dir/guests/$name/seed/etc/ssh/ssh_host_ed25519_key.pub")"
    done
}

ssh_config() {
    local name
    for name in $(guest_names all); do
        cat <<STANZA
Host $name
    HostName 127.0.0.1
    Port $(cat "$dir/guests/$name/port")
    User kdevops
    IdentityFile $dir/user_key
    IdentitiesOnly yes
    StrictHostKeyChecking yes
    UserKnownHostsFile $dir/known_hosts
    GlobalKnownHostsFile /dev/null

STANZA
    done
}
