//! What a wrong experiment file is told: the place, what is wrong, what to do.

use ktrial::experiment::Experiment;
use proptest::prelude::*;

/// A right experiment; each case below changes something in it.
const RIGHT: &str = "\
question: Does it fall?
primary: memory.used.peak
hosts: [loopback]
conditions:
  before: {size: 256m}
  after: {size: 64m}
workload:
  stress-ng: [--vm, 1, --vm-bytes, '{size}']
  duration: 3s
idle: 2s
settle: 2s
monitors:
  meminfo: {every: 100ms}
design: {trials: 4}
";

#[test]
fn the_experiment_that_the_cases_change_is_right() {
    let experiment = Experiment::parse(RIGHT, "e.yaml").unwrap();
    assert_eq!(experiment.name, "e");
    assert_eq!(experiment.workload.arguments[1], "1");
}

#[test]
fn byte_order_mark_and_crlf_change_nothing() {
    let right = Experiment::parse(RIGHT, "e.yaml").unwrap();
    let other = format!("\u{feff}{}", RIGHT.replace('\n', "\r\n"));
    assert_eq!(Experiment::parse(&other, "e.yaml").unwrap(), right);
    let error = Experiment::parse("\u{feff}questoin: x\r\n", "e.yaml").unwrap_err();
    assert_eq!(error.to_string(), "e.yaml:1:1: unknown key `questoin`");
}

