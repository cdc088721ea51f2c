//! Trials that are ended, and supervisors that die.

use super::*;

/// How many processes a deaf workload has.
const DEAF: usize = 20;

#[test]
fn a_trial_can_be_stopped_in_each_phase_and_the_host_is_put_in_order() {
    let long = 600_000;
    type Change = fn(&mut Spec, u64);
    let phases: [(&str, &str, Change); 5] = [
        ("prepare", "begun", |s, _| s.prepare = "sleep 600".into()),
        ("samples", "begun", |s, _| {
            s.monitors[0].source = Source::Script("sleep 600".into());
        }),
        ("idle", "idle", |s, long| s.idle_ms = long),
        ("workload", "start", |s, _| s.command = "sleep 600".into()),
        ("settle", "end 0", |s, long| s.settle_ms = long),
    ];
    in_each_shell(|place| {
        for (phase, event, change) in phases {
            let trial = unique(phase);
            let mut spec = spec("true");
            change(&mut spec, long);
            place.started(&trial, &spec);
            place.await_event(&trial, event);
            place.stop(&trial);
            let events = place.ended(&trial);
            assert_eq!(
                events.last().unwrap(),
                "ended stopped",
                "{place:?} {events:?}"
            );
            let has = |word: &str| events.iter().any(|event| event.starts_with(word));
            assert_eq!(
                has("start"),
                ["workload", "settle"].contains(&phase),
                "{events:?}"
            );
            assert!(!has("settled") && !has("left"), "{events:?}");
            if phase == "workload" {
                assert!(has("end 130"), "{place:?} {events:?}");
            }
            let stdout = place.read(&format!("{trial}/workload.stdout"));
            assert!(stdout.ends_with("restored\n"), "{stdout}");
            place.nothing_runs(&trial);
        }
    });
}

#[test]
fn signals_that_mean_the_end_stop_a_trial_and_a_connection_that_is_gone_does_not() {
    in_each_shell(|place| {
        for signal in ["TERM", "INT"] {
            let trial = unique("signal");
            let pid = place.started(&trial, &spec("sleep 600"));
            place.await_event(&trial, "start");
            place.kill(signal, pid);
            assert_eq!(
                place.ended(&trial).last().unwrap(),
                "ended stopped",
                "{place:?}"
            );
        }
        let trial = unique("on");
        let pid = place.started(&trial, &spec("sleep 2"));
        place.await_event(&trial, "start");
        place.kill("HUP", pid);
        place.kill("PIPE", pid);
        assert_eq!(
            place.ended(&trial).last().unwrap(),
            "ended complete",
            "{place:?}"
        );
    });
}

#[test]
fn a_workload_that_is_deaf_is_killed_at_its_limit_with_all_of_its_children() {
    in_each_shell(|place| {
        let trial = unique("deaf");
        let deaf = format!(
            "trap '' INT TERM; n=0; while [ $n -lt {DEAF} ]; do sh -c 'while :; do sleep 1; done' & n=$((n + 1)); done\n\
             setsid sh -c 'while :; do sleep 1; done' &\nwait"
        );
        let spec = Spec {
            limit_ms: 1000,
            ..spec(&deaf)
        };
        place.started(&trial, &spec);
        let events = place.ended(&trial);
        assert_eq!(
            events.last().unwrap(),
            "ended limit",
            "{place:?} {events:?}"
        );
        assert!(
            events.iter().any(|event| event == "end 137"),
            "{place:?} {events:?}"
        );
        assert!(
            !events.iter().any(|event| event.starts_with("left")),
            "{events:?}"
        );
        place.nothing_runs(&trial);
    });
}

#[test]
fn a_workload_has_its_grace_to_put_in_order_what_it_changed() {
    in_each_shell(|place| {
        let gentle = "trap 'sleep 1; echo orderly; exit 0' INT; while :; do sleep 0.1; done";
        let spec = Spec {
            limit_ms: 500,
            grace_ms: 60_000,
            ..spec(gentle)
        };
        let trial = unique("gentle");
        place.started(&trial, &spec);
        assert_eq!(place.ended(&trial).last().unwrap(), "ended limit");
        let stdout = place.read(&format!("{trial}/workload.stdout"));
        assert!(stdout.contains("orderly\n"), "{place:?}");
    });
}

