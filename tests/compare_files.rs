//! `ktrial compare` as people run it, on files that they have.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A call of the program in a directory of its own.
struct Ktrial {
    dir: tempfile::TempDir,
}

/// What it printed, white space made even, and its exit code.
struct Said {
    stdout: String,
    stderr: String,
    code: i32,
}

impl Ktrial {
    fn new() -> Self {
        Ktrial {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.dir.path().join(name), content).unwrap();
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ktrial"));
        command
            .current_dir(self.dir.path())
            .arg("compare")
            .args(arguments);
        command
    }

    fn compare(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().unwrap())
    }
}

fn said(output: Output) -> Said {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        code: output.status.code().unwrap(),
    }
}

impl Said {
    fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    fn json(self) -> Value {
        serde_json::from_str(&self.ok().stdout).unwrap()
    }

    /// In the standard output, wherever its lines break.
    fn says(self, part: &str) -> Self {
        let flat = self.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "`{part}` is not in\n{}", self.stdout);
        self
    }

    /// Ended as an input error, this in the standard error.
    fn refuses(self, part: &str) -> Self {
        assert!(
            self.stderr.contains(part),
            "`{part}` is not in\n{}",
            self.stderr
        );
        assert!(self.stderr.contains("next: "), "{}", self.stderr);
        assert_eq!(self.code, 2);
        assert_eq!(self.stdout, "");
        self
    }
}

