//! A host for tests: answers by what a script contains, on time that passes only when somebody waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Event, Exit, Host, Output, Running};
use crate::error::{Error, ErrorKind, Result};
use crate::run::Clock;

/// Time that passes only by waiting.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScriptedClock(Arc<AtomicU64>);

impl Clock for ScriptedClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, time: Duration) {
        self.0
            .fetch_add(time.as_millis().max(1) as u64, Ordering::SeqCst);
    }
}

/// What a scripted stream does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Says this on standard output.
    Out(&'static str),
    /// Says this on standard error.
    Err(&'static str),
    /// Is quiet for a time.
    Wait(Duration),
    /// Calls this, such as a cancel.
    Do(fn(&ScriptedHost)),
    /// The connection breaks, for everything on the host.
    Break,
    /// Ends.
    End(Exit),
}

/// How a stream goes: by itself, and after a signal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Play {
    pub(crate) steps: Vec<Step>,
    /// After the first signal that it minds; empty means that it ends by the signal.
    pub(crate) on_signal: Vec<Step>,
    /// Signals that change nothing.
    pub(crate) deaf_to: Vec<&'static str>,
}

impl Play {
    pub(crate) fn new(steps: impl Into<Vec<Step>>) -> Play {
        Play {
            steps: steps.into(),
            ..Play::default()
        }
    }
}

#[derive(Debug)]
struct Stream {
    group: i32,
    play: Play,
    steps: VecDeque<Step>,
    until: Option<Duration>,
}

/// The host. Clones are the same host.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedHost(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    pub(crate) clock: ScriptedClock,
    answers: Mutex<Vec<(&'static str, Output)>>,
    lost_after: Mutex<Option<&'static str>>,
    plays: Mutex<Vec<(&'static str, VecDeque<Play>)>>,
    streams: Mutex<Vec<Arc<Mutex<Stream>>>>,
    log: Mutex<Vec<String>>,
    scripts: Mutex<Vec<String>>,
    inputs: Mutex<Vec<Vec<u8>>>,
    broken: AtomicBool,
    groups: AtomicI32,
    flag: crate::run::Cancel,
}

impl ScriptedHost {
    pub(crate) fn new(
        name: &str,
        clock: &ScriptedClock,
        flag: &crate::run::Cancel,
    ) -> ScriptedHost {
        ScriptedHost(Arc::new(Inner {
            name: name.to_owned(),
            clock: clock.clone(),
            answers: Mutex::default(),
            lost_after: Mutex::default(),
            plays: Mutex::default(),
            streams: Mutex::default(),
            log: Mutex::default(),
            scripts: Mutex::default(),
            inputs: Mutex::default(),
            broken: AtomicBool::new(false),
            groups: AtomicI32::new(100),
            flag: flag.clone(),
        }))
    }

    /// Answers `exec` of a script that contains the text; the first that fits counts. Others end with code 0.
    pub(crate) fn answer(&self, contains: &'static str, stdout: &str, code: i32) {
        self.0.answers.lock().unwrap().push((
            contains,
            Output {
                exit: Exit::Code(code),
                stdout: stdout.into(),
                stderr: Vec::new(),
            },
        ));
    }

    /// As [`ScriptedHost::answer`] with code 0, before what was said until now.
    pub(crate) fn answer_first(&self, contains: &'static str, stdout: &str) {
        self.insert(contains, stdout, "");
    }

    /// As [`ScriptedHost::answer_first`], on standard error.
    pub(crate) fn say_first(&self, contains: &'static str, stderr: &str) {
        self.insert(contains, "", stderr);
    }

    fn insert(&self, contains: &'static str, stdout: &str, stderr: &str) {
        let output = Output {
            exit: Exit::Code(0),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        let mut answers = self.0.answers.lock().unwrap();
        answers.insert(0, (contains, output));
    }

    /// As [`ScriptedHost::answer`], on standard error.
    pub(crate) fn say(&self, contains: &'static str, stderr: &str, code: i32) {
        let output = Output {
            exit: Exit::Code(code),
            stdout: Vec::new(),
            stderr: stderr.into(),
        };
        self.0.answers.lock().unwrap().push((contains, output));
    }

    /// The connection breaks after a script that contains the text.
    pub(crate) fn lose_after(&self, contains: &'static str) {
        *self.0.lost_after.lock().unwrap() = Some(contains);
    }

    /// Plays `spawn` of scripts that contain the text, one play a time, the last one again and again.
    pub(crate) fn play(&self, contains: &'static str, plays: impl IntoIterator<Item = Play>) {
        let plays = plays.into_iter().collect();
        self.0.plays.lock().unwrap().push((contains, plays));
    }

    /// What was asked, in short: the first line of scripts that were run.
    pub(crate) fn log(&self) -> Vec<String> {
        self.0.log.lock().unwrap().clone()
    }

    /// The whole of those scripts that contain the text.
    pub(crate) fn scripts(&self, contains: &str) -> Vec<String> {
        let scripts = self.0.scripts.lock().unwrap();
        let found = scripts.iter().filter(|script| script.contains(contains));
        found.cloned().collect()
    }

    /// What scripts were given to read, in the order in which it came.
    pub(crate) fn inputs(&self) -> Vec<Vec<u8>> {
        self.0.inputs.lock().unwrap().clone()
    }

    /// So many seconds pass.
    pub(crate) fn pass(&self, seconds: u64) {
        self.0.clock.sleep(Duration::from_secs(seconds));
    }

    /// Sets the flag that the test gave.
    pub(crate) fn raise_flag(&self) {
        self.0.flag.cancel();
    }

    /// The host is back.
    pub(crate) fn mend(&self) {
        self.0.broken.store(false, Ordering::SeqCst);
    }

    fn check(&self) -> Result<()> {
        if self.0.broken.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::HostTransient, "connection reset"));
        }
        Ok(())
    }

    fn signal(&self, script: &str) -> bool {
        let Some(rest) = script.strip_prefix("kill -") else {
            return false;
        };
        let (signal, group) = rest.split_once(" -").unwrap();
        for stream in self.0.streams.lock().unwrap().iter() {
            let mut stream = stream.lock().unwrap();
            if stream.group.to_string() != group || stream.play.deaf_to.contains(&signal) {
                continue;
            }
            let number = match signal {
                "INT" => 2,
                "TERM" => 15,
                _ => 9,
            };
            stream.until = None;
            stream.steps = match stream.play.on_signal.as_slice() {
                [] => [Step::End(Exit::Signal(number))].into(),
                steps => steps.to_vec().into(),
            };
        }
        true
    }
}

