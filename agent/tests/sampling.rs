//! What monitors give, how it is followed, and disks without room.

mod common;

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};

use common::{Host, Trial, frames, monitor, program, spec, until};
use ktrial_agent::Source;

/// The file as it was at each block of a monitor, and the samples that were missed.
fn states(text: &str) -> (Vec<Vec<String>>, u64) {
    let mut states: Vec<Vec<String>> = Vec::new();
    let (mut missed, mut is_whole, mut last) = (0, false, 0.0);
    for line in text.lines() {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        if matches!(mark, "@" | "+" | "!") {
            let seconds: f64 = rest.split(' ').next().unwrap().parse().unwrap();
            assert!(seconds >= last, "{line}");
            last = seconds;
        }
        match mark {
            "@" => (is_whole, _) = (true, states.push(Vec::new())),
            "+" => (is_whole, _) = (false, states.push(states.last().unwrap().clone())),
            "!" => missed += rest.split(' ').nth(1).unwrap().parse::<u64>().unwrap(),
            word => {
                let state = states.last_mut().unwrap();
                match is_whole {
                    true => state.push(line.to_owned()),
                    false => {
                        let same = |old: &&mut String| old.split(' ').next() == Some(word);
                        *state.iter_mut().find(same).unwrap() = line.to_owned();
                    }
                }
            }
        }
    }
    (states, missed)
}

#[test]
fn blocks_of_changes_give_the_file_as_it_was() {
    let host = Host::new();
    let file = host.base.path().join("file");
    fs::write(&file, "a: 0\nb: 0\nc: same\n").unwrap();
    // Renamed and written over in place: a kept-open file sees only the latter, in one write.
    let write = format!(
        "printf 'a: %s\\nb: %s\\nc: same\\n' $i $((100-i)) 1<>{}",
        file.display()
    );
    let mut spec = spec(&format!(
        "i=10; while [ $i -lt 60 ]; do {write}; sleep 0.05; i=$((i+1)); done"
    ));
    spec.monitors = vec![
        monitor("file", 5_000, Source::File(file.display().to_string())),
        monitor("meminfo", 1_000, Source::File("/proc/meminfo".to_owned())),
        monitor("vmstat", 20_000, Source::File("/proc/vmstat".to_owned())),
        monitor("slow", 10_000_000, Source::File("/proc/loadavg".to_owned())),
    ];
    let mut trial = host.trial(&spec);
    trial.start();
    let words = trial.end();
    assert_eq!(words.last().unwrap(), "ended complete");
    let (all, missed) = states(&trial.read("file.txt"));
    let noted = words
        .iter()
        .find(|word| word.starts_with("note monitor file missed"));
    let due = missed + all.len() as u64;
    assert_eq!(
        noted.cloned(),
        (missed > 0).then(|| format!("note monitor file missed {missed} of {due} samples"))
    );
    for state in &all {
        let number = |n: usize| state[n].split(' ').nth(1).unwrap().parse::<i64>().unwrap();
        assert_eq!((state.len(), state[2].as_str()), (3, "c: same"));
        assert!(number(0) == 0 || number(0) + number(1) == 100, "{state:?}");
    }
    assert!(trial.read("file.txt").matches("+ ").count() > 10);
    for (name, first) in [("meminfo", "MemTotal:"), ("vmstat", "nr_free_pages")] {
        let now = fs::read_to_string(format!("/proc/{name}")).unwrap();
        let (all, _) = states(&trial.read(&format!("{name}.txt")));
        for state in &all {
            assert!(state[0].starts_with(first));
            assert_eq!(state.len(), now.lines().count());
        }
    }
    assert!(!states(&trial.read("slow.txt")).0.is_empty());
    let (own, _) = states(&trial.read("agent.txt"));
    let names = ["cpu_us:", "rss_kib:", "samples:", "missed:"];
    assert!(
        own.iter()
            .all(|s| s.len() == 4 && s.iter().zip(names).all(|(l, n)| l.starts_with(n)))
    );
}

#[test]
fn a_monitor_that_gives_nothing_ends_the_trial() {
    let host = Host::new();
    for (source, reason) in [
        (
            Source::File("/proc/none".to_owned()),
            "the monitor m cannot read /proc/none: No such file",
        ),
        (
            Source::Script("echo broken >&2; exit 1".to_owned()),
            "the monitor m gave no sample: broken",
        ),
    ] {
        let mut spec = spec("echo never");
        spec.monitors = vec![monitor("m", 100_000, source)];
        let mut trial = host.trial(&spec);
        trial.start();
        let words = trial.end();
        let last = words.last().unwrap();
        assert!(
            last.starts_with(&format!("ended failed {reason}")),
            "{last}"
        );
        assert_eq!(trial.read("workload.stdout"), "");
    }
}

