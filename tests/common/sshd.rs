//! A private sshd on a free loopback port, with throw-away keys and an ssh config of its own. Runs as whoever runs
//! the tests; nothing of the user's own ssh is read or written. Trials have a folder of the fixture's own, so that tests
//! run beside each other and beside the user's own trials.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The name under which the fixture's ssh config has the host.
pub const NAME: &str = "kt-test";

/// The server, its keys and its client's files. Everything ends when it is dropped.
pub struct Sshd {
    folder: TempDir,
    address: String,
    port: u16,
    /// Words before the server's own command line.
    within: Vec<String>,
    process: Child,
}

impl Sshd {
    /// A plain server that the client knows and may log in to.
    pub fn start() -> Sshd {
        Self::start_with("")
    }

    /// A server with further lines of sshd_config.
    pub fn start_with(settings: &str) -> Sshd {
        Self::start_within("127.0.0.1", settings, |_| Vec::new())
    }

    /// A server at an address of this machine, started by a command of the test's own: `within` gives its words, for the
    /// fixture's folder; the server's command line follows them, and has to take the command's place.
    pub fn start_within(
        address: &str,
        settings: &str,
        within: impl FnOnce(&Path) -> Vec<String>,
    ) -> Sshd {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path();
        let within = within(at);
        for kind in ["ed25519", "rsa", "ecdsa"] {
            keygen(at, &format!("host_{kind}"), kind, "");
        }
        keygen(at, "id", "ed25519", "");
        fs::copy(at.join("id.pub"), at.join("authorized_keys")).expect("authorized_keys");
        // sshd as root wants it; on a machine that runs no sshd of its own it is missing.
        let _ = fs::create_dir_all("/run/sshd");
        // Another process may take the port between its choice and sshd's start.
        for _ in 0..5 {
            let port = free_port();
            let config = server_config(at, address, port, settings);
            fs::write(at.join("sshd_config"), config).expect("sshd_config");
            if let Some(process) = listen(at, address, port, &within) {
                let sshd = Sshd {
                    folder,
                    address: address.to_owned(),
                    port,
                    within,
                    process,
                };
                sshd.know(&["ed25519", "rsa", "ecdsa"]);
                fs::write(sshd.path("ssh_config"), sshd.stanza(NAME, "")).expect("ssh_config");
                return sshd;
            }
        }
        let log = fs::read_to_string(at.join("log")).unwrap_or_default();
        panic!("sshd does not start; is openssh-server installed?\n{log}");
    }

    /// A file of the fixture: `id`, `known_hosts`, `ssh_config`, `authorized_keys`, `host_rsa.pub`, ...
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// The client's config for `ssh -F`.
    pub fn config(&self) -> PathBuf {
        self.path("ssh_config")
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process that listens.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The folder of the trials on this host.
    pub fn trials(&self) -> PathBuf {
        trials(self.folder.path())
    }

    /// A stanza of ssh config that reaches the server; `settings` come first and so win.
    pub fn stanza(&self, name: &str, settings: &str) -> String {
        let at = self.folder.path().display();
        format!(
            "Host {name}\n{settings}\n HostName {}\n Port {}\n User {}\n IdentityFile {at}/id\n \
             IdentityAgent none\n UserKnownHostsFile {at}/known_hosts\n GlobalKnownHostsFile none\n",
            self.address,
            self.port,
            user()
        )
    }

    /// A new client config whose only host, [`NAME`], has these settings.
    pub fn config_with(&self, settings: &str) -> PathBuf {
        self.write("changed_config", &self.stanza(NAME, settings))
    }

    /// Writes a file of the fixture.
    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path(file);
        fs::write(&path, text).expect("a file of the fixture");
        path
    }

    /// A line of known_hosts with the host's key of a kind.
    pub fn known_line(&self, kind: &str) -> String {
        let key = fs::read_to_string(self.path(&format!("host_{kind}.pub"))).expect("a host key");
        format!("[{}]:{} {}\n", self.address, self.port, key.trim())
    }

    /// Makes the client know the host by these kinds of key alone.
    pub fn know(&self, kinds: &[&str]) {
        let lines: String = kinds.iter().map(|kind| self.known_line(kind)).collect();
        self.write("known_hosts", &lines);
    }

