//! What becomes of a trial when the way to its host breaks.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crate::common::experiment::states;
use crate::common::sshd::{NAME, wait_until};
use crate::proxy::Proxy;
use crate::site::{IMPATIENT, Site, is_done};
use crate::story::{HELD, SUPERVISORS, Story, by_each, side_by_side};

/// The lines of an ssh config that reach a site through a proxy, by a name.
fn through(site: &Site, proxy: &Proxy, name: &str) -> String {
    let port = proxy.port();
    let known = fs::read_to_string(site.sshd.path("known_hosts")).unwrap();
    let own = format!("[127.0.0.1]:{} ", site.sshd.port());
    if !known.contains(&format!("]:{port} ")) {
        let more = known.replace(&own, &format!("[127.0.0.1]:{port} "));
        site.sshd.write("known_hosts", &(known + &more));
    }
    site.sshd
        .stanza(name, &format!("{IMPATIENT}\n Port {port}"))
}

fn config(site: &Site, proxy: &Proxy) -> PathBuf {
    let text = through(site, proxy, NAME);
    site.sshd.write("through_proxy", &text)
}

/// The network is gone for so long in the workload, and the trial is none the worse.
fn gone_for(seconds: u64, supervisor: &'static str) {
    let site = Site::start();
    let proxy = Proxy::before(site.sshd.port());
    let story = Story::new(&site, supervisor, 6.0).by(config(&site, &proxy));
    let mut ktrial = story.run(&[]);
    story.until(&mut ktrial, "start");
    proxy.be_gone(true);
    sleep(Duration::from_secs(seconds));
    proxy.be_gone(false);
    ktrial.succeeds();
    story.is_complete();
    story.is_sampled(3.0);
    site.is_as_before();
}

#[test]
fn a_network_that_is_gone_for_a_moment_or_past_the_trials_end_costs_nothing() {
    side_by_side([3, 16], |seconds| {
        by_each(|supervisor| gone_for(seconds, supervisor));
    });
}

#[test]
fn a_network_that_is_gone_for_good_leaves_the_trial_on_its_host() {
    by_each(|supervisor| {
        let site = Site::start();
        let proxy = Proxy::before(site.sshd.port());
        let story = Story::held(&site, supervisor).by(config(&site, &proxy));
        let mut ktrial = story.run(&["--patience", "5s"]);
        story.until(&mut ktrial, "start");
        proxy.be_gone(true);
        let said = ktrial.fails();
        assert!(said.contains("out of reach"), "{said}");
        assert!(said.contains("ktrial resume"), "{said}");
        let record = story.record();
        assert_eq!(states(&record), ["failed", "not-run"]);
        assert!(record.manifest().trials[0].on_host.is_some());
        // Still away: the record stays as it is.
        let resumed = story.resume(&[]);
        assert_eq!(resumed.status.code(), Some(1));
        assert_eq!(states(&story.record()), ["failed", "not-run"]);

        story.go();
        proxy.be_gone(false);
        assert!(story.resume(&[]).status.success());
        story.is_complete();
        story.is_sampled(3.0);
        site.is_as_before();
    });
}

#[test]
fn a_host_that_is_lost_does_not_keep_the_others() {
    let (site, other) = (Site::start(), Site::start());
    if site.boot_id() == other.boot_id() {
        eprintln!("left out: without mount namespaces there are no two hosts here");
        return;
    }
    let proxy = Proxy::before(site.sshd.port());
    let text = through(&site, &proxy, "kt-lost") + &other.sshd.stanza("kt-other", IMPATIENT);
    let config = site.sshd.write("both", &text);
    let story = Story::held(&site, "agent").by(config);
    // Only on the host that is lost it lasts.
    let is_lost = format!("grep -q {} /proc/sys/kernel/random/boot_id", site.boot_id());
    let first = format!("{is_lost} || exec sleep 0.3; {HELD}");
    story.write(&["kt-lost", "kt-other"], site.settings(), &first);
    let mut ktrial = story.run(&["--patience", "5s"]);
    wait_until("the trial of the host that is lost", || {
        ktrial.goes_on();
        // Also its first file is on the host then.
        site.left().iter().any(|name| name.len() == 16)
            && site.trial().join("workload.stdout").exists()
    });
    proxy.be_gone(true);
    ktrial.fails();
    let record = story.record();
    let trials = &record.manifest().trials;
    assert_eq!(trials.len(), 4);
    for trial in trials {
        let state = trial.state.word();
        match trial.host.as_deref() {
            Some("kt-other") => assert_eq!(state, "complete", "{trial:?}"),
            _ => assert!(matches!(state, "failed" | "not-run"), "{trial:?}"),
        }
    }
    assert_eq!(trials.iter().filter(|t| t.on_host.is_some()).count(), 1);
    story.go();
    proxy.be_gone(false);
    assert!(story.resume(&[]).status.success());
    story.is_complete();
    site.is_as_before();
    other.is_as_before();
}

#[test]
fn a_restarted_sshd_costs_nothing() {
    by_each(|supervisor| {
        let mut site = Site::start();
        let story = Story::new(&site, supervisor, 4.0);
        let mut ktrial = story.run(&[]);
        story.until(&mut ktrial, "start");
        site.sshd.kill();
        site.sshd.restart();
        ktrial.succeeds();
        story.is_complete();
        story.is_sampled(3.0);
        site.is_as_before();
    });
}

