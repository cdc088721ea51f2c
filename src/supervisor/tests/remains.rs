//! What others left on a host, starts that are asked for again, and output that is long.

use std::collections::BTreeMap;

use super::*;

fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    id.trim().to_owned()
}

/// A trial of the agent whose supervisor died in this boot or another.
fn agents(place: &Place, name: &str, boot_id: &str) {
    let folder = place.file(name);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("pid"), format!("4194304 1 {boot_id}\n")).unwrap();
}

#[test]
fn a_dead_agents_trial_is_recovered_by_an_agent_or_no_trial_starts() {
    use std::os::unix::fs::PermissionsExt;
    in_each_shell(|place| {
        agents(place, "dead", &boot_id());
        agents(place, "rebooted", "00000000-0000-0000-0000-000000000000");
        let said = place.start(&unique("none"), &spec("true"));
        assert!(
            said.contains("could not be put right: an agent had it, and none is there"),
            "{place:?} {said}"
        );
        let agent = place.file("agent-0123");
        std::fs::write(&agent, "#!/bin/sh\necho it is stuck >&2; exit 1\n").unwrap();
        std::fs::set_permissions(&agent, PermissionsExt::from_mode(0o700)).unwrap();
        let said = place.start(&unique("stuck"), &spec("true"));
        assert!(
            said.ends_with("put right: it is stuck\n"),
            "{place:?} {said}"
        );
        std::fs::write(
            &agent,
            "#!/bin/sh\n[ \"$1\" = recover ] && : >\"$2/result\"\n",
        )
        .unwrap();
        let trial = unique("next");
        place.started(&trial, &spec("true"));
        assert!(place.file("dead/result").exists(), "{place:?}");
        assert!(!place.file("rebooted/result").exists(), "{place:?}");
        assert_eq!(place.ended(&trial).last().unwrap(), "ended complete");
    });
}

#[test]
fn a_start_that_is_asked_for_again_answers_as_the_first() {
    in_each_shell(|place| {
        let trial = unique("again");
        let pid = place.started(&trial, &spec("sleep 600"));
        assert_eq!(
            place.start(&trial, &spec("sleep 600")),
            format!("started {pid}\n")
        );
        place.stop(&trial);
        place.ended(&trial);
        let said = place.start(&trial, &spec("sleep 600"));
        assert!(said.contains("was started before"), "{place:?} {said}");
    });
}

#[test]
fn a_holder_that_is_over_or_whose_folder_is_gone_is_waited_for() {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19);
    let own = format!("{} {} {}", std::process::id(), start.unwrap(), boot_id());
    in_each_shell(|place| {
        std::fs::write(place.file("lock"), format!("{own} forgotten\n")).unwrap();
        let trial = unique("waits");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(1000));
                std::fs::remove_file(place.file("lock")).unwrap();
            });
            place.started(&trial, &spec("true"));
        });
        assert_eq!(place.ended(&trial).last().unwrap(), "ended complete");
    });
}

#[test]
fn what_a_monitor_that_ended_early_left_is_ended_though_its_session_is_not_asked() {
    in_each_shell(|place| {
        let trial = unique("early");
        let mut spec = spec("sleep 1");
        spec.monitors[0].source = Source::Script("echo x; setsid sleep 600 & exit 0\n".into());
        place.started(&trial, &spec);
        let events = place.ended(&trial);
        assert!(
            events
                .iter()
                .any(|event| event.starts_with("note the monitor meminfo ended early")),
            "{place:?} {events:?}"
        );
        place.nothing_runs(&trial);
    });
}

#[test]
fn of_long_output_the_begin_is_kept_and_pipes_in_its_place_hold_nobody_up() {
    in_each_shell(|place| {
        let limit = ktrial_agent::OUTPUT_LIMIT;
        let trial = unique("long");
        let command = format!(
            "head -c {} /dev/zero; rm workload.stderr; mkfifo workload.stderr",
            limit + 5
        );
        place.started(&trial, &spec(&command));
        let events = place.ended(&trial);
        // What `prepare` and `restore` say is in it too.
        let note = events
            .iter()
            .find(|event| event.starts_with("note workload.stdout had "));
        assert!(
            note.is_some_and(|note| note.ends_with(&format!("its first {limit} are kept"))),
            "{place:?} {events:?}"
        );
        assert_eq!(events.last().unwrap(), "ended complete");
        let mut files = BTreeMap::new();
        let last = follow::follow(place, &trial, &mut files, usize::MAX);
        assert_eq!(last.as_deref(), Some("."), "{place:?}");
        assert_eq!(files["workload.stdout"].len() as u64, limit, "{place:?}");
        let line = format!("workload.stdout {limit} ");
        assert!(place.read(&format!("{trial}/result")).contains(&line));
    });
}