    /// A further key pair.
    pub fn keygen(&self, file: &str, kind: &str, passphrase: &str) -> PathBuf {
        keygen(self.folder.path(), file, kind, passphrase)
    }

    /// Kills the listener and every session, not what runs in them.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.process.wait();
    }

    /// Listens again after [`Sshd::kill`].
    pub fn restart(&mut self) {
        let listening = listen(self.folder.path(), &self.address, self.port, &self.within);
        self.process = listening.expect("sshd starts again");
    }

    /// Stops the listener and every session: the host is there and does not answer.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets them go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        for pid in descendants(self.process.id()) {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            if name.starts_with("sshd") {
                send(pid, signal);
            }
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        for pid in descendants(self.process.id()) {
            send(pid, Signal::KILL);
        }
        let _ = self.process.wait();
        // Of a test that failed: trials go on without their connection.
        for pid in at_work_in(&self.trials()) {
            send(pid, Signal::KILL);
        }
    }
}

/// The folder of the trials of a fixture.
pub fn trials(at: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    at.join(format!("trials-{user}"))
}

/// What a fixture's folder makes of `KTRIAL_BASE`.
pub fn base(at: &Path) -> PathBuf {
    at.join("trials")
}

/// Processes that work in a folder, or have it in their command line.
pub fn at_work_in(folder: &Path) -> Vec<u32> {
    let text = folder.to_str().expect("a plain path");
    fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let is_there = fs::read_link(entry.path().join("cwd"))
                .is_ok_and(|cwd| cwd.to_string_lossy().starts_with(text));
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            (is_there || String::from_utf8_lossy(&line).contains(text)).then_some(pid)
        })
        .collect()
}

/// Whoever runs the tests.
pub fn user() -> String {
    let output = Command::new("id").arg("-un").output().expect("id");
    String::from_utf8(output.stdout)
        .expect("a user's name")
        .trim()
        .to_owned()
}

/// Waits until something is so; panics after a time that is long also on a busy machine.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(90);
    while !so() {
        assert!(Instant::now() < end, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn server_config(at: &Path, address: &str, port: u16, settings: &str) -> String {
    let base = base(at);
    let (at, base) = (at.display(), base.display());
    format!(
        "{settings}\nSetEnv KTRIAL_BASE={base}\n\
         ListenAddress {address}\nPort {port}\nPidFile none\nUsePAM no\nStrictModes no\n\
         HostKey {at}/host_ed25519\nHostKey {at}/host_rsa\nHostKey {at}/host_ecdsa\n\
         AuthorizedKeysFile {at}/authorized_keys\nPermitRootLogin prohibit-password\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\n"
    )
}

/// Starts sshd and waits until it listens; none when it ends instead.
fn listen(at: &Path, address: &str, port: u16, within: &[String]) -> Option<Child> {
    let words: Vec<&str> = within
        .iter()
        .map(String::as_str)
        .chain(["/usr/sbin/sshd", "-D"])
        .collect();
    let (program, rest) = words.split_first().expect("a program");
    let mut process = Command::new(program)
        .args(rest)
        .arg("-f")
        .arg(at.join("sshd_config"))
        .arg("-E")
        .arg(at.join("log"))
        .stdin(Stdio::null())
        .spawn()
        .expect("/usr/sbin/sshd (package openssh-server)");
    let mut ended = false;
    wait_until("sshd listens", || {
        ended = process.try_wait().expect("sshd's state").is_some();
        ended || TcpStream::connect((address, port)).is_ok()
    });
    (!ended).then_some(process)
}

fn keygen(at: &Path, file: &str, kind: &str, passphrase: &str) -> PathBuf {
    let path = at.join(file);
    // The smallest that sshd takes, for speed.
    let bits: &[&str] = if kind == "rsa" { &["-b", "2048"] } else { &[] };
    let status = Command::new("ssh-keygen")
        .args(bits)
        .args(["-q", "-t", kind, "-N", passphrase, "-C", file, "-f"])
        .arg(&path)
        .status()
        .expect("ssh-keygen");
    assert!(status.success());
    path
}

/// A port of 127.0.0.1 on which nothing listens.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// A process and all that came from it.
fn descendants(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (_, after_name) = stat.rsplit_once(") ")?;
            Some((pid, after_name.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found
}

fn send(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}
