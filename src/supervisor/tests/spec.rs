//! What supervisors are told to do, for each kind of workload.

use super::super::spec;
use super::*;
use crate::experiment::Experiment;

fn told(workload: &str, kind: Kind) -> Spec {
    let text = format!(
        "question: q\nprimary: free.used.peak\nhosts: [h]\nconditions: {{a: {{v: 1}}, b: {{v: 2}}}}\n\
         workload: {{{workload}, duration: 3s}}\nmonitors: {{free: {{every: 200ms}}, meminfo: {{every: 100ms}}}}\n\
         design: {{trials: 1}}\nidle: 2s\nsettle: 1500ms\nsettings: {{vm.swappiness: '{{v}}'}}\n"
    );
    let plan = Experiment::parse(&text, "e.yaml").unwrap().plan().unwrap();
    spec::spec(&plan.trials[0], &plan.experiment, kind, None)
}

#[test]
fn times_monitors_and_settings_are_the_trial_s() {
    let agent = told("command: [echo, \"it's\"]", Kind::Agent);
    assert_eq!(
        [
            agent.idle_ms,
            agent.settle_ms,
            agent.limit_ms,
            agent.grace_ms,
            agent.lease_ms
        ],
        [2000, 1500, 63_000, 10_000, 606_500]
    );
    assert_eq!(agent.trial, "t01");
    assert_eq!(agent.command, "echo \"it's\"\n");
    assert_eq!((agent.prepare.as_str(), agent.restore.as_str()), ("", ""));
    assert_eq!(agent.settings.len(), 1);
    assert_eq!(agent.settings[0].file, "/proc/sys/vm/swappiness");
    assert_eq!(agent.guarded, [""; 0]);
    let by_name = |spec: &Spec, name: &str| {
        spec.monitors
            .iter()
            .find(|m| m.name == name)
            .unwrap()
            .clone()
    };
    let meminfo = by_name(&agent, "meminfo");
    assert_eq!(meminfo.source, Source::File("/proc/meminfo".into()));
    assert_eq!(meminfo.period_us, 100_000);
    assert!(
        matches!(by_name(&agent, "free").source, Source::Script(text) if text.contains("-s 0.2 "))
    );
    let shell = told("command: [true]", Kind::Shell);
    for name in ["meminfo", "free"] {
        let monitor = by_name(&shell, name);
        assert_eq!(monitor.period_us, 1_000_000);
        assert!(matches!(monitor.source, Source::Script(_)));
    }
    // It goes to the host as JSON.
    let json = serde_json::to_string(&agent).unwrap();
    assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), agent);
}

/// The scripts of a spec with which nothing is really loaded.
fn run(place: &Place, script: &str, stand_ins: &str) -> Output {
    std::fs::create_dir_all(place.file("trial")).unwrap();
    let folder = quote(&[place.folder("trial")]);
    place.run(&format!("cd {folder}\n{stand_ins}\n{script}"))
}

#[test]
fn stress_ng_writes_its_report_into_the_folder() {
    let spec = told("stress-ng: [--vm, '{v}']", Kind::Shell);
    assert_eq!((spec.prepare.as_str(), spec.restore.as_str()), ("", ""));
    in_each_shell(|place| {
        program(&place.file("bin/stress-ng"), "printf '%s ' \"$@\"");
        let output = run(place, &spec.command, "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            said, "--vm 1 --timeout 3s --metrics-brief --yaml stress-ng.yaml ",
            "{place:?}"
        );
    });
}

fn program(file: &Path, lines: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{lines}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(file, mode).unwrap();
}

/// Modules as programs tell of them: two files are the list of what is loaded.
const MODULES: &str = r#"
modinfo() { for name; do :; done; case $* in *depends*) echo crc ;; *) echo "/lib/$name.ko" ;; esac; }
modprobe() {
  case $1 in
  -D) echo "insmod /lib/crc.ko"; echo "insmod /lib/big.ko" ;;
  *) for name; do :; done; [ -e modules ] || echo "too early" >&2; echo "$name" >>loaded ;;
  esac
}
rmmod() { [ "$1" != crc ] || { echo in use; return 1; }; grep -v "^$1\$" loaded >rest; mv rest loaded; }
sleep() { :; }
"#;

/// `is_loaded` is a function of the scripts themselves, and looks at the kernel's own list.
fn with_list(script: &str) -> String {
    script
        .replace("</proc/modules", "<loaded")
        .replace("-r /proc/modules", "-r loaded")
}

