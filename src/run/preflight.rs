//! Preflight: once a host, before its first trial. Facts of the host, and what it lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::experiment::{Plan, WorkloadKind};
use crate::host::Host;
use crate::monitor;
use crate::record::HostFacts;
use crate::unit::Unit;
use crate::workload;
use crate::workload::boot::is_workload;
use crate::workload::quote;

use super::said;

const DEADLINE: Duration = Duration::from_secs(60);
const BEGIN: &str = "==ktrial== facts";
const DONE: &str = "==ktrial== done";

/// Most lines that are read from a host.
const LINES: usize = 500;

/// Longest fact; a kernel's command line has at most 4096 bytes on most machines.
const FACT_LENGTH: usize = 4096;

/// `first FILE` prints its first line.
const FIRST: &str = "first() { IFS= read -r line <\"$1\" && printf '%s' \"$line\"; } 2>/dev/null\n";

/// The facts. Each line prints `key=value` or nothing.
const FACTS: &str = r#"fact() { [ -z "$2" ] || printf '%s=%s\n' "$1" "$2"; }
fact kernel "$(uname -r)"
fact machine "$(uname -m)"
fact uname "$(uname -a)"
fact version "$(first /proc/version)"
fact cmdline "$(first /proc/cmdline)"
fact boot_id "$(first /proc/sys/kernel/random/boot_id)"
fact cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null)"
fact memory_kib "$(while read -r key value unit; do [ "$key" = MemTotal: ] && echo "$value"; done </proc/meminfo)"
fact loadavg "$(first /proc/loadavg)"
fact clocksource "$(first /sys/devices/system/clocksource/clocksource0/current_clocksource)"
fact hypervisor "$(first /sys/hypervisor/type || first /sys/class/dmi/id/sys_vendor)"
fact virtualization "$(systemd-detect-virt 2>/dev/null)"
fact procps "$(free --version 2>/dev/null)"
fact stress_ng "$(stress-ng --version 2>/dev/null)"
fact systemd "$(systemctl --version 2>/dev/null | while read -r line; do echo "$line"; break; done)"
fact user_id "$(id -u)"
fact sudo_user "${SUDO_USER-}"
( . /etc/os-release && fact os "$PRETTY_NAME" && fact os_id "$ID" && fact os_like "$ID_LIKE" ) 2>/dev/null
"#;

