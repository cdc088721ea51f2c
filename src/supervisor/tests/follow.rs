//! What a follower gives, byte for byte.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};

use super::*;

/// Reads frames until the one that is the last; its name, and the files' bytes from the offsets on.
fn taken(
    output: &mut impl BufRead,
    files: &mut BTreeMap<String, Vec<u8>>,
    most: usize,
) -> Option<String> {
    let mut frames = 0;
    while frames < most {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let [name, offset, length] = words[..] else {
            panic!("{line:?} is no frame");
        };
        let mut bytes = vec![0; length.parse().unwrap()];
        output.read_exact(&mut bytes).unwrap();
        let mut end = [0];
        output.read_exact(&mut end).unwrap();
        assert_eq!(end, *b"\n");
        match name {
            "-" => assert_eq!(line, "- 0 0\n"),
            "." | "!" => return Some(name.to_owned()),
            name => {
                assert!(!files.contains_key("result") || name == "result", "{name}");
                let file = files.entry(name.to_owned()).or_default();
                assert_eq!(file.len().to_string(), offset, "{name}");
                assert!(bytes.len() <= 256 << 10);
                file.append(&mut bytes);
                frames += 1;
            }
        }
    }
    None
}

/// Follows with what is there already, for some frames at most.
pub(super) fn follow(
    place: &Place,
    trial: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
    most: usize,
) -> Option<String> {
    let have: Vec<(String, u64)> = files
        .iter()
        .map(|(n, b)| (n.clone(), b.len() as u64))
        .collect();
    let offsets: Vec<(&str, u64)> = have
        .iter()
        .map(|(name, offset)| (name.as_str(), *offset))
        .collect();
    let script = supervisor(&place.folder(trial)).follow(&offsets);
    let mut child = place
        .command(&script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let last = taken(&mut output, files, most);
    drop(output);
    child.kill().ok();
    child.wait().unwrap();
    last
}

#[test]
fn a_follower_that_is_lost_again_and_again_gets_every_byte_once() {
    in_each_shell(|place| {
        let trial = unique("follow");
        // More than a frame, and every byte.
        let command = "n=0; while [ $n -lt 4 ]; do head -c 300000 /dev/urandom; n=$((n + 1)); sleep 0.7; done";
        place.started(&trial, &spec(command));
        let mut files = BTreeMap::new();
        assert_eq!(follow(place, &trial, &mut files, 1), None);
        assert_eq!(follow(place, &trial, &mut files, 3), None);
        assert_eq!(follow(place, &trial, &mut files, 2), None);
        let last = follow(place, &trial, &mut files, usize::MAX);
        assert_eq!(last.as_deref(), Some("."), "{place:?}");
        assert!(files["workload.stdout"].len() > 1_200_000);
        for (name, bytes) in &files {
            assert!(
                *bytes == std::fs::read(place.file(&trial).join(name)).unwrap(),
                "{place:?} {name}"
            );
        }
        let result = String::from_utf8(files["result"].clone()).unwrap();
        for line in result.lines().filter(|line| !line.contains(" 0 ")) {
            assert!(
                files.contains_key(line.split(' ').next().unwrap()),
                "{line}"
            );
        }
        // Once more from the begin, and from the end.
        let (mut again, mut rest) = (BTreeMap::new(), files.clone());
        follow(place, &trial, &mut again, usize::MAX);
        assert!(again == files);
        assert_eq!(follow(place, &trial, &mut rest, 1).as_deref(), Some("."));
    });
}

#[test]
fn nothing_past_the_result_is_given() {
    in_each_shell(|place| {
        let trial = unique("grows");
        place.started(&trial, &spec("echo it"));
        place.ended(&trial);
        let file = place.file(&trial).join("workload.stdout");
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, [whole.as_slice(), b"more"].concat()).unwrap();
        let mut files = BTreeMap::new();
        assert_eq!(
            follow(place, &trial, &mut files, usize::MAX).as_deref(),
            Some(".")
        );
        assert_eq!(files["workload.stdout"], whole, "{place:?}");
    });
}

#[test]
fn links_and_words_that_are_no_files_are_not_followed() {
    in_each_shell(|place| {
        let trial = unique("links");
        place.started(
            &trial,
            &spec("rm -f stress-ng.yaml; ln -s /etc/passwd stress-ng.yaml"),
        );
        place.ended(&trial);
        let mut files = BTreeMap::from([("../x".to_owned(), vec![]), ("$(id)".to_owned(), vec![])]);
        assert_eq!(
            follow(place, &trial, &mut files, usize::MAX).as_deref(),
            Some(".")
        );
        assert!(!files.contains_key("stress-ng.yaml"), "{place:?}");
        assert!(!place.read(&format!("{trial}/result")).contains("yaml"));
    });
}

#[test]
fn who_is_gone_without_a_result_is_told() {
    in_each_shell(|place| {
        let trial = unique("gone");
        let pid = place.started(&trial, &spec("sleep 600"));
        place.await_event(&trial, "start");
        let mut files = BTreeMap::new();
        place.kill("KILL", pid);
        assert_eq!(
            follow(place, &trial, &mut files, usize::MAX).as_deref(),
            Some("!"),
            "{place:?}"
        );
        assert!(files.contains_key("events"));
        place.run(&supervisor(&place.folder(&trial)).recover());
        place.nothing_runs(&trial);
    });
}
