//! Two ktrials on one host.

use crate::site::Site;
use crate::story::{Story, by_each};

#[test]
fn a_second_ktrial_is_refused_and_told_whose_trial_runs() {
    by_each(|supervisor| {
        let site = Site::start();
        let (first, second) = (
            Story::held(&site, supervisor),
            Story::new(&site, supervisor, 0.3),
        );
        let mut ktrial = first.run(&[]);
        first.until(&mut ktrial, "start");
        let said = second.run(&[]).fails();
        assert!(said.contains("a trial of another run"), "{said}");
        let process = format!("process {}", site.supervisor());
        assert!(said.contains(&process), "{said}");
        assert_eq!(second.workloads(), 0);
        first.go();
        ktrial.succeeds();
        first.is_complete();
        site.is_as_before();
    });
}

#[test]
fn of_two_that_begin_at_once_each_trial_has_the_host_alone() {
    by_each(|supervisor| {
        let site = Site::start();
        let stories = [0, 1].map(|_| Story::new(&site, supervisor, 3.0));
        let both = [stories[0].run(&[]), stories[1].run(&[])];
        let ended = both.map(|ktrial| ktrial.end());
        let mut spans: Vec<(f64, f64)> = Vec::new();
        for (story, output) in stories.iter().zip(&ended) {
            let said = String::from_utf8_lossy(&output.stderr);
            if !story.runs().exists() {
                // Its preflight saw the other one.
                assert!(said.contains("a trial of another run"), "{said}");
                continue;
            }
            let record = story.record();
            for trial in &record.manifest().trials {
                let reason = trial.reason.clone().unwrap_or_default();
                match trial.start_boottime_s {
                    Some(start) => {
                        assert_eq!(trial.state.word(), "complete", "{reason}");
                        let (first, last) = (&trial.phases[0], &trial.phases[2]);
                        spans.push((start + first.start_s, start + last.end_s));
                    }
                    // The other one had the host, now or before.
                    None => assert!(reason.contains("did not start the trial"), "{reason}"),
                }
            }
        }
        // Which of them has it, and how often, is theirs to find out.
        assert!(!spans.is_empty());
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(
            spans.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{spans:?}"
        );
        site.is_as_before();
    });
}