/// Looks for the lock of a trial that runs, of whatever user's this one may see: one that lost its ktrial goes on to
/// its own end. Trials with another `KTRIAL_BASE` are not seen.
/// What it holds is in the contract of [`ktrial_agent`]; anybody may have put something else there. After the name in
/// /proc/PID/stat, which may hold anything, the process's start is the 20th word.
const OTHER_TRIALS: &str = r#"for lock in "${KTRIAL_BASE:-/var/tmp/ktrial}"-*/lock; do
  [ -f "$lock" ] && [ ! -L "$lock" ] || continue
  set -- $(head -c 200 "$lock")
  pid=$1 start=$2 boot=$3
  case $pid in '' | *[!0-9]*) continue ;; esac
  [ "$boot" = "$(first /proc/sys/kernel/random/boot_id)" ] || continue
  stat=$(first "/proc/$pid/stat") || continue
  set -- ${stat##*) }
  shift 19
  [ "$1" != "$start" ] || echo "trial=$pid"
done 2>/dev/null
"#;

/// The script of the preflight, exactly as it runs on every host of the plan. It changes nothing.
///
/// Besides facts it prints `missing=PROGRAM`, `refused=WHY` (stress-ng does not take its arguments),
/// `busy=PID` (the same workload runs already), `trial=PID` (the supervisor of another trial does) and `broken=WHAT`.
pub fn script(plan: &Plan) -> String {
    let experiment = &plan.experiment;
    let mut programs: BTreeSet<&str> = experiment
        .monitors
        .iter()
        .flat_map(|m| monitor::programs(m.kind))
        .copied()
        .chain(["cat", "grep", "head", "sleep", "tr", "uname"])
        .collect();
    let kind = experiment.workload.kind;
    // kmod.sh is no program that the shell finds: the workload's own checks do.
    let commands = plan.trials.iter().filter(|_| kind != WorkloadKind::Kmod);
    programs.extend(commands.filter_map(|t| t.argv.first()).map(String::as_str));
    programs.extend(workload::programs(plan));
    if is_workload(plan) {
        programs.insert("systemd-analyze");
    }

    let mut script = format!("echo '{BEGIN}'\n{FIRST}{FACTS}{}", workload::checks(plan));
    for program in programs {
        let word = quote(&[program.to_owned()]);
        script.push_str(&format!(
            "command -v {word} >/dev/null 2>&1 || printf 'missing=%s\\n' {word}\n"
        ));
    }
    script.push_str("sleep 0.01 2>/dev/null || echo 'broken=sleep takes whole seconds only'\n");
    let sampled = experiment.monitors.iter();
    let sampled = sampled.filter_map(|m| monitor::file(m.kind));
    let files: BTreeSet<&str> = sampled.chain(["/proc/meminfo", "/proc/uptime"]).collect();
    for file in files {
        script.push_str(&format!(
            "[ -r {file} ] || echo 'broken={file} cannot be read'\n"
        ));
    }
    let commands: BTreeSet<String> = plan.trials.iter().map(|t| quote(&t.argv)).collect();
    match kind {
        WorkloadKind::StressNg => {
            script.push_str(&stress_ng_checks(&commands));
            script.push_str(&same_name_check("stress-ng*"));
        }
        WorkloadKind::Kmod => script.push_str(&same_name_check("kmod.sh")),
        WorkloadKind::Command => script.push_str(&same_command_check(plan)),
        WorkloadKind::Boot => {}
    }
    script.push_str(OTHER_TRIALS);
    script.push_str(&format!("echo '{DONE}'\n"));
    script
}

/// Lets stress-ng read its arguments without running anything.
fn stress_ng_checks(commands: &BTreeSet<String>) -> String {
    let mut script = String::from("if command -v stress-ng >/dev/null 2>&1; then\n");
    for command in commands {
        script.push_str(&format!(
            "said=$({command} --dry-run --timeout 1s 2>&1) || printf 'refused=%s\\n' \"$said\"\n"
        ));
    }
    script.push_str("fi\n");
    script
}

/// Looks for a process with this name, however it was started.
fn same_name_check(pattern: &str) -> String {
    format!(
        "for process in /proc/[0-9]*; do\n\
         case $(first \"$process/comm\") in {pattern}) echo \"busy=${{process#/proc/}}\" ;; esac\n\
         done\n"
    )
}

/// Looks for a process that runs the very command, by itself or through its interpreter.
fn same_command_check(plan: &Plan) -> String {
    let patterns: BTreeSet<String> = plan
        .trials
        .iter()
        .map(|trial| {
            let line = quote(&[format!("{} ", trial.argv.join(" "))]);
            format!("{line}|*' '{line}")
        })
        .collect();
    let patterns: Vec<String> = patterns.into_iter().collect();
    format!(
        "for process in /proc/[0-9]*; do\n\
         case $(tr '\\0' ' ' <\"$process/cmdline\") in\n\
         {}) echo \"busy=${{process#/proc/}}\" ;;\nesac\ndone 2>/dev/null\n",
        patterns.join("|")
    )
}

/// What a host said in its preflight.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Findings {
    pub(super) facts: BTreeMap<String, String>,
    /// What has to be put right first, with the way to do so where known.
    pub(super) problems: Vec<String>,
}