/// (what is replaced in [`RIGHT`], by what, the error's text after `e.yaml:`, a part of its next step)
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "question:",
        "questoin:",
        "1:1: unknown key `questoin`",
        "did you mean `question`? keys here: question, primary, secondary, notes, hosts, conditions, ",
    ),
    (
        "  duration: 3s\n",
        "  duratoin: 3s\n",
        "9:3: unknown key `duratoin` in `workload`",
        "did you mean `duration`? keys here: stress-ng, kmod, boot, command, duration",
    ),
    (
        "question: Does it fall?\n",
        "",
        "1:1: key `question` is missing",
        "give a sentence",
    ),
    (
        "question: Does it fall?",
        "question:",
        "1:9: `question` has no value",
        "give a sentence",
    ),
    (
        "question: Does it fall?",
        "question: ~",
        "1:11: `question` has no value",
        "give a sentence",
    ),
    (
        "question: Does it fall?",
        "question: \"a\\e[31mb\"",
        "1:11: `question` has the control character \\u{1b}",
        "write it on one line without control characters",
    ),
    (
        "question: Does it fall?",
        "question: [a]",
        "1:11: `question` cannot be a list",
        "give a sentence",
    ),
    (
        "idle: 2s",
        "idle: 2",
        "10:7: `idle`: `2` has no unit",
        "write `2s` for seconds or `2ms` for milliseconds",
    ),
    (
        "idle: 2s",
        "idle: 2m",
        "10:7: `idle`: `m` is not a unit of time",
        "did you mean `2min`?",
    ),
    (
        "idle: 2s",
        "idle: 1.5s",
        "10:7: `idle`: `1.5s` is not a whole number with a unit",
        "write a part of a second in ms, such as 1500ms",
    ),
    (
        "idle: 2s",
        "idle: 25h",
        "10:7: `idle`: `25h` is more than 24h",
        "give a duration, such as 2s",
    ),
    (
        "idle: 2s",
        "idle: soon",
        "10:7: `idle`: `soon` is not a whole number with a unit",
        "give a duration, such as 2s",
    ),
    (
        "idle: 2s",
        "idle: {a: 1}",
        "10:7: `idle` cannot be a mapping",
        "give a duration, such as 2s",
    ),
    (
        "idle: 2s",
        "idle: 2s\nidle: 3s",
        "11:1: key `idle` stands twice, first on line 10",
        "keep one of them",
    ),
    (
        "idle: 2s",
        "\tidle: 2s",
        "9:13: not YAML: while scanning a plain scalar, found a tab",
        "indent with spaces; YAML takes no tabs there",
    ),
    (
        "idle: 2s",
        "idle: &a 2s",
        "10:7: YAML anchors and aliases are not used in experiments",
        "write the value out, or share settings between files with `extends`",
    ),
    (
        "idle: 2s",
        "idle: !x 2s",
        "10:7: YAML tags are not used in experiments",
        "remove the word that begins with `!`; quote a text that begins with it",
    ),
    (
        "idle: 2s",
        "idle: *a",
        "10:7: YAML anchors and aliases are not used in experiments",
        "write the value out, or share settings between files with `extends`",
    ),
    (
        "idle: 2s",
        "idle: [[[[[[[[[[[1]]]]]]]]]]]",
        "10:15: nested deeper than 8 levels",
        "",
    ),
    (
        "idle: 2s",
        "idle: 'x",
        "10:7: not YAML: invalid indentation in quoted scalar",
        "check the indentation, quotes and brackets on and above this line",
    ),
    (
        "duration: 3s",
        "duration: 0s",
        "9:13: `workload.duration`: `0s` is less than 1ms",
        "give a duration, such as 3s",
    ),
    (
        "duration: 3s",
        "duration: 1500ms",
        "9:13: `workload.duration`: stress-ng runs for whole seconds only",
        "give whole seconds, such as 3s",
    ),
    (
        "hosts: [loopback]",
        "hosts: []",
        "3:8: `hosts` is empty",
        "give a name that `ssh` knows, or `local` for this machine",
    ),
    (
        "hosts: [loopback]",
        "hosts: loopback",
        "3:8: `hosts` cannot be a text",
        "give a list of host names, such as [kdevops-kmod]",
    ),
    (
        "hosts: [loopback]",
        "hosts: [-oProxyCommand=x]",
        "3:9: `-oProxyCommand=x` cannot be a host's name",
        "give a name that `ssh` knows, or `local` for this machine",
    ),
    (
        "hosts: [loopback]",
        "hosts: [a, a]",
        "3:12: host `a` stands twice",
        "give each host once; `design.trials` says how often it runs",
    ),
    (
        "hosts: [loopback]",
        "hosts: [a, ]\n<<: {}",
        "4:1: unknown key `<<`",
        "keys here: question, primary, secondary, notes, hosts, conditions, boot, settings, workload,",
    ),
    (
        "  after: {size: 64m}\n",
        "",
        "4:1: `conditions` has 1; a comparison needs two or more",
        "add a condition; two equal ones measure the noise",
    ),
    (
        "  after:",
        "  a/b:",
        "6:3: the condition name `a/b` has other characters than letters, digits, `.`, `_` and `-`",
        "rename it; names are used in files and columns",
    ),
    (
        "after: {size: 64m}",
        "after: {sise: 64m}",
        "8:36: `{size}` needs `size`, which condition `after` does not give",
        "did you mean `sise`? variables there: sise",
    ),
    (
        "after: {size: 64m}",
        "after: {size: 64m, n: 1}",
        "6:22: nothing uses `n`",
        "write `{n}` where it is meant to be filled in, or remove it",
    ),
    (
        "after: {size: 64m}",
        "after:",
        "6:8: `conditions.after` has no value",
        "write {} for none",
    ),
    (
        "after: {size: 64m}",
        "after: {1x: 64m}",
        "6:11: `1x` cannot name a variable",
        "begin with a letter, then letters, digits, `_` and `-`, at most 64",
    ),
    (
        "'{size}'",
        "'{size'",
        "8:36: argument `{size` has a brace that is not part of a `{variable}`",
        "write `{{` and `}}` for braces that the program shall see",
    ),
    (
        "'{size}'",
        "'{sizes}'",
        "8:36: `{sizes}` needs `sizes`, which condition `before` does not give",
        "did you mean `size`? variables there: size",
    ),
    (
        "'{size}'",
        "'{size}', -t, 9",
        "8:46: stress-ng's `--timeout` is ktrial's to give",
        "remove it: `duration` says how long it runs",
    ),
    (
        "'{size}'",
        "'{size}', --metrics-brief",
        "8:46: stress-ng's `--metrics` is ktrial's to give",
        "remove it: ktrial always asks for metrics",
    ),
    (
        "  stress-ng:",
        "  command: [x]\n  stress-ng:",
        "8:3: `workload` has both `stress-ng` and `command`",
        "keep one of them",
    ),
    (
        "  stress-ng: [--vm, 1, --vm-bytes, '{size}']\n",
        "",
        "7:1: `workload` has none of `stress-ng`, `kmod`, `boot`, `command`",
        "give a mapping with `duration` and one of `stress-ng`, `kmod`, `boot` and `command`",
    ),
    (
        "  stress-ng:",
        "  stressng:",
        "8:3: unknown key `stressng` in `workload`",
        "did you mean `stress-ng`? keys here: stress-ng, kmod, boot, command, duration",
    ),
    (
        "'{size}'",
        "{size: 1}",
        "8:36: `workload.stress-ng` has a mapping in it",
        "give a list of stress-ng's arguments",
    ),
    (
        "primary: memory.used.peak",
        "primary: memory.used.peek",
        "2:10: `primary`: nothing here gives `memory.used.peek`",
        "did you mean `memory.used.peak`? metrics here: memory.used.peak, memory.used.median, memor",
    ),
    (
        "primary: memory.used.peak",
        "primary: free.used.peak",
        "2:10: `primary`: `free.used.peak` needs the monitor `free`",
        "add `free` to `monitors`",
    ),
    (
        "primary: memory.used.peak",
        "primary: latency",
        "2:10: `primary`: nothing here gives `latency`",
        "metrics here: memory.used.peak, memory.used.median, memory.used.p95, memory.used.mean, mem",
    ),
    (
        "  meminfo: {every: 100ms}",
        "  memfino: {every: 100ms}",
        "13:3: unknown key `memfino` in `monitors`",
        "did you mean `meminfo`? keys here: meminfo, vmstat, free",
    ),
    (
        "monitors:\n  meminfo: {every: 100ms}",
        "monitors: {}",
        "12:11: `monitors` has none, so nothing would be measured",
        "give a mapping of monitors, such as {meminfo: {every: 100ms}}",
    ),
    (
        "every: 100ms",
        "every: 0ms",
        "13:20: `monitors.meminfo.every`: `0ms` is less than 1ms",
        "give a duration, such as 100ms, from 1ms to 10s",
    ),
    (
        "meminfo: {every: 100ms}",
        "meminfo: {}\n  vmstat: {every: 11s}",
        "14:19: `monitors.vmstat.every`: `11s` is more than 10s",
        "give a duration, such as 100ms, from 1ms to 10s",
    ),
    (
        "meminfo: {every: 100ms}",
        "meminfo: {}\n  free: {every: 50ms}",
        "14:17: `monitors.free.every`: `50ms` is less than 100ms",
        "give a duration, such as 100ms, from 100ms to 10min",
    ),
    (
        "meminfo: {every: 100ms}",
        "meminfo: {}\n  free: {every: 115ms}",
        "14:17: `monitors.free.every`: `free` is run in steps of 10ms",
        "give a multiple of 10ms",
    ),
    (
        "trials: 4",
        "trials: 0",
        "14:18: `design.trials`: `0` is not a whole number from 1 to 1000",
        "give a whole number from 1 to 1000",
    ),
    (
        "trials: 4",
        "trials: four",
        "14:18: `design.trials`: `four` is not a whole number from 1 to 1000",
        "give a whole number from 1 to 1000",
    ),
    (
        "trials: 4",
        "trials: 1001",
        "14:18: `design.trials`: `1001` is not a whole number from 1 to 1000",
        "give a whole number from 1 to 1000",
    ),
    (
        "trials: 4",
        "trials: 4, order: ABAB",
        "14:28: `design.order`: unknown order `ABAB`",
        "did you mean `abba`? orders: abba, random",
    ),
    (
        "trials: 4",
        "trials: 4, order: abbba",
        "14:28: `design.order`: unknown order `abbba`",
        "did you mean `abba`? orders: abba, random",
    ),
    (
        "trials: 4",
        "trials: 4, seed: -1",
        "14:27: `design.seed`: `-1` is not a whole number from 0 to 18446744073709551615",
        "give a whole number from 0 to 18446744073709551615",
    ),
    (
        "{trials: 4}",
        "{}",
        "14:1: key `design.trials` is missing",
        "give a whole number from 1 to 1000",
    ),
    (
        "{trials: 4}",
        "{trials: 4}\nparams: {size: [1]}",
        "5:12: `size` is both a variable and a parameter",
        "rename one of them",
    ),
    (
        "{trials: 4}",
        "{trials: 4}\nparams: {n: [1, 1]}",
        "15:17: value `1` of `n` stands twice",
        "give each value once; `design.trials` says how often it runs",
    ),
    (
        "{trials: 4}",
        "{trials: 4}\nparams: {n: []}",
        "15:13: `params.n` has no values",
        "give a list of values, such as [1, 4]",
    ),
    (
        "{trials: 4}",
        "{trials: 4}\nname: ../x",
        "15:7: `name`: `../x` does not begin with a letter or digit",
        "names of records are names of directories",
    ),
    (
        "{trials: 4}",
        "{trials: 4}\nextends: ../x.yaml",
        "15:10: `extends` cannot be `../x.yaml`",
        "give the name of a file in the same directory, without a path",
    ),
    (
        "{trials: 4}",
        "{trials: 4}\n---\na: b",
        "15:1: a second YAML document begins",
        "keep one experiment a file",
    ),
    (
        "memory.used.peak\nhosts: [loopback]\nconditions:\n  before: {size: 256m}\n  after: {size: 64m}\nworkload:\n  stress-ng: [--vm, 1, --vm-bytes, '{size}']\n  duration: 3s\nidle: 2s",
        "memory.used.rise\nhosts: [loopback]\nconditions:\n  before: {size: 256m}\n  after: {size: 64m}\nworkload:\n  stress-ng: [--vm, 1, --vm-bytes, '{size}']\n  duration: 3s\nidle: 0s",
        "2:10: `primary`: `memory.used.rise` needs an idle phase, and `idle` is 0s",
        "give `idle` a few seconds",
    ),
    (
        "trials: 4}",
        "trials: 1000}\nparams: {n: [1, 2, 3, 4, 5, 6]}",
        "15:10: nothing uses `n`",
        "write `{n}` where it is meant to be filled in, or remove it",
    ),
    (
        "idle: 2s",
        "boot: {every: 2 trials}\nidle: 2s",
        "10:15: `boot.every`: `2 trials` is not `trial`, `block`, or a number of blocks such as `3 blocks`",
        "give `trial`",
    ),
    (
        "idle: 2s",
        "boot: {every: block, kernel: '{size}'}\nidle: 2s",
        "10:8: `{size}` changes within a block, and the host is not booted there",
        "write `every: trial`",
    ),
    (
        "idle: 2s",
        "boot: {kernel: 6.1; reboot}\nidle: 2s",
        "10:16: `6.1; reboot` is not one plain word",
        "write letters",
    ),
    (
        "idle: 2s",
        "settings: {vm.swappines s: 1}\nidle: 2s",
        "10:12: `vm.swappines s` is no setting of the kernel",
        "give a sysctl",
    ),
    (
        "idle: 2s",
        "settings: {vm.swappiness: 1, /proc/sys/vm/swappiness: 2}\nidle: 2s",
        "10:30: `/proc/sys/vm/swappiness` stands twice",
        "give files of the kernel",
    ),
    (
        "idle: 2s",
        "secondary: [memory.used.peak]\nidle: 2s",
        "10:13: `secondary.0`: `memory.used.peak` is the primary metric",
        "name it once",
    ),
    (
        "idle: 2s",
        "secondary: [memory.used.raise]\nidle: 2s",
        "10:13: `secondary.0`: nothing here gives `memory.used.raise`",
        "did you mean `memory.used.rise`",
    ),
    (
        "  stress-ng: [--vm, 1, --vm-bytes, '{size}']\n  duration: 3s\nidle: 2s",
        "  boot: [systemd-udev-settle.service]\nidle: 2s",
        "9:1: `idle` has no meaning where the boot is the workload",
        "remove it",
    ),
    (
        "hosts: [loopback]",
        "hosts: ['{size};']",
        "3:8: `256m;` cannot be a host's name",
        "give a name that `ssh` knows",
    ),
];

