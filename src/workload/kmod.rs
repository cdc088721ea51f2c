//! kmod.sh, the kernel's own test of its module loader: where it is, what it needs, and what it says.
//!
//! It ends with 0 when the test passed, 1 when it failed, 4 when it was skipped. What it changes it puts back when
//! its shell exits, which a signal other than KILL lets it do.

use super::module;
use super::{quote, shown};

/// Shell lines that set `kmod_sh`: where kdevops has the kernel's tree, where it installs the selftests, and where
/// Fedora's package kernel-selftests-internal does.
const FIND: &str = r#"kmod_sh=
for file in /data/*/tools/testing/selftests/kmod/kmod.sh \
  /data/selftests/kselftest/kselftest_install/kmod/kmod.sh \
  /usr/libexec/kselftests/kmod/kmod.sh; do
  [ ! -f "$file" ] || { kmod_sh=$file; break; }
done
"#;

/// What the preflight says of the script: the path, and what was in it.
pub(super) const FACTS: &str = r#"if [ -n "$kmod_sh" ]; then
  fact kmod_sh "$kmod_sh"
  fact kmod_sh_digest "$(sha256sum <"$kmod_sh" 2>/dev/null | while read -r sum rest; do echo "sha256:$sum"; done)"
fi
"#;

/// Which modules the tests of kmod.sh load.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Loads {
    Driver,
    FileSystem,
    Both,
}

/// What these arguments make kmod.sh load, besides test_kmod.
fn loads(argv: &[String]) -> Loads {
    let one = |word: &String| ["-t", "-c", "-s", "-w"].contains(&word.as_str());
    let test = match argv.get(1) {
        Some(option) if one(option) => argv.get(2).map_or("", String::as_str),
        _ => "",
    };
    match test.parse() {
        Ok(5 | 8 | 10..=13) => Loads::Driver,
        Ok(3 | 4 | 6 | 9) => Loads::FileSystem,
        // 1, 2, 7; all of them; and tests that a later kmod.sh has.
        _ => Loads::Both,
    }
}

/// Shell lines that say by `fault` what keeps the test from running.
///
/// Afterwards `kmod_sh` is the script's path and `modules` what the test loads, that which is loaded last first.
pub(super) fn checks(argv: &[String]) -> String {
    format!("{FIND}{}{CHECKS}", tested(argv))
}

/// The shell line that sets `modules` to what the test loads.
fn tested(argv: &[String]) -> String {
    let (driver, file_system) = (
        "${DEFAULT_KMOD_DRIVER:-test_module}",
        "${DEFAULT_KMOD_FS:-xfs}",
    );
    let modules = match loads(argv) {
        Loads::Driver => format!("test_kmod {driver}"),
        Loads::FileSystem => format!("test_kmod {file_system}"),
        Loads::Both => format!("test_kmod {driver} {file_system}"),
    };
    format!("modules=\"{modules}\"\n")
}

const CHECKS: &str = r#"if [ -z "$kmod_sh" ]; then
  fault 'kmod.sh is neither below /data nor in /usr/libexec/kselftests: put a kernel tree at /data/linux'
elif [ ! -x "$kmod_sh" ]; then
  fault "$kmod_sh cannot be executed: chmod +x $kmod_sh"
fi
for module in $modules; do
  if is_loaded "$module"; then
    fault "module $module is loaded already, and the test loads it by itself: modprobe -r $module"
  elif ! modprobe -n -- "$module" 2>/dev/null; then
    fault "module $module cannot be loaded on Linux $(uname -r): build it (the file config beside kmod.sh has the kernel's options)"
  fi
done
"#;

/// What a trial does before the test, with how a check fails and how `modules_to_unload` is kept.
pub(super) fn prepared(argv: &[String], fault: &str, keep: &str) -> String {
    let (functions, checks) = (module::FUNCTIONS, checks(argv));
    format!("{functions}{fault}{checks}{NEEDED}{keep}")
}

/// The test, from the script's folder.
pub(super) fn entered(argv: &[String]) -> String {
    let (enter, command) = (module::ENTER, command(argv));
    format!(
        "{FIND}{enter}# For `clear`, which kmod.sh calls for -w; it reads a file beside it.\n\
         export TERM=\"${{TERM:-linux}}\"\ncd \"${{kmod_sh%/*}}\" || exit 1\n{command}\n"
    )
}

const NEEDED: &str = r#"needed=
for module in $modules; do needed="$needed $(needed_by "$module")"; done
modules_to_unload="$modules $needed"
"#;

/// The command, in the script's folder.
pub(super) fn command(argv: &[String]) -> String {
    let arguments = argv.get(1..).unwrap_or_default();
    format!("./kmod.sh {}", quote(arguments))
}

/// Why a test that ended with this code has not passed, with what it said.
pub(super) fn failure(code: i32, output: &str) -> Option<String> {
    let what = match code {
        0 => return None,
        4 => "kmod.sh skipped the test".to_owned(),
        137 => "kmod.sh was killed by SIGKILL (exit code 137)".to_owned(),
        code => format!("kmod.sh ended with exit code {code}"),
    };
    Some(match telling(output) {
        Some(line) => format!("{what}; it said: {}", shown(line)),
        None => what,
    })
}

/// The line that tells why, rather than the last one: a list of the kernel's options may follow.
fn telling(output: &str) -> Option<&str> {
    let words = ["FAIL", "FATAL", "kmod.sh: ", "Usage: "];
    let lines = || {
        let lines = output.lines().map(str::trim);
        // bash complains, over three lines, of a version of kmod that it cannot read as a number.
        let is_complaint = |line: &str| line.contains("[[: ") || line.starts_with("-ZLIB");
        lines.filter(move |line| !line.is_empty() && !is_complaint(line))
    };
    lines()
        .find(|line| words.iter().any(|word| line.contains(word)))
        .or_else(|| lines().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn each_test_loads_its_own_modules() {
        for (line, want) in [
            ("kmod.sh -t 0008", Loads::Driver),
            ("kmod.sh -c 0009 10", Loads::FileSystem),
            ("kmod.sh -s 0007", Loads::Both),
            ("kmod.sh -t 0099", Loads::Both),
            ("kmod.sh all", Loads::Both),
            ("kmod.sh -w", Loads::Both),
        ] {
            assert_eq!(loads(&argv(line)), want, "{line}");
        }
        assert!(
            checks(&argv("kmod.sh -t 0008"))
                .contains("modules=\"test_kmod ${DEFAULT_KMOD_DRIVER:-test_module}\"\n")
        );
    }

    #[test]
    fn arguments_are_quoted() {
        assert_eq!(
            command(&argv("kmod.sh -c 0008 $(id)")),
            "./kmod.sh -c 0008 '$(id)'"
        );
    }

    #[test]
    fn a_test_that_passed_is_no_failure() {
        assert_eq!(failure(0, "kmod_test_0008: FAIL"), None);
    }

    #[test]
    fn the_telling_line_is_quoted() {
        let skipped = "./kmod.sh: line 119: [[: 34.2\n-ZLIB: syntax error: invalid arithmetic operator (error token is \".2\n-ZLIB\")\n\
            modprobe: FATAL: Module test_kmod not found in directory /lib/modules/6.1\n\
            ./kmod.sh: /sys/devices/virtual/misc/test_kmod0/ not present\nCONFIG_XFS_FS=m\n";
        assert_eq!(
            failure(4, skipped).unwrap(),
            "kmod.sh skipped the test; it said: modprobe: FATAL: Module test_kmod not found in directory /lib/modules/6.1"
        );
        let failed = "kmod_test_0008: OK! - loading kmod test\n\
            kmod_test_0008: FAIL, test expects SUCCESS (0) - got MODULE_NOT_FOUND (256)\n----\nTest completed\n";
        assert_eq!(
            failure(1, failed).unwrap(),
            "kmod.sh ended with exit code 1; it said: kmod_test_0008: FAIL, test expects SUCCESS (0) - got MODULE_NOT_FOUND (256)"
        );
        assert_eq!(failure(1, "").unwrap(), "kmod.sh ended with exit code 1");
        assert_eq!(
            failure(1, "a\n\x1b[31mb\n\n").unwrap(),
            "kmod.sh ended with exit code 1; it said: \\u{1b}[31mb"
        );
    }
}