/// Runs the preflight on a host.
///
/// # Errors
/// As [`Host::exec`]; `HostStable` when what came back is no preflight.
pub(super) fn run(host: &dyn Host, plan: &Plan) -> Result<Findings> {
    let output = host.exec(&script(plan), DEADLINE)?;
    read(&output.stdout).ok_or_else(|| {
        let said = said::last_line(&output.stderr).unwrap_or_default();
        Error::new(
            ErrorKind::HostStable,
            format!(
                "host {}: the preflight did not come to its end: {said}",
                host.name()
            ),
        )
        .next("check that the login shell on the host is a POSIX shell that can run scripts")
    })
}

fn read(stdout: &[u8]) -> Option<Findings> {
    let text = String::from_utf8_lossy(stdout);
    let mut lines = text.lines().skip_while(|l| *l != BEGIN).skip(1);
    let mut findings = Findings::default();
    let (mut missing, mut busy, mut trials) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines.by_ref().take(LINES) {
        if line == DONE {
            findings.say_missing(&missing);
            findings.say_busy("the same workload runs there already", &busy);
            findings.say_busy(
                "a trial of another run, or of a ktrial that is gone, has not ended there yet",
                &trials,
            );
            return Some(findings);
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let value = said::escaped(value, FACT_LENGTH);
        match key {
            "missing" => missing.push(value),
            "busy" => busy.push(value),
            "trial" => trials.push(value),
            "broken" => findings.say(value),
            "refused" => findings.say(format!("stress-ng does not take its arguments: {value}")),
            key if is_fact(key) => {
                findings.facts.entry(key.to_owned()).or_insert(value);
            }
            _ => {}
        }
    }
    None
}

/// What a reader has to know of a host; `boots` when the experiment boots it before it measures there.
pub(super) fn notes(host: &HostFacts, boots: bool) -> Vec<String> {
    busy(host, boots)
        .into_iter()
        .chain(emulated(host))
        .collect()
}

/// A host that was not idle: its load over the last minute against its CPUs.
///
/// More than half a process a CPU is told; nothing where a boot ends that work before anything is measured.
/// Load averages: proc_loadavg(5).
pub(super) fn busy(host: &HostFacts, boots: bool) -> Option<String> {
    if boots {
        return None;
    }
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite());
    let load = number(host.facts.get("loadavg")?.split(' ').next()?)?;
    let cpus = number(host.facts.get("cpus")?)?;
    (load > cpus / 2.0).then(|| {
        format!(
            "host {} was busy before the trials: load {load} on {cpus} CPUs; other work widens every interval",
            host.name
        )
    })
}

/// A host without a processor of its own. `qemu` is QEMU that emulates; with KVM systemd-detect-virt(1) says `kvm`.
fn emulated(host: &HostFacts) -> Option<String> {
    let virtualization = host.facts.get("virtualization")?;
    let cpus = host.facts.get("cpus").map_or("?", String::as_str);
    let memory = host
        .facts
        .get("memory_kib")
        .and_then(|kib| kib.parse().ok());
    let memory = memory.map_or("?".to_owned(), |kib| Unit::KiB.show(kib));
    (virtualization == "qemu").then(|| {
        format!(
            "host {} is emulated by QEMU without KVM, with {cpus} CPUs and {memory} of memory: true to what the kernel \
             does and how much memory it takes, not to the speed of hardware",
            host.name
        )
    })
}

