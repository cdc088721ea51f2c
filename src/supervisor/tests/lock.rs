//! One trial a host.

use super::*;

/// How many start at once.
const STARTS: usize = 6;

/// Starts many trials at once; the names of those that were started.
fn race(place: &Place) -> Vec<String> {
    let trials: Vec<String> = (0..STARTS).map(|_| unique("race")).collect();
    let started = std::thread::scope(|scope| {
        let starts: Vec<_> = trials
            .iter()
            .map(|trial| scope.spawn(move || place.start(trial, &spec("sleep 600"))))
            .collect();
        starts
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect::<Vec<_>>()
    });
    let pairs = trials.into_iter().zip(started);
    let (won, lost): (Vec<_>, Vec<_>) = pairs.partition(|(_, said)| said.starts_with("started "));
    for (_, said) in lost {
        assert!(said.starts_with("refused "), "{place:?} {said}");
    }
    won.into_iter().map(|(trial, _)| trial).collect()
}

#[test]
fn of_many_that_start_at_once_one_gets_the_host_and_the_next_one_after_it() {
    in_each_shell(|place| {
        let won = race(place);
        assert_eq!(won.len(), 1, "{place:?} {won:?}");
        let refused = place.start(&unique("other"), &spec("true"));
        assert!(
            refused.starts_with(&format!(
                "refused trial {} runs on this host, process ",
                won[0]
            )),
            "{refused}"
        );
        place.stop(&won[0]);
        assert_eq!(place.ended(&won[0]).last().unwrap(), "ended stopped");
        let next = unique("next");
        place.started(&next, &spec("true"));
        assert_eq!(place.ended(&next).last().unwrap(), "ended complete");
    });
}

#[test]
fn a_lock_of_who_is_dead_is_taken_by_one_of_many() {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot = boot.trim();
    in_each_shell(|place| {
        let own = std::process::id();
        for stale in [
            // Another boot; a number that another process has by now; one that nobody has; nothing that can be read.
            format!("{own} 1 00000000-0000-0000-0000-000000000000 gone\n"),
            format!("{own} 1 {boot} gone\n"),
            format!("4194304 1 {boot} gone\n"),
            "x y z\n".to_owned(),
            String::new(),
        ] {
            std::fs::write(place.file("lock"), &stale).unwrap();
            let won = race(place);
            assert_eq!(won.len(), 1, "{place:?} {stale}");
            place.stop(&won[0]);
            assert_eq!(
                place.ended(&won[0]).last().unwrap(),
                "ended stopped",
                "{place:?}"
            );
            let left = std::fs::read_dir(place.base.path()).unwrap().flatten();
            let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("lock"));
            assert_eq!(left.count(), 0, "{place:?} {stale}");
        }
    });
}

#[test]
fn the_trial_of_a_dead_supervisor_is_ended_before_the_next_one_starts() {
    in_each_shell(|place| {
        let (dead, next) = (unique("dead"), unique("next"));
        let pid = place.started(&dead, &spec("sleep 600"));
        place.await_event(&dead, "start");
        place.kill("KILL", pid);
        place.until(
            || {
                place
                    .said(&supervisor(&place.folder(&dead)).follow(&[]))
                    .ends_with("! 0 0\n\n")
            },
            "death",
        );
        place.started(&next, &spec("true"));
        place.nothing_runs(&dead);
        assert_eq!(place.events(&dead).last().unwrap(), "ended died");
        assert_eq!(place.ended(&next).last().unwrap(), "ended complete");
    });
}