#[test]
fn modules_that_were_not_loaded_are_unloaded_and_one_that_stays_is_told() {
    let spec = told("stress-ng: [--module, 1, --module-name, big]", Kind::Shell);
    assert!(spec.grace_ms == 30_000 && spec.command.starts_with("export PATH="));
    assert_eq!(spec.settings.len(), 2);
    in_each_shell(|place| {
        std::fs::create_dir_all(place.file("trial")).unwrap();
        // A first run ends before anything is loaded: there is nothing to unload.
        let output = run(place, &with_list(&spec.restore), MODULES);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{place:?} {output:?}"
        );
        std::fs::write(place.file("trial/loaded"), "other\n").unwrap();
        let output = run(place, &with_list(&spec.prepare), MODULES);
        assert!(output.status.success(), "{place:?} {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(place.read("trial/modules").trim(), "big crc");
        assert_eq!(place.read("trial/loaded"), "other\ncrc\n");
        std::fs::write(place.file("trial/loaded"), "other\ncrc\nbig\n").unwrap();
        let output = run(place, &with_list(&spec.restore), MODULES);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            said, "ktrial: module crc was not loaded before and still is: in use\n",
            "{place:?}"
        );
        assert_eq!(place.read("trial/loaded"), "other\ncrc\n");
    });
}

#[test]
fn a_module_that_is_loaded_already_ends_prepare_with_the_reason() {
    let spec = told("stress-ng: [--module, 1, --module-name, big]", Kind::Agent);
    in_each_shell(|place| {
        std::fs::create_dir_all(place.file("trial")).unwrap();
        std::fs::write(place.file("trial/loaded"), "big\n").unwrap();
        let output = run(place, &with_list(&spec.prepare), MODULES);
        assert_eq!(output.status.code(), Some(1), "{place:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("module big is loaded already"), "{said}");
        assert!(!place.file("trial/modules").exists());
    });
}

#[test]
fn kmod_sh_runs_in_its_own_folder_and_its_modules_are_kept_for_the_end() {
    let spec = told("kmod: [-t, '0008']", Kind::Shell);
    assert_eq!(spec.guarded, ["/proc/sys/kernel/modprobe"]);
    in_each_shell(|place| {
        let tools = place.file("selftests");
        std::fs::create_dir_all(&tools).unwrap();
        let kmod_sh = tools.join("kmod.sh");
        program(&kmod_sh, "echo \"$PWD $* $TERM $PATH\"");
        std::fs::create_dir_all(place.file("trial")).unwrap();
        std::fs::write(place.file("trial/loaded"), "other\n").unwrap();
        let found = |script: &str| {
            let own = kmod_sh.display().to_string();
            with_list(script).replace("/usr/libexec/kselftests/kmod/kmod.sh", &own)
        };
        let output = run(place, &found(&spec.prepare), MODULES);
        assert!(output.status.success(), "{place:?} {output:?}");
        assert_eq!(
            place
                .read("trial/modules")
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["test_kmod", "test_module", "big", "crc", "big", "crc"]
        );
        let output = run(place, &found(&spec.command), "unset TERM");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.starts_with(&format!("{} -t 0008 linux ", tools.display())),
            "{place:?} {said}"
        );
        assert!(said.trim_end().ends_with(":/usr/sbin:/sbin"), "{said}");
    });
}

#[test]
fn a_boot_that_is_the_workload_is_what_is_asked_after_it() {
    let boot = "question: q\nprimary: boot.total\nhosts: [h]\nconditions: {a: {v: 1}, b: {v: 2}}\n\
        boot: {every: trial, command_line: ['log={v}']}\nworkload: {boot: [a.service]}\ndesign: {trials: 1}\n";
    let plan = Experiment::parse(boot, "e.yaml").unwrap().plan().unwrap();
    let spec = spec::spec(&plan.trials[0], &plan.experiment, Kind::Agent, None);
    assert!(spec.command.contains("systemd-analyze"));
}

#[test]
fn the_start_s_script_has_every_file_as_it_is_and_fits_a_host() {
    let mut spec = told(
        "command: [printf, \"%s\", 'a\nEND_OF_FILE\nb \\ $x']",
        Kind::Shell,
    );
    spec.monitors.truncate(1);
    in_each_shell(|place| {
        std::fs::create_dir_all(place.file("trial")).unwrap();
        let script = supervisor(&place.folder("trial")).start(&spec);
        assert!(script.len() < 60_000);
        place.run(&script.replace("exec sh supervisor.sh start", ":"));
        assert_eq!(place.read("trial/command.sh"), spec.command, "{place:?}");
        let Source::Script(text) = &spec.monitors[0].source else {
            panic!("a script");
        };
        assert_eq!(
            place.read(&format!("trial/{}.sh", spec.monitors[0].name)),
            *text
        );
        let output = place.run(&format!("sh -n {}/supervisor.sh", place.folder("trial")));
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{place:?} {output:?}"
        );
    });
}

#[test]
fn the_agent_is_asked_in_quoted_words() {
    let agent = Supervisor {
        kind: Kind::Agent,
        program: "/var/tmp/a b/agent",
        folder: "/var/tmp/it's",
    };
    let spec = told("command: [true]", Kind::Agent);
    assert_eq!(
        agent.start(&spec),
        "exec '/var/tmp/a b/agent' start \"/var/tmp/it's\"\n"
    );
    let follow = agent.follow(&[("events", 7), ("meminfo.txt", 0)]);
    assert!(
        follow.ends_with("follow \"/var/tmp/it's\" 'events=7' 'meminfo.txt=0'\n"),
        "{follow}"
    );
}