/// Keys are ktrial's own; anything else was printed by something else.
fn is_fact(key: &str) -> bool {
    (1..=20).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

impl Findings {
    /// The same problem of several trials is told once.
    fn say(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn say_missing(&mut self, missing: &[String]) {
        for program in missing {
            let problem = match package(program) {
                Some((debian, fedora)) => {
                    format!("{program} is missing: {}", self.install(debian, fedora))
                }
                None => format!("{program} is missing: install it, or name it with its full path"),
            };
            self.say(problem);
        }
    }

    fn say_busy(&mut self, what: &str, processes: &[String]) {
        if !processes.is_empty() {
            self.problems.push(format!(
                "{what} (process {}): wait for its end, or end it",
                processes.join(", ")
            ));
        }
    }

    /// How this host's distribution installs a package.
    fn install(&self, debian: &str, fedora: &str) -> String {
        let word = |key| self.facts.get(key).map_or("", String::as_str);
        let family = format!("{} {}", word("os_id"), word("os_like"));
        let has = |name: &str| family.split_ascii_whitespace().any(|w| w.starts_with(name));
        if has("debian") || has("ubuntu") {
            format!("apt-get install {debian}")
        } else if has("fedora") || has("rhel") || has("centos") {
            format!("dnf install {fedora}")
        } else if has("suse") || has("opensuse") || has("sles") {
            format!("zypper install {debian}")
        } else if has("arch") {
            format!("pacman -S {fedora}")
        } else if has("alpine") {
            format!("apk add {fedora}")
        } else {
            format!("install the package {debian}")
        }
    }
}

/// The packages that hold a program, in Debian's and in Fedora's words.
fn package(program: &str) -> Option<(&'static str, &'static str)> {
    Some(match program {
        "stress-ng" => ("stress-ng", "stress-ng"),
        "free" => ("procps", "procps-ng"),
        "systemd-analyze" => ("systemd", "systemd"),
        "awk" => ("gawk", "gawk"),
        "grep" => ("grep", "grep"),
        "cat" | "head" | "mktemp" | "sleep" | "tr" | "uname" => ("coreutils", "coreutils"),
        "kmod" | "modprobe" | "modinfo" | "rmmod" => ("kmod", "kmod"),
        "which" => ("debianutils", "which"),
        "bash" => ("bash", "bash"),
        "sed" => ("sed", "sed"),
        _ => return None,
    })
}

/// Puts what was found on one host into its place in a record.
pub(super) fn facts(name: &str, findings: &Findings) -> HostFacts {
    HostFacts {
        name: name.to_owned(),
        facts: findings.facts.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Local;

    fn host(loadavg: &str, cpus: &str) -> HostFacts {
        let facts = [("loadavg", loadavg), ("cpus", cpus)];
        HostFacts {
            name: "h".into(),
            facts: facts.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        }
    }

    #[test]
    fn a_trial_that_holds_its_host_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("kt");
        std::fs::create_dir(folder.path().join("kt-0")).unwrap();
        let found = |lock: &str| {
            std::fs::write(folder.path().join("kt-0/lock"), lock).unwrap();
            let base = base.display();
            let script = format!("KTRIAL_BASE={base}\n{FIRST}{OTHER_TRIALS}");
            let output = Local.exec(&script, DEADLINE).unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let own = std::process::id();
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let start = stat.rsplit_once(") ").unwrap().1;
        let start = start.split(' ').nth(19).unwrap();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let boot = boot.trim();
        let line = format!("trial={own}\n");
        assert!(found(&format!("{own} {start} {boot} 0123\n")).contains(&line));
        for stale in [
            format!("{own} {start}7 {boot} 0123\n"),
            format!("{own} {start} another-boot 0123\n"),
            format!("4194305 {start} {boot} 0123\n"),
            String::new(),
        ] {
            assert!(!found(&stale).contains(&line), "{stale}");
        }
        let said = "==ktrial== facts\ntrial=7\ntrial=9\n==ktrial== done\n";
        let problems = read(said.as_bytes()).unwrap().problems;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("(process 7, 9): wait"), "{problems:?}");
    }

    #[test]
    fn a_host_with_other_work_is_told() {
        let loaded = host("5.68 6.12 5.08 3/200 123", "2");
        let note = busy(&loaded, false).unwrap();
        assert_eq!(busy(&loaded, true), None);
        assert!(note.contains("load 5.68 on 2 CPUs"), "{note}");
        for (loadavg, cpus) in [("0.40 1 1 1/2 3", "2"), ("", "2"), ("nan", "2"), ("9", "")] {
            assert_eq!(busy(&host(loadavg, cpus), false), None);
        }
    }
}