#[test]
fn a_file_that_vanishes_is_noted_and_the_others_go_on() {
    let host = Host::new();
    // A process' file can be read no more when it has ended.
    let mut dying = Command::new("sleep").arg("1000").spawn().unwrap();
    let mut spec = spec("while [ ! -e go ]; do sleep 0.1; done");
    spec.monitors = vec![
        monitor(
            "gone",
            10_000,
            Source::File(format!("/proc/{}/stat", dying.id())),
        ),
        monitor("meminfo", 10_000, Source::File("/proc/meminfo".to_owned())),
    ];
    let mut trial = host.trial(&spec);
    trial.start();
    trial.until_event("start");
    dying.kill().unwrap();
    dying.wait().unwrap();
    trial.until_event("note the monitor gone cannot read its file any more");
    let before = trial.read("meminfo.txt").len();
    until("the other goes on", || {
        trial.read("meminfo.txt").len() > before
    });
    fs::write(trial.folder.join("go"), "").unwrap();
    let words = trial.end();
    assert_eq!(
        words
            .iter()
            .filter(|word| word.contains("gone cannot"))
            .count(),
        1
    );
    assert_eq!(words.last().unwrap(), "ended complete");
}

#[test]
fn a_follower_that_comes_again_gets_the_rest_byte_for_byte() {
    let host = Host::new();
    let mut spec = spec("i=0; while [ $i -lt 40 ]; do seq 1 2000; sleep 0.05; i=$((i+1)); done");
    spec.monitors = vec![monitor(
        "meminfo",
        5_000,
        Source::File("/proc/meminfo".to_owned()),
    )];
    let mut trial = host.trial(&spec);
    trial.start();
    let mut files: HashMap<String, Vec<u8>> = HashMap::new();
    let follow = |files: &HashMap<String, Vec<u8>>| {
        let offsets = files
            .iter()
            .map(|(name, bytes)| format!("{name}={}", bytes.len()));
        let mut command = Command::new(program());
        command.arg("follow").arg(&trial.folder).args(offsets);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    // Followers that end in the middle of it, some in the middle of a frame.
    for bytes in [10_u64, 5_000, 70_001, 100_000] {
        let mut follower = follow(&files);
        let mut got = Vec::new();
        use std::io::Read;
        follower
            .stdout
            .take()
            .unwrap()
            .take(bytes)
            .read_to_end(&mut got)
            .unwrap();
        follower.kill().unwrap();
        follower.wait().unwrap();
        frames(&got, &mut files);
    }
    let output = follow(&files).wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(frames(&output.stdout, &mut files).unwrap(), ".");
    assert_eq!(trial.end().last().unwrap(), "ended complete");
    let mut named = 0;
    for line in trial.read("result").lines() {
        let name = line.split(' ').next().unwrap();
        let followed = files.get(name).cloned().unwrap_or_default();
        assert!(
            followed == fs::read(trial.folder.join(name)).unwrap(),
            "{name}"
        );
        named += 1;
    }
    assert_eq!(named, 5);
    assert_eq!(
        files["result"],
        fs::read(trial.folder.join("result")).unwrap()
    );
    assert!(trial.folder.join("lease").exists());
}

#[test]
fn a_follower_tells_that_the_supervisor_is_gone() {
    let host = Host::new();
    let mut trial = host.trial(&spec("sleep 1000"));
    let keeper = trial.start();
    trial.until_event("start");
    let worker = trial.worker(keeper);
    common::kill(keeper);
    common::kill(worker);
    let output = trial.call("follow", &[]);
    let mut files = HashMap::new();
    assert_eq!(frames(&output.stdout, &mut files).unwrap(), "!");
    assert!(trial.call("recover", &[]).status.success());
    assert_eq!(trial.end().last().unwrap(), "ended died");
}

#[test]
fn a_full_disk_loses_samples_and_nothing_else() {
    let mount = tempfile::tempdir().unwrap();
    let mut command = Command::new("mount");
    command
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(mount.path());
    if !command.output().is_ok_and(|output| output.status.success()) {
        eprintln!("left out: no file system can be mounted here");
        return;
    }
    let unmount = Unmount(mount.path().to_owned());
    let mut spec = spec(
        "head -c 4000000 /dev/zero >full; : >filled; until [ -e go ]; do sleep 0.1; done; rm full; sleep 2",
    );
    spec.monitors = vec![monitor(
        "meminfo",
        2_000,
        Source::File("/proc/meminfo".to_owned()),
    )];
    let mut trial = Trial::at(mount.path(), &spec);
    trial.start();
    trial.until_event("start");
    until("it is full", || trial.folder.join("filled").exists());
    // Long enough for samples to be lost: no event tells of that before the end.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let before = trial.read("meminfo.txt").len();
    fs::File::create(trial.folder.join("go")).unwrap();
    let words = trial.end();
    assert_eq!(words.last().unwrap(), "ended complete", "{words:?}");
    assert!(
        words
            .iter()
            .any(|w| w.starts_with("note meminfo.txt: ") && w.ends_with("disk full")),
        "{words:?}"
    );
    let text = trial.read("meminfo.txt");
    assert!(text.len() > before, "it goes on when there is room again");
    let lines = fs::read_to_string("/proc/meminfo").unwrap().lines().count();
    assert!(states(&text).0.iter().all(|state| state.len() == lines));
    drop(trial);
    drop(unmount);
}

struct Unmount(std::path::PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