impl Host for ScriptedHost {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn exec_fed(&self, script: &str, input: &[u8], _: Duration) -> Result<Output> {
        self.check()?;
        if let Some(text) = *self.0.lost_after.lock().unwrap() {
            let lost = script.contains(text);
            self.0.broken.fetch_or(lost, Ordering::SeqCst);
        }
        let first = script.lines().next().unwrap_or_default();
        self.0.log.lock().unwrap().push(first.to_owned());
        self.0.scripts.lock().unwrap().push(script.to_owned());
        self.0.inputs.lock().unwrap().push(input.to_vec());
        let answers = self.0.answers.lock().unwrap();
        let fits = answers
            .iter()
            .find(|(text, _)| told_by(script).contains(text));
        if let (false, Some((_, output))) = (self.signal(script), fits) {
            return Ok(output.clone());
        }
        Ok(Output {
            exit: Exit::Code(0),
            stdout: match first {
                // Its login is root's unless a test says otherwise.
                "# root, or the way to it" => b"root\n".to_vec(),
                "# where trials are" => b"/var/tmp/ktrial-0\n".to_vec(),
                "# start the trial" => b"started 7\n".to_vec(),
                _ => Vec::new(),
            },
            stderr: Vec::new(),
        })
    }

    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>> {
        self.spawn_fed(script, &[])
    }

    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>> {
        self.check()?;
        let first = script.lines().next().unwrap_or_default();
        self.0.log.lock().unwrap().push(first.to_owned());
        self.0.scripts.lock().unwrap().push(script.to_owned());
        self.0.inputs.lock().unwrap().push(input.to_vec());
        let mut plays = self.0.plays.lock().unwrap();
        let fits = plays
            .iter_mut()
            .find(|(text, _)| told_by(script).contains(*text));
        let play = match fits {
            Some((_, queue)) if queue.len() > 1 => queue.pop_front().unwrap(),
            Some((_, queue)) => queue.front().unwrap().clone(),
            None => Play::new([Step::End(Exit::Code(0))]),
        };
        let stream = Arc::new(Mutex::new(Stream {
            group: self.0.groups.fetch_add(1, Ordering::SeqCst),
            steps: play.steps.clone().into(),
            play,
            until: None,
        }));
        self.0.streams.lock().unwrap().push(stream.clone());
        Ok(Box::new(ScriptedRunning {
            host: self.clone(),
            stream,
        }))
    }
}

/// What tells a script from others: its first line where that says it all, as the rest holds much of everything.
fn told_by(script: &str) -> &str {
    let first = script.lines().next().unwrap_or_default();
    match first.ends_with(" the trial") {
        true => first,
        false => script,
    }
}

struct ScriptedRunning {
    host: ScriptedHost,
    stream: Arc<Mutex<Stream>>,
}

impl Running for ScriptedRunning {
    fn group(&self) -> i32 {
        self.stream.lock().unwrap().group
    }

    fn feed(&mut self, bytes: &[u8]) {
        let mut inputs = self.host.0.inputs.lock().unwrap();
        inputs.push(bytes.to_vec());
    }

    fn end_input(&mut self) {}

    fn next(&mut self, timeout: Duration) -> Result<Event> {
        let clock = &self.host.0.clock;
        let mut stream = self.stream.lock().unwrap();
        loop {
            self.host.check()?;
            let Some(step) = stream.steps.front().cloned() else {
                clock.sleep(timeout);
                return Ok(Event::Quiet);
            };
            if let Step::Wait(time) = step {
                let until = *stream.until.get_or_insert(clock.now() + time);
                if clock.now() < until {
                    clock.sleep(timeout);
                    return Ok(Event::Quiet);
                }
                stream.until = None;
            }
            stream.steps.pop_front();
            match step {
                Step::Out(text) => return Ok(Event::Stdout(text.into())),
                Step::Err(text) => return Ok(Event::Stderr(text.into())),
                Step::End(exit) => return Ok(Event::Ended(exit)),
                Step::Break => self.host.0.broken.store(true, Ordering::SeqCst),
                Step::Do(call) => call(&self.host),
                Step::Wait(_) => {}
            }
        }
    }
}