#[test]
fn a_trial_without_a_controller_ends_with_its_lease_and_one_that_is_followed_goes_on() {
    in_each_shell(|place| {
        let alone = Spec {
            lease_ms: 1000,
            ..spec("sleep 600")
        };
        let trial = unique("alone");
        place.started(&trial, &alone);
        let events = place.ended(&trial);
        assert_eq!(events.last().unwrap(), "ended lease", "{place:?}");

        // Times of the wall clock do not count.
        let followed = Spec {
            lease_ms: 8000,
            ..spec("sleep 12")
        };
        let trial = unique("followed");
        place.started(&trial, &followed);
        place.run(&format!(
            "touch -t 200001010000 {}/lease",
            place.folder(&trial)
        ));
        let follow = supervisor(&place.folder(&trial)).follow(&[]);
        let there = "i=0; while [ $i -lt 30 ] && echo; do sleep 1; i=$((i+1)); done 2>/dev/null";
        let said = place.said(&format!("({there}) | (\n{follow})"));
        assert!(said.ends_with(". 0 0\n\n"), "{said}");
        let events = place.ended(&trial);
        assert_eq!(events.last().unwrap(), "ended complete", "{place:?}");

        // A follower of whom nobody is heard is nobody.
        let unheard = Spec {
            lease_ms: 7000,
            ..spec("sleep 600")
        };
        let trial = unique("unheard");
        place.started(&trial, &unheard);
        place.said(&supervisor(&place.folder(&trial)).follow(&[]));
        let events = place.ended(&trial);
        assert_eq!(events.last().unwrap(), "ended lease", "{place:?}");
    });
}

#[test]
fn what_a_dead_supervisor_left_is_ended_and_put_back() {
    in_each_shell(|place| {
        let trial = unique("dead");
        let folder = place.folder(&trial);
        let asked = supervisor(&folder);
        let file = place.file("kernel-file");
        std::fs::write(&file, "60\n").unwrap();
        let mut spec = spec("sleep 600");
        spec.settings.push(ktrial_agent::Setting {
            file: file.display().to_string(),
            value: "10".into(),
        });
        let pid = place.started(&trial, &spec);
        place.await_event(&trial, "start");
        assert_eq!(place.said(&asked.recover()), "running\n");
        place.kill("KILL", pid);
        place.until(
            || place.said(&asked.follow(&[])).ends_with("! 0 0\n\n"),
            "the end of following",
        );
        assert_eq!(place.read("kernel-file"), "10\n");
        assert_eq!(place.said(&asked.recover()), "died\n", "{place:?}");
        assert_eq!(place.read("kernel-file"), "60\n");
        place.nothing_runs(&trial);
        let events = place.ended(&trial);
        assert_eq!(events.last().unwrap(), "ended died", "{place:?}");
        assert!(
            place
                .read(&format!("{trial}/workload.stdout"))
                .ends_with("restored\n")
        );
        assert_eq!(place.said(&asked.recover()), "ended\n");
        assert_eq!(place.events(&trial), events);
        assert!(place.said(&asked.follow(&[])).ends_with(". 0 0\n\n"));
    });
}

#[test]
fn after_another_boot_nothing_is_ended_or_put_back() {
    in_each_shell(|place| {
        let trial = unique("boot");
        let folder = place.folder(&trial);
        let file = place.file("kernel-file");
        let mut spec = spec("sleep 600");
        spec.settings.push(ktrial_agent::Setting {
            file: file.display().to_string(),
            value: "10".into(),
        });
        std::fs::write(&file, "60\n").unwrap();
        let pid = place.started(&trial, &spec);
        place.await_event(&trial, "start");
        place.kill("KILL", pid);
        let other = format!("{pid} 1 00000000-0000-0000-0000-000000000000");
        std::fs::write(place.file(&trial).join("pid"), format!("{other}\n")).unwrap();
        std::fs::write(place.file("lock"), format!("{other} {trial}\n")).unwrap();
        assert_eq!(place.said(&supervisor(&folder).recover()), "rebooted\n");
        assert_eq!(
            place.ended(&trial).last().unwrap(),
            "ended rebooted",
            "{place:?}"
        );
        assert_eq!(place.read("kernel-file"), "10\n");
        for pid in place.running(&trial) {
            // Some end by themselves meanwhile.
            place.run(&format!("kill -s KILL {pid}"));
        }
    });
}