#[test]
fn every_fault_is_told_with_its_place_and_a_next_step() {
    let mut wrong = Vec::new();
    for (from, to, message, next) in CASES {
        assert!(RIGHT.contains(from), "{from}");
        let text = RIGHT.replacen(from, to, 1);
        let error = match Experiment::parse(&text, "e.yaml") {
            Err(error) => error,
            Ok(_) => {
                wrong.push(format!("{to}: taken as right"));
                continue;
            }
        };
        assert_eq!(error.kind().exit_code(), 2);
        let step = error.next_step().unwrap_or_default();
        if error.to_string() != format!("e.yaml:{message}") || !step.starts_with(next) {
            wrong.push(format!("{to}:\n  {error}\n  next: {step}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn variables_may_not_multiply_into_a_huge_command_line() {
    let text = RIGHT
        .replace("64m", &"x".repeat(900))
        .replace("'{size}'", &format!("'{}'", "{size}".repeat(50)));
    let error = Experiment::parse(&text, "e.yaml").unwrap_err().to_string();
    assert!(error.contains("longer than 16384 bytes"), "{error}");
}

#[test]
fn a_plan_has_at_most_ten_thousand_trials() {
    let text = RIGHT
        .replace(
            "trials: 4}",
            "trials: 1000}\nparams: {n: [1, 2, 3, 4, 5, 6]}",
        )
        .replace("'{size}'", "'{size}', '{n}'");
    let error = Experiment::parse(&text, "e.yaml").unwrap_err().to_string();
    let expected = "e.yaml:14:10: the plan would have 12000 trials; at most 10000 are allowed";
    assert_eq!(error, expected);
}

#[test]
fn huge_and_deep_texts_end_at_once() {
    let told = |text: &str| Experiment::parse(text, "e.yaml").unwrap_err().to_string();
    assert_eq!(
        told(&"# padding\n".repeat(30_000)),
        "e.yaml:1:1: the file has more than 256 KiB"
    );
    for open in ["[", "{", "- ", "? ", "{a: ", "[a, "] {
        let error = told(&open.repeat(40_000));
        assert!(error.starts_with("e.yaml:1:"), "{open}: {error}");
    }
    for text in [
        "",
        "\n# only a comment\n",
        "---\n",
        "text",
        "[1]",
        "\0",
        "%YAML 1.2",
    ] {
        assert!(told(text).starts_with("e.yaml:"), "{text:?}");
    }
}

mod files {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn told(path: &Path) -> String {
        let error = Experiment::read(path).unwrap_err();
        assert_eq!(error.kind().exit_code(), 2);
        let folder = path.parent().unwrap().display().to_string();
        error.to_string().replace(&format!("{folder}/"), "")
    }

    #[test]
    fn keys_of_a_file_replace_those_that_it_extends() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base.yaml");
        let middle = folder.path().join("middle.yaml");
        let top = folder.path().join("top.yaml");
        fs::write(base, RIGHT).unwrap();
        fs::write(
            middle,
            "extends: base.yaml\nidle: 7s\ndesign: {trials: 9}\n",
        )
        .unwrap();
        fs::write(&top, "extends: middle.yaml\ndesign: {trials: 2}\n").unwrap();
        let experiment = Experiment::read(&top).unwrap();
        assert_eq!(experiment.name, "top");
        assert_eq!(experiment.design.trials, 2);
        assert_eq!(experiment.idle.as_secs(), 7);
        assert_eq!(experiment.settle.as_secs(), 2);
    }

    #[test]
    fn a_fault_is_told_in_the_file_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top.yaml");
        let base = folder.path().join("base.yaml");
        fs::write(&top, "extends: base.yaml\nhosts: [a]\n").unwrap();
        fs::write(&base, RIGHT.replace("settle: 2s", "settle: 2")).unwrap();
        assert_eq!(told(&top), "base.yaml:11:9: `settle`: `2` has no unit");
        fs::write(&base, "setle: 2s").unwrap();
        assert_eq!(told(&top), "base.yaml:1:1: unknown key `setle`");
        fs::write(&base, "settle: 2s").unwrap();
        assert_eq!(told(&top), "top.yaml:1:1: key `question` is missing");
    }

    #[test]
    fn circles_and_missing_files_end_with_the_place_of_extends() {
        let folder = tempfile::tempdir().unwrap();
        let a = folder.path().join("a.yaml");
        let b = folder.path().join("b.yaml");
        fs::write(&a, "extends: b.yaml").unwrap();
        assert_eq!(
            told(&a),
            "a.yaml:1:10: cannot read `b.yaml`, named by `extends`"
        );
        fs::write(&b, "idle: 1s\nextends: a.yaml").unwrap();
        assert_eq!(
            told(&a),
            "b.yaml:2:10: `extends` comes back to `a.yaml`, so that no file is the first"
        );
        fs::write(&a, "extends: a.yaml").unwrap();
        assert!(told(&a).starts_with("a.yaml:1:10: `extends` comes back"));
    }

    #[test]
    fn what_is_no_text_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.yaml");
        assert_eq!(told(&path), "e.yaml: cannot read the experiment");
        fs::write(&path, b"question: a\nname: \xe4\xff").unwrap();
        assert_eq!(told(&path), "e.yaml:2:7: not UTF-8 text");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(told(&path), "e.yaml: not a file");
        let odd = folder.path().join("my file.yaml");
        fs::write(&odd, RIGHT).unwrap();
        assert!(told(&odd).contains("the file's name `my file` has other characters"));
    }
}

mod docs {
    use super::*;

    fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
        let (_, after) = text.split_once(from).unwrap();
        after.split_once(to).unwrap().0
    }

    #[test]
    fn the_page_says_what_the_code_takes() {
        let page = include_str!("../docs/experiment.md");
        let keys = between(page, "<!-- keys -->\n", "<!-- end -->");
        assert_eq!(keys, ktrial::experiment::key_table());
        let metrics = between(page, "<!-- metrics -->\n", "<!-- end -->");
        assert_eq!(metrics, ktrial::experiment::metrics::tables());
        Experiment::parse(between(page, "```yaml\n", "```"), "e.yaml").unwrap();
    }

    #[test]
    fn the_experiments_that_come_along_can_reach_their_level() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let plan = Experiment::read(&path).unwrap().plan().unwrap();
            let warnings = plan.warnings();
            // The one with a host a kernel says what it cannot tell apart.
            let of_hosts = path.ends_with("stress-ng-module-hosts.yaml");
            assert_eq!(
                warnings.len(),
                usize::from(of_hosts),
                "{path:?}: {warnings:?}"
            );
            seen += 1;
        }
        assert!(seen >= 2);
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[ -~\n\t\u{e9}]{0,200}") {
        let _ = Experiment::parse(&text, "e.yaml");
    }

    #[test]
    fn no_change_of_a_right_text_makes_it_panic(
        at in 0..RIGHT.len(),
        length in 0usize..20,
        put in "[-{}\\[\\]:,'\"&*!#|>%@ \na-z0-9\t\r\u{0}\u{85}\u{2028}\u{202e}]{0,6}",
    ) {
        let end = (at + length).min(RIGHT.len());
        let text = format!("{}{put}{}", &RIGHT[..at], &RIGHT[end..]);
        match Experiment::parse(&text, "e.yaml") {
            Ok(experiment) => { experiment.plan().unwrap(); }
            Err(error) => prop_assert!(error.place().is_some_and(|p| p.line.is_some())),
        }
    }
}
