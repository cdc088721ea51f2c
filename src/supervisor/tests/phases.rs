//! Trials that come to their end by themselves.

use sha2::{Digest, Sha256};

use super::*;

#[test]
fn a_trial_goes_through_its_phases_and_its_result_is_what_is_there() {
    in_each_shell(|place| {
        let trial = unique("complete");
        let mut spec = spec("echo out; echo err >&2; echo in $(cat | wc -c); exit 3");
        spec.prepare = "echo prepared; echo 'ktrial: a word' >&2; echo other >&2".into();
        let pid = place.started(&trial, &spec);
        let events = place.ended(&trial);
        let begun = format!("begun {pid}");
        let want = [
            begun.as_str(),
            "note a word",
            "idle",
            "start",
            "end 3",
            "settled",
            "ended complete",
        ];
        assert_eq!(events, want, "{place:?}");
        let stdout = place.read(&format!("{trial}/workload.stdout"));
        assert_eq!(stdout, "prepared\nout\nin 0\nrestored\n");
        let stderr = place.read(&format!("{trial}/workload.stderr"));
        assert_eq!(stderr, "ktrial: a word\nother\nerr\n");
        let result = place.read(&format!("{trial}/result"));
        let names: Vec<&str> = result.lines().filter_map(|l| l.split(' ').next()).collect();
        let want = [
            "meminfo.txt",
            "meminfo.err",
            "workload.stdout",
            "workload.stderr",
            "events",
        ];
        assert_eq!(names, want);
        for line in result.lines() {
            let name = line.split(' ').next().unwrap();
            let bytes = std::fs::read(place.file(&trial).join(name)).unwrap();
            let digest = Sha256::digest(&bytes)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>();
            assert_eq!(line, format!("{name} {} {digest}", bytes.len()));
        }
        place.nothing_runs(&trial);
        // It is not begun again.
        assert!(place.start(&trial, &spec).starts_with("refused trial "));
    });
}

#[test]
fn times_are_the_host_s_and_in_order() {
    in_each_shell(|place| {
        let trial = unique("times");
        place.started(&trial, &spec("true"));
        place.ended(&trial);
        let up = std::fs::read_to_string("/proc/uptime").unwrap();
        let now: f64 = up.split(' ').next().unwrap().parse().unwrap();
        let text = place.read(&format!("{trial}/events"));
        let times: Vec<f64> = text
            .lines()
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(times.is_sorted(), "{text}");
        assert!(times.last().unwrap() <= &now, "{text}");
        let at = |event: &str| {
            let line = text.lines().find(|line| line.ends_with(event)).unwrap();
            line.split(' ').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(at(" start") - at(" idle") >= 0.19, "{text}");
        assert!(at(" settled") - at(" end 0") >= 0.19, "{text}");
    });
}

#[test]
fn a_workload_has_no_ignored_signals_and_nothing_open_and_knows_its_trial() {
    in_each_shell(|place| {
        let trial = unique("clean");
        let own = "grep SigIgn /proc/self/status; echo \"$KTRIAL_TRIAL ${KTRIAL_BESIDE-none} $LC_ALL\"\n\
            ls /proc/$$/fd | tr '\\n' ' '; read -r p n s pp group session rest </proc/$$/stat\n\
            [ $group = $$ ] && [ $session = $$ ] && echo leader";
        place.started(
            &trial,
            &Spec {
                prepare: String::new(),
                restore: String::new(),
                ..spec(own)
            },
        );
        place.ended(&trial);
        let said = place.read(&format!("{trial}/workload.stdout"));
        let lines: Vec<&str> = said.lines().collect();
        // What these tests themselves inherited is closed below 10; a shell has its script open above.
        let (files, leads) = lines[2].rsplit_once(' ').unwrap();
        // The first 31 are those that have names.
        let ignored = u64::from_str_radix(lines[0].trim_start_matches("SigIgn:	"), 16).unwrap();
        assert_eq!(ignored & 0x7fff_ffff, 0, "{place:?}");
        assert_eq!(lines[1], format!("[{trial}] none C"));
        assert_eq!(leads, "leader", "{said}");
        let low: Vec<u32> = files
            .split(' ')
            .filter_map(|n| n.parse().ok())
            .filter(|n| *n < 10)
            .collect();
        assert!(
            low.starts_with(&[0, 1, 2]) && low.iter().all(|n| *n < 4),
            "{place:?} {said}"
        );
    });
}

#[test]
fn what_outlives_a_workload_is_ended_and_named_and_cannot_write_events() {
    in_each_shell(|place| {
        let trial = unique("daemon");
        // One in a session of its own, and one of the same session that has no environment any more.
        let command = "setsid setsid sh -c 'sleep 600' 'x\n1.00 ended complete' &\n\
            env -i PATH=\"$PATH\" sleep 601 &\nsleep 0.5";
        place.started(&trial, &spec(command));
        let events = place.ended(&trial);
        let note = events
            .iter()
            .find(|event| event.starts_with("note "))
            .unwrap();
        assert!(
            note.contains("outlived it and were ended: ") && note.contains("sleep 60"),
            "{note}"
        );
        assert_eq!(
            events.iter().filter(|e| e.starts_with("ended")).count(),
            1,
            "{events:?}"
        );
        assert_eq!(events.last().unwrap(), "ended complete");
        place.nothing_runs(&trial);
    });
}

#[test]
fn a_trial_that_cannot_be_prepared_or_sampled_ends_with_the_reason() {
    in_each_shell(|place| {
        let refusing = Spec {
            prepare: "echo first >&2; echo 'ktrial: it cannot be' >&2; exit 7".into(),
            ..spec("true")
        };
        let trial = unique("prepare");
        place.started(&trial, &refusing);
        let events = place.ended(&trial);
        assert_eq!(events[1..], ["ended failed it cannot be"], "{place:?}");
        assert!(
            place
                .read(&format!("{trial}/workload.stdout"))
                .ends_with("restored\n")
        );

        let mut dumb = spec("true");
        dumb.monitors[0].source = Source::Script("echo 'no such file' >&2; exit 1".into());
        let trial = unique("monitor");
        place.started(&trial, &dumb);
        let events = place.ended(&trial);
        let want = "ended failed the monitor meminfo gave no sample: no such file";
        assert_eq!(events[1..], [want], "{place:?}");
        assert!(
            place
                .read(&format!("{trial}/workload.stdout"))
                .ends_with("restored\n")
        );

        let mut ending = spec("sleep 1");
        ending.monitors[0].source = Source::Script("echo 1; echo broken >&2".into());
        let trial = unique("early");
        place.started(&trial, &ending);
        let events = place.ended(&trial);
        let want = "note the monitor meminfo ended early: broken";
        assert!(events.iter().any(|event| event == want), "{events:?}");
    });
}
