//! Hosts over SSH, against a private sshd.

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::sshd::{NAME, Sshd, free_port, wait_until};
use ktrial::error::{Error, ErrorKind};
use ktrial::host::{Event, Exit, Host, Local, Output, Running, connect, signal_group};
use ktrial::inventory::Target;

/// Long enough for a slow machine, short enough not to hang.
const SOON: Duration = Duration::from_secs(60);

fn reach(config: &Path) -> Box<dyn Host> {
    connect(NAME, Some(config)).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn refusal(config: &Path) -> Error {
    match connect(NAME, Some(config)) {
        Ok(_) => panic!("it let us in"),
        Err(error) => error,
    }
}

fn exec(host: &dyn Host, script: &str) -> Output {
    host.exec(script, SOON)
        .unwrap_or_else(|error| panic!("{}", error.report()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads until the standard output holds `needle`.
fn read_until(running: &mut dyn Running, needle: &str) -> String {
    let end = Instant::now() + SOON;
    let mut out = String::new();
    while !out.contains(needle) {
        assert!(Instant::now() < end, "no {needle:?} in {out:?}");
        match running
            .next(Duration::from_millis(100))
            .expect("the stream goes on")
        {
            Event::Stdout(bytes) => out.push_str(&text(&bytes)),
            Event::Ended(exit) => panic!("ended with {exit:?} after {out:?}"),
            _ => {}
        }
    }
    out
}

/// Reads to the end: standard output, standard error, exit.
fn read_all(running: &mut dyn Running) -> (String, String, Exit) {
    let end = Instant::now() + SOON;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        assert!(Instant::now() < end, "it does not end");
        match running
            .next(Duration::from_millis(100))
            .expect("the stream goes on")
        {
            Event::Stdout(bytes) => out.extend(bytes),
            Event::Stderr(bytes) => err.extend(bytes),
            Event::Quiet => {}
            Event::Ended(exit) => return (text(&out), text(&err), exit),
        }
    }
}

/// The error with which a stream breaks.
fn read_to_error(running: &mut dyn Running) -> Error {
    let end = Instant::now() + SOON;
    loop {
        assert!(Instant::now() < end, "it does not break");
        match running.next(Duration::from_millis(100)) {
            Ok(Event::Ended(exit)) => panic!("ended with {exit:?}"),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}

#[test]
fn commands_give_output_and_exit() {
    let sshd = Sshd::start();
    let host = reach(&sshd.config());
    assert_eq!(host.name(), NAME);
    let output = exec(&*host, "echo out; echo err >&2; exit 7");
    assert_eq!(output.exit, Exit::Code(7));
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        ("out\n".into(), "err\n".into())
    );
    assert_eq!(exec(&*host, "kill -KILL $$").exit, Exit::Signal(9));
    assert_eq!(exec(&*host, "kill -SEGV $$").exit, Exit::Signal(11));
    assert_eq!(text(&exec(&*host, "echo $LC_ALL; cat").stdout), "C\n");
    let megabytes = exec(
        &*host,
        "head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2",
    );
    assert_eq!(
        (megabytes.stdout.len(), megabytes.stderr.len()),
        (3_000_000, 2_000_000)
    );
    let error = host.exec("cat /dev/zero", SOON).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostStable);
}

#[test]
fn scripts_arrive_as_they_are() {
    let sshd = Sshd::start();
    let host = reach(&sshd.config());
    for nasty in [
        "a'b\"c",
        "$HOME `id` $(id)",
        "!! \\ \\\\ \\' %",
        "tab\tand\nlines\n\n",
        "~ * ? [a] {a,b}",
        "\u{e9}\u{1b}[31m",
        "-n",
        "",
    ] {
        let quoted = nasty.replace('\'', "'\\''");
        let output = exec(&*host, &format!("printf %s '{quoted}'"));
        assert_eq!(text(&output.stdout), nasty);
    }
    let long = format!("# {}\necho end", "x".repeat(99_000));
    assert_eq!(text(&exec(&*host, &long).stdout), "end\n");
    let error = host.exec(&"x".repeat(200_000), SOON).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn streams_come_as_they_are_written_and_side_by_side() {
    let sshd = Sshd::start();
    let host = reach(&sshd.config());
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let script = format!(
        "echo first; while [ ! -e {} ]; do sleep 0.02; done; echo second; echo err >&2; exit 4",
        go.display()
    );
    let mut one = host.spawn(&script).unwrap();
    let mut two = host.spawn(&script).unwrap();
    read_until(&mut *one, "first\n");
    read_until(&mut *two, "first\n");
    assert_eq!(one.next(Duration::ZERO).unwrap(), Event::Quiet);
    assert_eq!(text(&exec(&*host, "echo meanwhile").stdout), "meanwhile\n");
    std::fs::write(&go, "").unwrap();
    for running in [&mut one, &mut two] {
        let end = read_all(&mut **running);
        assert_eq!(end, ("second\n".into(), "err\n".into(), Exit::Code(4)));
        assert_eq!(
            running.next(Duration::ZERO).unwrap(),
            Event::Ended(Exit::Code(4))
        );
    }
}

/// Prints its process id and its process group.
const GROUP: &str = "read -r pid name state parent group rest </proc/$$/stat; echo $$ $group";

#[test]
fn a_script_leads_its_process_group() {
    let sshd = Sshd::start();
    for host in [reach(&sshd.config()), Box::new(Local)] {
        let mut running = host.spawn(GROUP).unwrap();
        let group = running.group();
        assert_eq!(read_all(&mut *running).0, format!("{group} {group}\n"));
    }
}

#[test]
fn a_chatty_login_is_no_data() {
    let sshd = Sshd::start_with(
        "ForceCommand echo noise; echo noise >&2; sh -c \"$SSH_ORIGINAL_COMMAND\"\nBanner /etc/passwd\nPrintMotd yes",
    );
    let host = reach(&sshd.config());
    let output = exec(&*host, "echo data; echo trouble >&2; exit 3");
    assert_eq!(output.exit, Exit::Code(3));
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        ("data\n".into(), "trouble\n".into())
    );
    // The forced command stands between sshd's session and ours.
    let mut running = host.spawn(GROUP).unwrap();
    let group = running.group();
    assert_eq!(read_all(&mut *running).0, format!("{group} {group}\n"));
}

/// Input that is no text and has every byte.
fn bytes(length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| ((i % 256) ^ (i / 65_536)) as u8)
        .collect()
}

#[test]
fn input_and_output_go_at_the_same_time() {
    let sshd = Sshd::start();
    for host in [reach(&sshd.config()), Box::new(Local)] {
        let input = bytes(5 << 20);
        // Says much before it reads anything, and again while it reads.
        let script = "head -c 5242880 /dev/zero >&2; cat; echo end; exit 3";
        let output = host.exec_fed(script, &input, SOON).unwrap();
        assert_eq!(output.exit, Exit::Code(3));
        assert_eq!(output.stderr.len(), 5 << 20);
        let (own, end) = output.stdout.split_at(input.len());
        assert!(own == input, "the input came back otherwise");
        assert_eq!(text(end), "end\n");
        let mut running = host.spawn_fed("cat >&2", b"spawned\n").unwrap();
        let (_, err, exit) = read_all(&mut *running);
        assert_eq!((err.as_str(), exit), ("spawned\n", Exit::Code(0)));
    }
}

#[test]
fn input_that_nobody_reads_holds_nothing_up() {
    let sshd = Sshd::start();
    for host in [reach(&sshd.config()), Box::new(Local)] {
        let input = bytes(16 << 20);
        for (script, said) in [
            ("head -c 4 | wc -c", "4"),
            ("exec <&-; echo closed", "closed"),
            ("sleep 1000 >/dev/null 2>&1 & echo left; kill $!", "left"),
        ] {
            let output = host.exec_fed(script, &input, SOON).unwrap();
            assert_eq!(text(&output.stdout).trim(), said);
            assert_eq!(text(&exec(&*host, "echo next").stdout), "next\n");
        }
        // Its outputs are closed before it has read anything.
        let file = tempfile::tempdir().unwrap();
        let count = file.path().join("count");
        let script = format!(
            "exec >&- 2>&-; sleep 0.2; wc -c >'{}'; exit 5",
            count.display()
        );
        let output = host.exec_fed(&script, &input, SOON).unwrap();
        assert_eq!(output.exit, Exit::Code(5));
        let counted = std::fs::read_to_string(&count).unwrap();
        assert_eq!(counted.trim(), input.len().to_string());
        let error = host.exec_fed("cat", &bytes(18 << 20), SOON).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
}

#[test]
fn input_may_come_later() {
    let sshd = Sshd::start();
    for host in [reach(&sshd.config()), Box::new(Local)] {
        let mut running = host
            .spawn_open("while read -r line; do echo \"got $line\"; done; echo over")
            .unwrap();
        for word in ["one", "two"] {
            running.feed(format!("{word}\n").as_bytes());
            read_until(&mut *running, &format!("got {word}\n"));
        }
        assert_eq!(running.next(Duration::ZERO).unwrap(), Event::Quiet);
        running.end_input();
        let (out, _, exit) = read_all(&mut *running);
        assert_eq!((out.as_str(), exit), ("over\n", Exit::Code(0)));
    }
}

#[test]
fn any_login_shell_will_do() {
    for shell in ["sh", "bash", "zsh", "fish", "csh"] {
        if Command::new(shell).args(["-c", "exit"]).status().is_err() {
            eprintln!("skipped: {shell} is not installed");
            continue;
        }
        let sshd = Sshd::start_with(&format!(
            "ForceCommand exec {shell} -c \"$SSH_ORIGINAL_COMMAND\""
        ));
        let output = exec(
            &*reach(&sshd.config()),
            r"printf '%s|' '!! \\ ' 'it'\''s' {a,b} ~x '$HOME'",
        );
        assert_eq!(
            text(&output.stdout),
            r"!! \\ |it's|{a,b}|~x|$HOME|",
            "{shell}"
        );
        let host = reach(&sshd.config());
        let output = host
            .exec_fed("echo '!! $HOME'; cat", b"$x !!\n", SOON)
            .unwrap();
        assert_eq!(text(&output.stdout), "!! $HOME\n$x !!\n", "{shell}");
    }
}

#[test]
fn a_login_that_runs_nothing_is_refused() {
    let sshd = Sshd::start_with("ForceCommand echo This account is not available.");
    let error = reach(&sshd.config()).exec("echo hi", SOON).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostStable);
    assert!(
        error.to_string().contains("This account is not available."),
        "{error}"
    );
}

#[test]
fn a_signal_ends_a_script_and_its_children() {
    let sshd = Sshd::start();
    for host in [reach(&sshd.config()), Box::new(Local)] {
        let mut running = host.spawn("echo ready; (sleep 120; true); true").unwrap();
        read_until(&mut *running, "ready");
        signal_group(&*host, running.group(), "INT").unwrap();
        assert_eq!(read_all(&mut *running).2, Exit::Signal(2));
        let mut running = host.spawn("sleep 120 & echo ready; wait").unwrap();
        read_until(&mut *running, "ready");
        signal_group(&*host, running.group(), "TERM").unwrap();
        assert_eq!(read_all(&mut *running).2, Exit::Signal(15));
        // Gone already.
        signal_group(&*host, running.group(), "KILL").unwrap();
    }
}

#[test]
fn a_dropped_stream_ends_on_the_host_when_it_next_writes() {
    let sshd = Sshd::start();
    let host = reach(&sshd.config());
    let mut running = host
        .spawn("echo $$; while echo more; do sleep 0.02; done")
        .unwrap();
    let group = running.group();
    read_until(&mut *running, "more");
    drop(running);
    wait_until("the script ends", || {
        // Gone, or a zombie that waits for init.
        let state = std::fs::read_to_string(format!("/proc/{group}/stat"));
        state.map_or(true, |state| state.contains(") Z "))
    });
}

#[test]
fn unknown_changed_and_revoked_host_keys_are_refused() {
    let sshd = Sshd::start();
    let known = sshd.path("known_hosts");

    std::fs::write(&known, "").unwrap();
    for settings in [
        "",
        " StrictHostKeyChecking accept-new",
        " StrictHostKeyChecking ask",
    ] {
        let error = refusal(&sshd.config_with(settings));
        assert_eq!(error.kind(), ErrorKind::HostStable);
        assert!(error.to_string().contains("is not known"), "{error}");
        assert!(error.next_step().unwrap().contains(&format!("{NAME} true")));
    }
    assert_eq!(
        std::fs::read_to_string(&known).unwrap(),
        "",
        "never added silently"
    );
    reach(&sshd.config_with(" StrictHostKeyChecking no"));

    let other = sshd.keygen("other", "ed25519", "");
    let other = std::fs::read_to_string(other.with_extension("pub")).unwrap();
    sshd.write(
        "known_hosts",
        &format!("[127.0.0.1]:{} {other}", sshd.port()),
    );
    let error = refusal(&sshd.config());
    assert_eq!(error.kind(), ErrorKind::HostStable);
    assert!(error.to_string().contains("has changed"), "{error}");
    assert_eq!(error.to_string().matches("SHA256:").count(), 2);
    assert!(error.next_step().unwrap().contains("ssh-keygen -R"));

    let revoked =
        ["ed25519", "rsa", "ecdsa"].map(|kind| format!("@revoked {}", sshd.known_line(kind)));
    sshd.write("known_hosts", &revoked.concat());
    for settings in ["", " StrictHostKeyChecking no"] {
        let error = refusal(&sshd.config_with(settings));
        assert_eq!(error.kind(), ErrorKind::HostStable);
        assert!(error.to_string().contains("revoked"), "{error}");
    }

    let authority = format!("@cert-authority {}", sshd.known_line("ed25519"));
    sshd.write("known_hosts", &authority);
    let error = refusal(&sshd.config());
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn a_host_with_several_keys_is_known_by_any() {
    let sshd = Sshd::start();
    for kind in ["rsa", "ecdsa", "ed25519"] {
        sshd.know(&[kind]);
        reach(&sshd.config());
    }
}

#[test]
fn hashed_names_patterns_aliases_and_bare_names_are_known() {
    let sshd = Sshd::start();
    let hash = Command::new("ssh-keygen")
        .args(["-q", "-H", "-f"])
        .arg(sshd.path("known_hosts"))
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(hash.unwrap().success());
    let hashed = std::fs::read_to_string(sshd.path("known_hosts")).unwrap();
    assert!(hashed.starts_with("|1|"), "{hashed}");
    reach(&sshd.config());
    let line = sshd.known_line("ed25519");
    let key = line.split_once(' ').unwrap().1;
    for (names, settings) in [
        ("[127.0.0.*]:*", ""),
        ("box", " HostKeyAlias box"),
        ("127.0.0.1", ""),
    ] {
        sshd.write("known_hosts", &format!("{names} {key}"));
        reach(&sshd.config_with(settings));
    }
    sshd.write("known_hosts", &format!("[127.0.0.1]:1 {key}"));
    refusal(&sshd.config());
}

#[test]
fn keys_that_are_refused_are_listed() {
    let sshd = Sshd::start();
    let wrong = sshd.keygen("wrong", "ed25519", "");
    let settings = format!(
        " IdentityFile {}\n IdentityFile /no/such/key",
        wrong.display()
    );
    // In order: the wrong one first, then the fixture's own.
    reach(&sshd.config_with(&settings));
    sshd.write("authorized_keys", "");
    let error = refusal(&sshd.config_with(&settings));
    assert_eq!(error.kind(), ErrorKind::HostStable);
    let message = error.to_string();
    assert!(
        message.contains("wrong (") && message.contains("/id ("),
        "{message}"
    );
    assert!(!message.contains("no/such"), "{message}");
}

#[test]
fn a_key_with_a_passphrase_asks_for_the_agent() {
    let sshd = Sshd::start();
    let locked = sshd.keygen("locked", "rsa", "secret");
    std::fs::copy(locked.with_extension("pub"), sshd.path("authorized_keys")).unwrap();
    let error = refusal(&sshd.config_with(&format!(" IdentityFile {}", locked.display())));
    assert_eq!(error.kind(), ErrorKind::HostStable);
    assert!(
        error
            .next_step()
            .unwrap()
            .contains(&format!("ssh-add {}", locked.display()))
    );
}

/// An ssh-agent that ends with the test.
struct Agent(Child);

impl Agent {
    fn start(socket: &Path, keys: &[&Path]) -> Agent {
        let agent = Command::new("ssh-agent")
            .arg("-D")
            .arg("-a")
            .arg(socket)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let agent = Agent(agent);
        wait_until("the agent listens", || socket.exists());
        for key in keys {
            let added = Command::new("ssh-add")
                .arg("-q")
                .arg(key)
                .env("SSH_AUTH_SOCK", socket)
                .status();
            assert!(added.unwrap().success());
        }
        agent
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_agents_keys_open_the_host() {
    let sshd = Sshd::start();
    let key = sshd.keygen("in_agent", "rsa", "");
    let other = sshd.keygen("other", "ed25519", "");
    let socket = sshd.path("agent");
    let _agent = Agent::start(&socket, &[&other, &key]);
    std::fs::copy(key.with_extension("pub"), sshd.path("authorized_keys")).unwrap();
    std::fs::remove_file(&key).unwrap();
    let agent = format!(" IdentityAgent {}", socket.display());
    reach(&sshd.config_with(&agent));
    // The key itself is gone; its public half beside it says which of the agent's is meant.
    let only = format!(
        "{agent}\n IdentitiesOnly yes\n IdentityFile {}",
        key.display()
    );
    reach(&sshd.config_with(&only));
    let error = refusal(&sshd.config_with(&format!("{agent}\n IdentitiesOnly yes")));
    assert!(!error.to_string().contains("agent key"), "{error}");
    let error = refusal(&sshd.config_with(" IdentityAgent /no/such/agent"));
    assert!(error.to_string().contains("the agent ("), "{error}");
}

#[test]
fn proxy_commands_and_jumps_open_the_way() {
    let sshd = Sshd::start();
    let config = sshd.config();
    let command = format!(" ProxyCommand ssh -F {} -W %h:%p {NAME}", config.display());
    let host = reach(&sshd.config_with(&command));
    assert_eq!(text(&exec(&*host, "echo through").stdout), "through\n");
    drop(host);

    let mut jumps = sshd.stanza(NAME, " ProxyJump kt-first,kt-second");
    jumps.push_str(&sshd.stanza("kt-first", ""));
    jumps.push_str(&sshd.stanza("kt-second", ""));
    let host = reach(&sshd.write("jump_config", &jumps));
    assert_eq!(text(&exec(&*host, "echo jumped").stdout), "jumped\n");

    let error = refusal(&sshd.config_with(" ProxyCommand echo no way >&2; exit 1"));
    assert!(error.to_string().contains("no way"), "{}", error.report());
    let error = refusal(&sshd.config_with(" ProxyCommand sleep 120\n ConnectTimeout 2"));
    assert_eq!(error.kind(), ErrorKind::HostTransient);
}

#[test]
fn a_proxy_may_pass_a_connected_socket() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is missing, which passes the socket");
        return;
    }
    let sshd = Sshd::start();
    let helper = sshd.write(
        "pass.py",
        "import array, socket, sys\n\
         s = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n\
         out = socket.socket(fileno=1)\n\
         fds = array.array('i', [s.fileno()])\n\
         out.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])\n",
    );
    let settings = format!(
        " ProxyUseFdpass yes\n ProxyCommand python3 {} %h %p",
        helper.display()
    );
    let host = reach(&sshd.config_with(&settings));
    assert_eq!(text(&exec(&*host, "echo passed").stdout), "passed\n");
    let error = refusal(&sshd.config_with(" ProxyUseFdpass yes\n ProxyCommand true"));
    assert!(error.to_string().contains("passed no socket"), "{error}");
}

#[test]
fn include_and_match_mean_what_they_mean_to_ssh() {
    let sshd = Sshd::start();
    let config = format!(
        "Include {}\nMatch originalhost elsewhere exec true\n HostName 127.0.0.1\n Port {}\n HostKeyAlias kt\n",
        sshd.config().display(),
        free_port()
    );
    let config = sshd.write("outer_config", &config);
    reach(&config);
    let target = Target::resolve("elsewhere", Some(&config)).unwrap();
    assert_eq!(target.hostname, "127.0.0.1");
    assert_eq!(target.host_key_alias.as_deref(), Some("kt"));
}

#[test]
fn what_is_not_there_is_said() {
    let sshd = Sshd::start();
    let error = refusal(&sshd.config_with(&format!(" Port {}", free_port())));
    assert_eq!(error.kind(), ErrorKind::HostStable);
    assert!(
        error.to_string().contains("cannot connect to 127.0.0.1"),
        "{error}"
    );
    let error = refusal(&sshd.config_with(" HostName no-such-name.invalid"));
    assert_eq!(error.kind(), ErrorKind::HostStable);
    assert!(error.to_string().contains("does not resolve"), "{error}");
    let error = refusal(&sshd.path("no_such_config"));
    assert_eq!(error.kind(), ErrorKind::HostStable);
    let error = refusal(&sshd.write("broken_config", "Nonsense yes\n"));
    assert!(error.to_string().contains("ssh refuses"), "{error}");
}

#[test]
fn a_killed_sshd_breaks_a_stream_and_a_new_one_is_found_again() {
    let mut sshd = Sshd::start();
    let host = reach(&sshd.config());
    let mut running = host.spawn("echo ready; sleep 120").unwrap();
    read_until(&mut *running, "ready");
    sshd.kill();
    let error = read_to_error(&mut *running);
    assert_eq!(error.kind(), ErrorKind::HostTransient);
    assert!(host.exec("true", SOON).is_err());
    sshd.restart();
    assert_eq!(text(&exec(&*host, "echo again").stdout), "again\n");
}

#[test]
fn a_host_that_stops_answering_is_noticed() {
    let sshd = Sshd::start();
    let host = reach(&sshd.config_with(" ServerAliveInterval 2\n ServerAliveCountMax 1"));
    let mut running = host.spawn("echo ready; sleep 120").unwrap();
    read_until(&mut *running, "ready");
    sshd.freeze();
    let begin = Instant::now();
    let error = host.exec("true", Duration::from_secs(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostTransient);
    let error = refusal(&sshd.config_with(" ConnectTimeout 1"));
    assert_eq!(error.kind(), ErrorKind::HostTransient);
    let error = read_to_error(&mut *running);
    assert_eq!(error.kind(), ErrorKind::HostTransient);
    assert!(error.to_string().contains("has not answered"), "{error}");
    assert!(begin.elapsed() < SOON);
    sshd.thaw();
    assert_eq!(text(&exec(&*host, "echo back").stdout), "back\n");
}

#[test]
fn an_idle_stream_that_answers_is_left_alone() {
    let sshd = Sshd::start();
    let host = reach(&sshd.config_with(" ServerAliveInterval 2\n ServerAliveCountMax 1"));
    // Longer than two unanswered questions would take.
    let mut running = host.spawn("echo ready; sleep 7; echo done").unwrap();
    read_until(&mut *running, "done");
}

#[test]
fn a_deadline_ends_a_command() {
    let sshd = Sshd::start();
    for host in [reach(&sshd.config()), Box::new(Local)] {
        let error = host
            .exec("sleep 120", Duration::from_millis(500))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostTransient);
        assert_eq!(text(&exec(&*host, "echo next").stdout), "next\n");
    }
}
