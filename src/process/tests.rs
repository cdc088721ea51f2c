use super::*;
use std::process::Stdio;

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn text_from_outside_cannot_drive_the_terminal() {
    assert_eq!(shown(b"a\n\x1b[31mb\xc3\xa9"), "a \\u{1b}[31mb\\u{e9}");
    assert_eq!(shown(&[b'x'; 5000]).len(), 300);
}

#[test]
fn both_outputs_and_the_end_are_seen() {
    let output = run(&mut sh("echo out; echo err >&2; exit 3"), Duration::MAX).unwrap();
    assert_eq!(output.exit, Exit::Code(3));
    assert_eq!(output.stdout, b"out\n");
    assert_eq!(output.stderr, b"err\n");
    let output = run(&mut sh("kill -TERM $$"), Duration::MAX).unwrap();
    assert_eq!(output.exit, Exit::Signal(15));
}

#[test]
fn what_outlives_its_deadline_is_ended_with_its_children() {
    let mut command = sh("sleep 1000 & echo $!; wait");
    command.stdout(Stdio::piped());
    let mut child = Child::spawn(&mut command).unwrap();
    let Event::Stdout(bytes) = child.next(Duration::from_secs(20)).unwrap() else {
        panic!("no process id");
    };
    let sleeper: i32 = String::from_utf8(bytes).unwrap().trim().parse().unwrap();
    assert_eq!(child.next(Duration::ZERO).unwrap(), Event::Quiet);
    drop(child);
    // Gone, or a zombie that waits for init; a killed process needs a moment to be either.
    let ended = || {
        let state = std::fs::read_to_string(format!("/proc/{sleeper}/stat"));
        state.map_or(true, |state| state.contains(") Z "))
    };
    let limit = after(Duration::from_secs(20));
    while !ended() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(ended());
}

#[test]
fn too_much_output_is_an_error() {
    let error = run(&mut sh("cat /dev/zero"), Duration::from_secs(60)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostStable);
}

#[test]
fn a_deadline_is_kept() {
    let error = run(&mut sh("sleep 1000"), Duration::from_millis(20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostTransient);
}