#[test]
fn a_host_key_that_changes_meanwhile_is_refused_and_the_trial_stays_on_its_host() {
    by_each(|supervisor| {
        let mut site = Site::start();
        let story = Story::held(&site, supervisor);
        let mut ktrial = story.run(&["--patience", "5s"]);
        story.until(&mut ktrial, "start");
        site.sshd.kill();
        let kinds = ["ed25519", "rsa", "ecdsa"];
        for kind in kinds {
            let name = format!("host_{kind}");
            let now = site.sshd.path(&name);
            fs::rename(&now, site.sshd.path(&format!("old_{kind}"))).unwrap();
            fs::remove_file(now.with_extension("pub")).unwrap();
            site.sshd.keygen(&name, kind, "");
        }
        site.sshd.restart();
        let said = ktrial.fails();
        assert!(said.contains("key"), "{said}");
        assert!(said.contains("the trial goes on there"), "{said}");
        let trial = story.trial(0);
        assert_eq!(trial.state.word(), "failed");
        assert!(trial.on_host.is_some());
        story.go();

        site.sshd.kill();
        for kind in kinds {
            let old = site.sshd.path(&format!("old_{kind}"));
            fs::rename(old, site.sshd.path(&format!("host_{kind}"))).unwrap();
        }
        site.sshd.restart();
        assert!(story.resume(&[]).status.success());
        story.is_complete();
        story.is_sampled(3.0);
        site.is_as_before();
    });
}

#[test]
fn a_trial_that_nobody_watches_ends_with_its_lease_and_its_samples_are_fetched() {
    by_each(|supervisor| {
        let site = Site::start();
        let proxy = Proxy::before(site.sshd.port());
        let story = Story::new(&site, supervisor, 600.0).by(config(&site, &proxy));
        let mut ktrial = story.run(&["--patience", "2s", "--lease", "15s"]);
        story.until(&mut ktrial, "start");
        proxy.be_gone(true);
        ktrial.fails();
        // Its host keeps the result, and is in order.
        wait_until("the lease is over", || site.trial().join("result").exists());
        site.is_quiet();
        assert_eq!(site.setting(), "11\n");

        proxy.be_gone(false);
        assert!(story.resume(&[]).status.success());
        let record = story.record();
        assert_eq!(states(&record), ["complete", "complete"]);
        let trial = &record.manifest().trials[0];
        assert_eq!(trial.attempt, 2);
        let notes = trial.notes.join("\n");
        assert!(notes.contains("nobody watched it"), "{notes}");
        let first = fs::read_to_string(record.dir().join("raw/t01/events.txt")).unwrap();
        assert!(first.ends_with(" ended lease\n"), "{first}");
        site.is_as_before();
    });
}

/// A network of the test's own: a namespace with one interface, and its other end here.
struct Link {
    namespace: String,
    near: String,
    address: Ipv4Addr,
}

impl Link {
    /// None where this user may not have one.
    fn make() -> Option<Link> {
        let id = std::process::id();
        // Of the block for benchmarks, which nobody routes: RFC 2544.
        let third = (id / 60 % 250) as u8;
        let host = (id % 60 * 4) as u8;
        let near = Ipv4Addr::new(198, 18, third, host + 1);
        let link = Link {
            namespace: format!("kt{id}"),
            near: format!("kt{id}"),
            address: Ipv4Addr::new(198, 18, third, host + 2),
        };
        let (namespace, name, far) = (&link.namespace, &link.near, link.address);
        let lines = format!(
            "ip netns add {namespace}\n\
             ip link add {name} type veth peer name eth0 netns {namespace}\n\
             ip addr add {near}/30 dev {name}\nip link set {name} up\n\
             ip -n {namespace} addr add {far}/30 dev eth0\nip -n {namespace} link set eth0 up\n\
             ip -n {namespace} link set lo up\n"
        );
        let done = is_done(&["sh", "-ec", &lines]);
        done.then_some(link)
    }

    fn set(&self, state: &str) {
        assert!(is_done(&["ip", "link", "set", &self.near, state]));
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // With it goes the pair.
        is_done(&["ip", "netns", "del", &self.namespace]);
        is_done(&["ip", "link", "del", &self.near]);
    }
}

#[test]
fn an_interface_that_goes_down_and_comes_up_again_costs_nothing() {
    let Some(link) = Link::make() else {
        eprintln!("left out: this user may not make a network namespace (ip netns)");
        return;
    };
    let address = link.address.to_string();
    let command = ["ip", "netns", "exec", &link.namespace];
    let sites =
        SUPERVISORS.map(|supervisor| (supervisor, Site::start_with(&address, &command, "")));
    let mut runs = Vec::new();
    for (supervisor, site) in &sites {
        let story = Story::new(site, supervisor, 6.0);
        let mut ktrial = story.run(&[]);
        story.until(&mut ktrial, "start");
        runs.push((story, ktrial));
    }
    link.set("down");
    sleep(Duration::from_secs(8));
    link.set("up");
    for ((story, ktrial), (_, site)) in runs.into_iter().zip(&sites) {
        ktrial.succeeds();
        story.is_complete();
        story.is_sampled(3.0);
        site.is_as_before();
    }
}
