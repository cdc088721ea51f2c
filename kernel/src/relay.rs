//! The process between evcxr and the process that the cells run in.
//!
//! evcxr reads its child's standard output line by line: it swallows the lines that say that a cell panicked or
//! ended through `?`, keeps one display a media type, and waits for ever when a cell ends in the middle of a line.
//! So evcxr's child is a relay. It starts the real one, passes on what evcxr has to see,
//! and tells the rest as [`Message`]s, one line of JSON each, in the order in which it happened.
//! It also ends a cell that runs too long, which leaves no process behind.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};

/// Set for a relay: how many seconds a cell may run, 0 for no limit.
const RELAY: &str = "KTRIAL_CELL_RELAY";

// evcxr's protocol, see its `runtime.rs`, `eval_context.rs` and `evcxr_internal_runtime.rs`.
const IS_RUNTIME: &str = "EVCXR_IS_RUNTIME";
const RUN: &str = "LOAD_AND_RUN ";
/// While it starts, evcxr runs this one to see whether everything works; nobody reads messages yet.
const FIRST_RUN: &str = " run_user_code_0";
const COMPLETE: &str = "EVCXR_EXECUTION_COMPLETE";
const PANIC: &str = "EVCXR_PANIC_NOTIFICATION";
const FAILED: &str = "EVCXR_ERROR_OCCURRED";
const SHOW: &str = "EVCXR_BEGIN_CONTENT ";
const SHOWN: &str = "EVCXR_END_CONTENT";
const FOR_EVCXR: [&str; 2] = ["EVCXR_VARIABLE_CHANGED_TYPE:", "EVCXR_INPUT_REQUEST"];

/// Written to the cells' standard error after each cell: what comes before it belongs to the cell.
const STDERR_END: &str = "\u{1e}ktrial: end of the cell\n";
/// How long to wait for the last output of a process that has ended; a program that it started may hold the pipe.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// What happened in a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Text on standard output.
    Stdout(String),
    /// Text on standard error.
    Stderr(String),
    /// Something to show, by media type.
    Show(BTreeMap<String, String>),
    /// The cell panicked.
    Panicked,
    /// The cell ended through `?`.
    Failed,
    /// The cell ran for longer than this many seconds and was ended.
    TimedOut(u64),
    /// The process has ended, and how.
    Ended(String),
}

impl Message {
    /// Its line for evcxr's output channel. evcxr acts on its own words wherever they stand in a line,
    /// so the line must not hold them.
    fn line(&self) -> String {
        let json = serde_json::to_string(self).expect("strings always become JSON");
        json.replace("EVCXR_", "\\u0045VCXR_")
    }

    /// The message of a line from evcxr's output channel.
    pub fn of_line(line: &str) -> Option<Message> {
        serde_json::from_str(line).ok()
    }
}

/// Makes evcxr start a relay when it is given this command.
pub fn configure(command: &mut Command, timeout: Option<Duration>) {
    command.env(
        RELAY,
        timeout.map_or(0, |limit| limit.as_secs()).to_string(),
    );
}