fn data(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn two_series_show_the_peaks_and_where_the_gap_arose() {
    let (before, after) = (data("used-before.txt"), data("used-after.txt"));
    let said = Ktrial::new()
        .compare(&["--series", &before, &after])
        .ok()
        .says("memory.used.peak 84.2 MiB lower in used-after than in used-before")
        .says("n = 1 + 1): cannot be shown with this n")
        .says("the gap already stands in the first sample: 79.3 MiB there, 84.2 MiB at the peaks")
        .says("19.7 MiB in used-before and 14.8 MiB in used-after")
        .says("Each file is one trial: 40 and 40 samples over time");
    for line in said.stdout.lines() {
        assert!(line.is_ascii() && line.len() <= 72, "{line}");
    }
}

#[test]
fn series_as_json() {
    let (before, after) = (data("used-before.txt"), data("used-after.txt"));
    let json = Ktrial::new()
        .compare(&["--series", &before, &after, "--format", "json"])
        .json();
    let metrics: Vec<&str> = json["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["metric"].as_str().unwrap())
        .collect();
    assert_eq!(
        metrics,
        [
            "memory.used.peak",
            "memory.used.median",
            "memory.used.p95",
            "memory.used.mean"
        ]
    );
    let peak = &json["comparisons"][0];
    assert_eq!(peak["unit"], "KiB");
    assert_eq!(peak["difference"], -86216.0);
    assert_eq!(peak["a"]["n"], 1);
    assert_eq!(peak["verdict"], "cannot be shown with this n");
    assert!(peak["p"].is_null() && peak["difference_ci"].is_null());
}

#[test]
fn every_layout_of_free_is_read() {
    for layout in ["new", "wide"] {
        let log = |when| data(&format!("free-{layout}-{when}.log"));
        Ktrial::new()
            .compare(&["--series", &log("before"), &log("after")])
            .ok()
            .says("memory.used.peak")
            .says("KiB is assumed");
    }
    Ktrial::new()
        .compare(&[
            "--series",
            &data("free-old-before.log"),
            &data("free-new-after.log"),
        ])
        .ok()
        .says("different versions of `free`");
}

#[test]
fn only_the_mem_lines_of_a_log_give_the_same() {
    let json = |when: &str, keep: fn(&&str) -> bool| {
        let log = fs::read_to_string(data(&format!("free-new-{when}.log"))).unwrap();
        log.lines().filter(keep).collect::<Vec<_>>().join("\n") + "\n"
    };
    let compare = |keep: fn(&&str) -> bool| {
        Ktrial::new()
            .file("before", json("before", keep))
            .file("after", json("after", keep))
            .compare(&["--series", "before", "after", "--format", "json"])
            .ok()
            .stdout
    };
    assert_eq!(compare(|_| true), compare(|line| line.starts_with("Mem:")));
}

#[test]
fn a_log_for_people_is_refused_with_the_flag_to_use() {
    Ktrial::new()
        .file("h", "               total        used        free\nMem:            23Gi       544Mi        21Gi\n")
        .file("k", "1\n")
        .compare(&["--series", "h", "k"])
        .refuses("h:2:28: `544Mi` is rounded by `free -h`")
        .refuses("free -k");
}

#[test]
fn runs_are_tested() {
    let json = Ktrial::new()
        .file("before", "5.672\n5.418\n5.707\n6.250\n")
        .file("after", "4.652\n4.634\n4.745\n")
        .compare(&[
            "--runs", "--unit", "s", "--metric", "settle", "before", "after", "--format", "json",
        ])
        .json();
    let c = &json["comparisons"][0];
    assert_eq!((&c["metric"], &c["unit"]), (&"settle".into(), &"s".into()));
    assert_eq!(c["p_method"], "welch");
    assert!((c["p"].as_f64().unwrap() - 0.0072).abs() < 5e-5);
    assert!((c["difference"].as_f64().unwrap() / 5.76175 + 0.1883).abs() < 5e-5);
    assert!((c["p_min"].as_f64().unwrap() - 2.0 / 35.0).abs() < 1e-12);
    assert_eq!(c["verdict"], "supported");

    let exact = Ktrial::new()
        .file("before", "5.672\n5.418\n5.707\n6.250\n")
        .file("after", "4.652\n4.634\n4.745\n")
        .compare(&[
            "--runs", "--assume", "exact", "before", "after", "--format", "json",
        ])
        .json();
    let c = &exact["comparisons"][0];
    assert_eq!(c["p_method"], "permutation-exact");
    assert_eq!(c["verdict"], "cannot be shown with this n");
}

#[test]
fn one_number_each_is_compared_without_a_test() {
    Ktrial::new()
        .file("a", "1\n")
        .file("b", "2\n")
        .compare(&["--runs", "a", "b"])
        .ok()
        .says("n = 1 + 1): cannot be shown with this n");
}

#[test]
fn without_series_or_runs_it_explains_which_is_which() {
    Ktrial::new()
        .file("few", "1\n2\n3\n")
        .compare(&["few", &data("used-before.txt")])
        .refuses("--series or --runs")
        .refuses("few: cannot tell: 3 numbers are too few")
        .refuses("used-before.txt: looks like a series: 40 numbers whose neighbours are alike");
}

#[test]
fn a_few_numbers_or_equal_ones_cannot_be_told_and_may_be_memory() {
    let ktrial = Ktrial::new()
        .file("kib", "508532\n528732\n517000\n")
        .file("s", "5.1\n5.2\n5.3\n")
        .file("equal", "7\n".repeat(30));
    ktrial
        .compare(&["kib", "s"])
        .refuses("kib: cannot tell: 3 numbers are too few; whole numbers of this size may be KiB of memory")
        .refuses("s: cannot tell: 3 numbers are too few\n");
    ktrial
        .compare(&["equal", "s"])
        .refuses("equal: cannot tell: 30 equal numbers\n");
}

#[test]
fn samples_given_as_runs_are_warned_of_before_all_else() {
    let (before, after) = (data("used-before.txt"), data("used-after.txt"));
    let said = Ktrial::new()
        .compare(&["--runs", &before, &after])
        .ok()
        .says("used-before looks like a series: 40 numbers")
        .says("used-after looks like a series: 40 numbers")
        .says("samples of one trial are not runs");
    let doubt = said.stdout.find("Do not trust this verdict").unwrap();
    assert!(doubt < said.stdout.find("a = used-before").unwrap());
    let json = Ktrial::new()
        .compare(&["--runs", &before, &after, "--format", "json"])
        .json();
    let first = json["comparisons"][0]["warnings"][0].as_str().unwrap();
    assert!(
        first.contains("samples of one trial are not runs"),
        "{first}"
    );
}

#[test]
fn a_log_of_free_is_no_runs() {
    let log = data("free-new-before.log");
    Ktrial::new()
        .file("runs", "1\n2\n")
        .compare(&["--runs", "runs", &log])
        .refuses("free-new-before.log: this is a log of `free`")
        .refuses("--series compares two logs");
}

#[test]
fn one_file_twice_is_said() {
    let ktrial = Ktrial::new()
        .file("r1", "1\n2\n3\n")
        .file("r2", "1\n2\n3\n");
    for mode in ["--runs", "--series"] {
        ktrial
            .compare(&[mode, "r1", "./r1"])
            .ok()
            .says("A and B are one file, ./r1: nothing can differ");
        let two = ktrial.compare(&[mode, "r1", "r2"]).ok();
        assert!(!two.stdout.contains("one file"), "{}", two.stdout);
    }
}

#[test]
fn negative_means_give_no_ratio() {
    let json = Ktrial::new()
        .file("n1", "-100\n-120\n-110\n-105\n")
        .file("n2", "-150\n-160\n-155\n-148\n")
        .compare(&["--runs", "--unit", "ms", "n1", "n2", "--format", "json"])
        .json();
    assert_eq!(json["comparisons"][0]["difference"], -44.5);
    assert!(json["comparisons"][0]["ratio"].is_null());
}

#[test]
fn bad_input_says_where_it_is_and_what_to_do() {
    let utf16: Vec<u8> = "1\n2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (content, message) in [
        (&b""[..], "x: the file is empty"),
        (b"# unit: KiB\n\n", "x: the file holds only comments"),
        (b"1\n2\nfoo\n", "x:3:1: text among the numbers: `foo`"),
        (b"1\n  nan\n", "x:2:3: `nan` is not a number"),
        (b"1\n-Inf\n", "x:2:1: `-Inf` is not a number"),
        (b"1\n4,5\n", "x:2:1: `4,5` has a decimal comma"),
        (
            b"1,234,567\n",
            "x:1:1: `1,234,567` has thousands separators",
        ),
        (b"1 2\n", "x:1:1: 2 columns"),
        (b"\xff\xfe1\0\n\0", "x:1:1: the file is UTF-16"),
        (&utf16, "NUL byte"),
        (b"1\n\x7fELF\x02\x01\0\0", "x:2:7: a NUL byte"),
        (
            b"1\n\x1b[2J\n",
            "x:2:1: text among the numbers: `\\u{1b}[2J`",
        ),
        (&[b'1'; 10_000], "x:1:1: the line is longer than 4096 bytes"),
        (
            b"# unit: furlongs per fortnight\n1\n",
            "x:1:1: the comment `# unit:",
        ),
    ] {
        for mode in ["--series", "--runs"] {
            Ktrial::new()
                .file("x", content)
                .file("good", "1\n2\n")
                .compare(&[mode, "good", "x"])
                .refuses(message);
        }
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let ktrial = Ktrial::new().file("good", "1\n2\n");
    ktrial
        .compare(&["--runs", "good", "missing"])
        .refuses("missing: no such file");
    ktrial
        .compare(&["--runs", "good", "."])
        .refuses(".: this is a directory");
    ktrial
        .compare(&["--runs", "good"])
        .refuses("two files, or a record's directory");
    ktrial
        .compare(&["--runs", "-", "/dev/stdin"])
        .refuses("the standard input can be read only once");
    ktrial
        .compare(&["--runs", "good", "bad\u{1b}[31m"])
        .refuses("bad\\u{1b}[31m: no such file");
}

#[cfg(unix)]
#[test]
fn no_permission_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let ktrial = Ktrial::new().file("good", "1\n2\n").file("secret", "1\n");
    let secret = ktrial.dir.path().join("secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    // root reads it all the same; then there is nothing to see here.
    if fs::File::open(&secret).is_err() {
        ktrial
            .compare(&["--runs", "good", "secret"])
            .refuses("secret: no permission");
    }
}

#[test]
fn windows_files_and_big_numbers_are_read() {
    Ktrial::new()
        .file("a", "\u{feff}# unit: KiB\r\n1\r\n2\r\n")
        .file("b", "1\n18446744073709551615\n")
        .compare(&["--runs", "a", "b"])
        .ok()
        .says("b: the number on line 2 is 2^53 (9.0e15) or more")
        .says("b does not say its unit: KiB is assumed, as in a");
}

#[test]
fn units_of_one_family_are_converted_and_others_refused() {
    let ktrial = Ktrial::new()
        .file("kib", "# unit: KiB\n1024\n2048\n")
        .file("mib", "# unit: MiB\n1\n2\n")
        .file("s", "# unit: s\n1\n2\n");
    let said = ktrial.compare(&["--runs", "kib", "mib", "--format", "json"]);
    let json = said.json();
    assert_eq!(json["comparisons"][0]["difference"], 0.0);
    assert!(
        json["comparisons"][0]["warnings"]
            .to_string()
            .contains("mib is in MiB and was converted to KiB")
    );
    ktrial
        .compare(&["--series", "kib", "s"])
        .refuses("s: the files have different units: KiB and s");
    ktrial
        .compare(&["--series", "kib", "mib", "--unit", "MiB"])
        .refuses("kib: --unit MiB, but the file says `# unit: KiB`");
}

#[test]
fn memory_below_zero_is_doubted() {
    Ktrial::new()
        .file("a", "# unit: KiB\n-1\n2\n")
        .file("b", "1\n2\n")
        .compare(&["--series", "a", "b"])
        .ok()
        .says("negative values of memory in a");
}

#[test]
fn numbers_without_a_unit_get_a_hint() {
    Ktrial::new()
        .file("a", "508532\n528732\n")
        .file("b", "427000\n442516\n")
        .compare(&["--series", "a", "b"])
        .ok()
        .says("value.peak 86216 lower in b than in a")
        .says("give --unit KiB: the peak is 84.2 MiB lower then");
}

#[test]
fn too_many_runs_look_like_a_series() {
    let many = "1\n".repeat(1_000_001);
    Ktrial::new()
        .file("many", many)
        .file("few", "1\n2\n")
        .compare(&["--runs", "few", "many"])
        .refuses("more than 1000000 numbers");
}

#[test]
fn a_pipe_is_read_in_bounded_memory() {
    // 20 MB of 1.2 million distinct numbers through a pipe, the program held to 256 MiB of address space.
    let ktrial = Ktrial::new().file("b", "1\n2\n");
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 262144 && exec \"$0\" compare --series - b",
            env!("CARGO_BIN_EXE_ktrial"),
        ])
        .current_dir(ktrial.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = std::io::BufWriter::new(child.stdin.take().unwrap());
    for index in 0..1_200_000u64 {
        writeln!(stdin, "{}.{:06}", 400_000 + index % 1000, index).unwrap();
    }
    drop(stdin);
    said(child.wait_with_output().unwrap())
        .ok()
        .says("stdin")
        .says("1200000 and 2 samples")
        .says("median and p95 may be off by");
}

#[test]
fn numbers_near_the_largest_double_are_explained_and_no_percentage_is_infinite() {
    let files = || {
        Ktrial::new()
            .file("one", "1\n")
            .file("huge", "1.7e308\n1.7e308\n1.7e308\n")
            .file("low", "-1.7e308\n-1.7e308\n-1.7e308\n")
    };
    let said = files().compare(&["--series", "one", "huge"]).ok();
    assert!(!said.stdout.contains("inf"), "{}", said.stdout);
    files()
        .compare(&["--series", "low", "huge"])
        .ok()
        .says("the difference is larger than a double holds")
        .says("use a larger unit");
}

#[test]
fn one_file_under_two_names_is_said() {
    Ktrial::new()
        .file("a", "1\n2\n3\n")
        .compare(&["--runs", "a", "./a"])
        .ok()
        .says("A and B are one file, ./a: nothing can differ");
}

#[test]
fn words_that_say_nothing_are_refused() {
    let files = || Ktrial::new().file("a", "1\n2\n").file("b", "2\n3\n");
    for (arguments, message) in [
        (["--metric", ""], "--metric is empty"),
        (["--unit", "1"], "`1` is a number, not a unit"),
        (["--unit", "NaN"], "`NaN` is a number, not a unit"),
        (["--unit", "KB"], "`KB` can mean 1000 or 1024 bytes"),
    ] {
        let [option, value] = arguments;
        files()
            .compare(&["--runs", option, value, "a", "b"])
            .refuses(message);
    }
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_exit_code() {
    let ktrial = Ktrial::new();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let status = ktrial
        .command(&["--runs", "no", "file"])
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn files_that_a_command_names_and_are_not_there_are_input_errors_with_a_next_step() {
    let ktrial = Ktrial::new().file(
        "e.yaml",
        "question: Is it?\nprimary: memory.used.peak\nhosts: [local]\n\
         conditions: {before: {}, after: {}}\nworkload: {command: ['true'], duration: 1s}\n\
         idle: 1s\nsettle: 1s\nmonitors: {meminfo: {every: 100ms}}\ndesign: {trials: 1}\n",
    );
    for arguments in [
        &["plan", "no-such"][..],
        &["run", "e.yaml", "--ssh-config", "no-such"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_ktrial"))
            .current_dir(ktrial.dir.path())
            .args(arguments)
            .output()
            .unwrap();
        said(output).refuses("no-such: cannot read");
    }
}
