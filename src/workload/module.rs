//! Kernel modules that a workload loads: what has to be true before, and how the host is left as it was.
//!
//! stress-ng's module stressor gives one file to the kernel again and again. It loads nothing that the module needs,
//! takes the module away first when it is there, and counts a load that failed as nothing at all: a trial that cannot
//! work would look like one that needs no memory.

use crate::workload::quote;

/// Shell functions about modules, for checks and for trials. With `fault MESSAGE` they tell what is wrong.
pub(crate) const FUNCTIONS: &str = r#"PATH=$PATH:/usr/sbin:/sbin
# The kernel has underscores where a file's name may have hyphens.
kernel_name() { printf '%s' "$1" | tr - _; }
is_loaded() {
  # A kernel that takes no modules has no list of them.
  [ -r /proc/modules ] || return 1
  wanted=$(kernel_name "$1")
  while read -r name rest; do [ "$name" != "$wanted" ] || return 0; done </proc/modules
  return 1
}
# What a module needs and is not loaded, that which is loaded last first.
needed_by() {
  itself=$(kernel_name "$1")
  modprobe -D -- "$1" 2>/dev/null | {
    found=
    while read -r word path rest; do
      needed=${path##*/}
      needed=$(kernel_name "${needed%%.ko*}")
      if [ "$word" = insmod ] && [ "$needed" != "$itself" ] && ! is_loaded "$needed"; then
        found="$needed $found"
      fi
    done
    printf '%s' "$found"
  }
}
# A test's last thread may hold a module for a moment.
unload() {
  for try in 1 2 3 4 5; do
    is_loaded "$1" || return 0
    said=$(rmmod "$1" 2>&1) && return 0
    sleep 1
  done
  echo "ktrial: module $1 was not loaded before and still is: $said" >&2
}
# Large modules that most kernels have: to choose another one from.
others() {
  list=
  for other in btrfs xfs cifs ocfs2 f2fs nfsd; do
    [ "$other" != "$1" ] && ! is_loaded "$other" || continue
    path=$(modinfo -n "$other" 2>/dev/null)
    case $path in
    *.ko) list="$list${list:+,} $other ($(($(wc -c <"$path") / 1024)) KiB)" ;;
    /*) list="$list${list:+,} $other (compressed)" ;;
    esac
  done
  printf '%s' "${list:- none}"
}
"#;

/// What stress-ng takes when no `--module-name` is given: the first of these whose file is there as it needs it.
const DEFAULTS: &str = "test_user_copy test_bpf test_module test_static_key_base test_firmware";

/// The module that a stress-ng command line asks for.
#[derive(Debug, PartialEq)]
enum Module<'a> {
    Named(&'a str),
    Default,
}

/// Whether stress-ng's arguments start its module stressor.
pub(super) fn is_stressed(argv: &[String]) -> bool {
    let is_option = |word: &String| word == "--module" || word.starts_with("--module=");
    argv.iter().any(is_option)
}

/// What stress-ng's arguments say of the module stressor; none when they do not start it.
fn module(argv: &[String]) -> Option<Module<'_>> {
    let value_of = |option: &str| {
        let index = argv.iter().position(|word| {
            let rest = word.strip_prefix(option);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })?;
        let joined = argv.get(index)?.split_once('=').map(|(_, value)| value);
        joined.or_else(|| argv.get(index + 1).map(String::as_str))
    };
    is_stressed(argv).then(|| value_of("--module-name").map_or(Module::Default, Module::Named))
}

/// Shell lines that set `module` to the module's name; nothing without the module stressor.
fn choice(argv: &[String]) -> Option<String> {
    Some(match module(argv)? {
        Module::Named(name) => format!("module={}\n", quote(&[name.to_owned()])),
        Module::Default => format!(
            "for module in {DEFAULTS} ''; do\n  \
             case $(modinfo -n \"$module\" 2>/dev/null) in *.ko) break ;; esac\ndone\n"
        ),
    })
}

/// Shell lines that say by `fault` what keeps these arguments from working; nothing without the module stressor.
///
/// Afterwards `module` is the module's name.
pub(super) fn checks(argv: &[String]) -> Option<String> {
    Some(format!("{}{CHECKS}", choice(argv)?))
}

const CHECKS: &str = r#"file=$(modinfo -n -- "$module" 2>/dev/null)
unpack=
case $file in
*.ko) ;;
*.ko.xz) unpack='xz -d' ;;
*.ko.zst) unpack='zstd -d --rm' ;;
*.ko.gz) unpack='gzip -d' ;;
/*) fault "$file is no module's file that stress-ng can load" ;;
*builtin*) fault "$module is built into this kernel, so it cannot be loaded; these can:$(others "$module")" ;;
*)
  if [ -n "$module" ]; then
    fault "there is no module $module for Linux $(uname -r); these are:$(others "$module")"
  else
    fault "none of the modules that stress-ng takes by itself is there: name one by --module-name; these are:$(others '')"
  fi
  ;;
esac
[ -z "$unpack" ] || fault "$file is compressed, and stress-ng needs it as the kernel takes it: $unpack $file && depmod"
if [ -n "$module" ] && is_loaded "$module"; then
  fault "module $module is loaded already: modprobe -r $module, or take one that is not:$(others "$module")"
fi
"#;

/// What a trial does before the module stressor, with how a check fails and how `modules_to_unload` is kept; none
/// without the stressor.
pub(super) fn prepared(argv: &[String], fault: &str, keep: &str) -> Option<String> {
    let checks = checks(argv)?;
    Some(format!(
        "{FUNCTIONS}{fault}{checks}{NEEDED}{keep}{LOAD_NEEDED}"
    ))
}

/// modprobe and rmmod are not always where a login looks for programs.
pub(super) const ENTER: &str = "export PATH=\"$PATH:/usr/sbin:/sbin\"\n";

const NEEDED: &str = r#"needed=$(needed_by "$module")
modules_to_unload="$module $needed"
"#;

/// A module that is only wished for, such as a faster checksum, may be refused by this machine: what is needed
/// stands in the module itself.
const LOAD_NEEDED: &str = r#"for name in $needed; do modprobe -- "$name" 2>/dev/null; done
for needed in $(modinfo -F depends -- "$module" | tr , ' '); do
  if ! is_loaded "$needed" && [ ! -e "/sys/module/$(kernel_name "$needed")" ]; then
    fault "module $module needs $needed, which cannot be loaded: $(modprobe -- "$needed" 2>&1)"
  fi
done
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn argv(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_module_is_found_in_both_ways_of_writing_an_option() {
        for (line, want) in [
            ("stress-ng --vm 1", None),
            ("stress-ng --module-name xfs --vm 1", None),
            ("stress-ng --module 100", Some(Module::Default)),
            ("stress-ng --module=100", Some(Module::Default)),
            (
                "stress-ng --module 9 --module-name xfs",
                Some(Module::Named("xfs")),
            ),
            (
                "stress-ng --module-name=a-b --module 9",
                Some(Module::Named("a-b")),
            ),
        ] {
            assert_eq!(module(&argv(line)), want, "{line}");
        }
    }

    #[test]
    fn the_stressor_is_seen_however_its_option_is_written() {
        for (line, want) in [
            ("stress-ng --module 1", true),
            ("stress-ng --vm 1 --module=1", true),
            ("stress-ng --module-name xfs", false),
        ] {
            assert_eq!(is_stressed(&argv(line)), want, "{line}");
        }
    }

    /// Runs shell lines with stand-ins for the programs that tell of modules and load them.
    fn sh(stand_ins: &str, lines: &str) -> String {
        let script = format!("{FUNCTIONS}fault() {{ echo \"fault: $1\"; }}\n{stand_ins}\n{lines}");
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{script}");
        String::from_utf8(output.stdout).unwrap()
    }

    const MODINFO: &str = r#"is_loaded() { case " crc16 loaded " in *" $1 "*) ;; *) return 1 ;; esac; }
modinfo() {
  for name; do :; done
  case $name in
  plain | loaded | test_module) echo "/lib/$name.ko" ;;
  small | f2fs) echo "/lib/$name.ko.xz" ;;
  inside) echo '(builtin)' ;;
  *) return 1 ;;
  esac
}"#;

    fn faults(line: &str) -> String {
        sh(MODINFO, &checks(&argv(line)).unwrap())
    }

    #[test]
    fn a_module_that_can_be_stressed_is_no_fault() {
        assert_eq!(faults("stress-ng --module 9 --module-name plain"), "");
        assert_eq!(faults("stress-ng --module 9"), "");
        assert_eq!(checks(&argv("stress-ng --vm 1")), None);
    }

    #[test]
    fn what_cannot_be_stressed_is_told_with_the_next_step() {
        for (module, want) in [
            (
                "loaded",
                "fault: module loaded is loaded already: modprobe -r loaded, or take one that is not: f2fs (compressed)\n",
            ),
            (
                "small",
                "fault: /lib/small.ko.xz is compressed, and stress-ng needs it as the kernel takes it: xz -d /lib/small.ko.xz && depmod\n",
            ),
            (
                "inside",
                "fault: inside is built into this kernel, so it cannot be loaded; these can: f2fs (compressed)\n",
            ),
        ] {
            let line = format!("stress-ng --module 9 --module-name {module}");
            assert_eq!(faults(&line), want);
        }
        let none = faults("stress-ng --module 9 --module-name $(id)");
        assert!(
            none.starts_with("fault: there is no module $(id) for Linux "),
            "{none}"
        );
    }

    #[test]
    fn without_a_name_or_a_module_of_its_own_stress_ng_cannot_work() {
        let said = sh(
            "modinfo() { return 1; }",
            &checks(&argv("stress-ng --module 1")).unwrap(),
        );
        assert_eq!(
            said,
            "fault: none of the modules that stress-ng takes by itself is there: name one by --module-name; these are: none\n"
        );
    }

    #[test]
    fn only_what_is_not_loaded_is_loaded_and_the_last_one_is_unloaded_first() {
        let modprobe = r#"modprobe() { cat <<END
insmod /lib/crc16.ko
builtin crc32
insmod /lib/lib-crc.ko.xz
insmod /lib/raid6.ko x=1
insmod /lib/a-b.ko
END
}"#;
        let stand_ins = format!("{MODINFO}\n{modprobe}");
        assert_eq!(sh(&stand_ins, "needed_by a_b"), "raid6 lib_crc ");
    }

    #[test]
    fn a_module_that_stays_is_told() {
        let stand_ins = "is_loaded() { :; }\nsleep() { :; }\nrmmod() { echo in use; return 1; }";
        let said = sh(stand_ins, "unload xfs 2>&1");
        assert_eq!(
            said,
            "ktrial: module xfs was not loaded before and still is: in use\n"
        );
    }
}