/// Has to come first in `main`: becomes the relay in a process that evcxr starts as its child.
pub fn hook() {
    if env::var_os(IS_RUNTIME).is_none() {
        return;
    }
    if let Ok(seconds) = env::var(RELAY) {
        let seconds: u64 = seconds.parse().unwrap_or(0);
        let limit = (seconds > 0).then(|| Duration::from_secs(seconds));
        match Relay::start(limit).and_then(Relay::run) {
            Ok(status) => std::process::exit(status.code().unwrap_or(1)),
            Err(error) => {
                eprintln!("the relay to the notebook's cells failed: {error}");
                std::process::exit(1)
            }
        }
    }
    // The process of the cells ends with its relay, even in an endless loop.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

enum Event {
    FromEvcxr(Vec<u8>),
    EvcxrGone,
    Stdout(Vec<u8>),
    StdoutEnd,
    Stderr(Vec<u8>),
    StderrEnd,
}

struct Relay {
    limit: Option<Duration>,
    child: Child,
    child_stdin: Option<ChildStdin>,
    child_stderr: PipeWriter,
    events: Receiver<Event>,
    /// While a cell of the notebook runs: when it has to end, if ever.
    running: Option<Option<Instant>>,
    /// The media type and the content so far of a block that has begun.
    block: Option<(String, String)>,
    /// Blocks that belong to one display.
    bundle: BTreeMap<String, String>,
}

impl Relay {
    fn start(limit: Option<Duration>) -> io::Result<Relay> {
        let (stderr, child_stderr) = io::pipe()?;
        let mut child = Command::new(env::current_exe()?)
            .args(env::args_os().skip(1))
            .env_remove(RELAY)
            .env("RUST_BACKTRACE", "0")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(child_stderr.try_clone()?)
            .spawn()?;
        let (sender, events) = sync_channel(256);
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        forward(io::stdin(), &sender, Event::FromEvcxr, Event::EvcxrGone);
        forward(stdout, &sender, Event::Stdout, Event::StdoutEnd);
        forward(stderr, &sender, Event::Stderr, Event::StderrEnd);
        Ok(Relay {
            limit,
            child_stdin: child.stdin.take(),
            child,
            child_stderr,
            events,
            running: None,
            block: None,
            bundle: BTreeMap::new(),
        })
    }

    fn run(mut self) -> io::Result<ExitStatus> {
        loop {
            match self.next_event() {
                Ok(Event::FromEvcxr(line)) => self.command(&line)?,
                Ok(Event::EvcxrGone) => {
                    // It asks an idle child to end by closing its input; a running cell has lost its reader.
                    self.child_stdin = None;
                    if self.running.is_some() {
                        self.kill();
                    }
                }
                Ok(Event::Stdout(line)) => self.stdout(&line)?,
                Ok(Event::Stderr(line)) => self.stderr(&line)?,
                Ok(Event::StdoutEnd) => return self.ended(),
                Ok(Event::StderrEnd) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    let seconds = self.limit.map_or(0, |limit| limit.as_secs());
                    tell(&Message::TimedOut(seconds))?;
                    return self.ended();
                }
                Err(RecvTimeoutError::Disconnected) => return self.ended(),
            }
        }
    }

    fn next_event(&self) -> Result<Event, RecvTimeoutError> {
        match self.running.flatten() {
            Some(end) => {
                let left = end.saturating_duration_since(Instant::now());
                self.events.recv_timeout(left)
            }
            None => self
                .events
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// A line from evcxr to the cells' process.
    fn command(&mut self, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        if text.starts_with(RUN) && !text.trim_end().ends_with(FIRST_RUN) {
            self.running = Some(self.limit.map(|limit| Instant::now() + limit));
        }
        // A child that is gone is noticed by the end of its output.
        if let Some(stdin) = &mut self.child_stdin {
            let _ = stdin.write_all(line).and_then(|()| stdin.flush());
        }
        Ok(())
    }

    /// A line of the cells' standard output, of evcxr's protocol or of the cell itself.
    fn stdout(&mut self, line: &[u8]) -> io::Result<()> {
        let line = String::from_utf8_lossy(line);
        if self.running.is_none() {
            return pass(&line);
        }
        let text = line.strip_suffix('\n').unwrap_or(&line);
        for marker in [COMPLETE, PANIC, FAILED] {
            if let Some(before) = text.strip_suffix(marker) {
                self.block = None;
                self.stdout_text(before)?;
                return match marker {
                    COMPLETE => self.close_stderr(),
                    PANIC => tell(&Message::Panicked).and_then(|()| pass(marker)),
                    _ => tell(&Message::Failed).and_then(|()| pass(marker)),
                };
            }
        }
        if let Some((_, content)) = &mut self.block {
            if text != SHOWN {
                content.push_str(&line);
                return Ok(());
            }
            return self.end_block();
        }
        if let Some((before, media_type)) = text.split_once(SHOW) {
            self.stdout_text(before)?;
            let media_type = media_type.split(' ').next().unwrap_or_default();
            if self.bundle.contains_key(media_type) {
                self.show()?;
            }
            self.block = Some((media_type.to_owned(), String::new()));
            return Ok(());
        }
        if FOR_EVCXR.iter().any(|word| text.starts_with(word)) {
            return pass(&line);
        }
        self.stdout_text(&line)
    }

    fn stdout_text(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.show()?;
        tell(&Message::Stdout(text.to_owned()))
    }

    /// Blocks that follow each other are one display, up to the plain text, which comes last.
    fn end_block(&mut self) -> io::Result<()> {
        let Some((media_type, mut content)) = self.block.take() else {
            return Ok(());
        };
        // The line break before the end marker is the protocol's.
        content.pop();
        let last = media_type == "text/plain";
        self.bundle.insert(media_type, content);
        if last { self.show() } else { Ok(()) }
    }

    fn show(&mut self) -> io::Result<()> {
        let bundle = std::mem::take(&mut self.bundle);
        if bundle.is_empty() {
            return Ok(());
        }
        tell(&Message::Show(bundle))
    }

    fn stderr(&mut self, line: &[u8]) -> io::Result<()> {
        let line = String::from_utf8_lossy(line);
        if let Some(before) = line.strip_suffix(STDERR_END) {
            if !before.is_empty() {
                tell(&Message::Stderr(before.to_owned()))?;
            }
            self.running = None;
            return pass(COMPLETE);
        }
        if self.running.is_none() {
            eprint!("{line}");
            return Ok(());
        }
        tell(&Message::Stderr(line.into_owned()))
    }

    /// The cell has ended; evcxr is told when all of its standard error has been read as well.
    fn close_stderr(&mut self) -> io::Result<()> {
        self.show()?;
        self.running = Some(None);
        let mut pipe = self.child_stderr.try_clone()?;
        // In a thread: the pipe may be full, and this one empties it.
        thread::spawn(move || pipe.write_all(STDERR_END.as_bytes()));
        Ok(())
    }

    /// The child has closed its output: tells what is left and how it ended.
    fn ended(mut self) -> io::Result<ExitStatus> {
        self.child_stdin = None;
        let status = self.child.wait()?;
        drop(self.child_stderr);
        let end = Instant::now() + LAST_OUTPUT;
        let left = || end.saturating_duration_since(Instant::now());
        while let Ok(event) = self.events.recv_timeout(left()) {
            match event {
                Event::Stderr(line) => {
                    tell(&Message::Stderr(
                        String::from_utf8_lossy(&line).into_owned(),
                    ))?;
                }
                Event::StderrEnd => break,
                _ => {}
            }
        }
        if self.running.is_some() {
            let how = match (status.code(), status.signal()) {
                (Some(code), _) => format!("the cell's process ended with code {code}"),
                (None, Some(signal)) => format!("the cell's process was ended by signal {signal}"),
                (None, None) => "the cell's process ended".to_owned(),
            };
            tell(&Message::Ended(how))?;
        }
        Ok(status)
    }

    fn kill(&self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Sends every line of a stream, with its line break, then the end.
fn forward(
    stream: impl Read + Send + 'static,
    events: &SyncSender<Event>,
    event: fn(Vec<u8>) -> Event,
    end: Event,
) {
    let events = events.clone();
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            match stream.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) if events.send(event(line)).is_err() => return,
                Ok(_) => {}
            }
        }
        let _ = events.send(end);
    });
}

/// A line for evcxr itself.
fn pass(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.trim_end_matches('\n').as_bytes())?;
    stdout.write_all(b"\n")
}

/// A line that evcxr hands to the session.
fn tell(message: &Message) -> io::Result<()> {
    pass(&message.line())
}
