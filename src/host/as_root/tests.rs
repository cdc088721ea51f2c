//! The ways to root with a `sudo` and a `su` that behave as the real ones do, on whatever machine the tests run.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::host::scripted::{ScriptedClock, ScriptedHost};
use crate::host::{Exit, Local, signal_group};
use crate::run::Cancel;

const SOON: Duration = Duration::from_secs(60);

/// sudo(8) as far as ktrial sees it: `-n`, `-S`, `-p`, at most three tries, and what it says.
const SUDO: &str = r#"#!/bin/sh
folder=${0%/*}; n=; prompt='[sudo] password for kdevops: '
echo "$*" >>"$folder/arguments"
while :; do
    case $1 in
    -n) n=1; shift ;;
    -S) shift ;;
    -p) prompt=$2; shift 2 ;;
    *) break ;;
    esac
done
password=; allows=any; says=; lectures=; tries=3; root=1; expired=
. "$folder/rules"
[ -z "$says" ] || { echo "sudo: $says" >&2; exit 1; }
if [ -n "$password" ]; then
    [ -z "$n" ] || { echo 'sudo: a password is required' >&2; exit 1; }
    [ -z "$lectures" ] || echo 'We trust you have received the usual lecture.' >&2
    tried=0
    while :; do
        printf %s "$prompt" >&2
        if ! IFS= read -r typed; then
            printf '\nsudo: no password was provided\nsudo: %s incorrect password attempt\n' "$tried" >&2
            exit 1
        fi
        echo "$typed" >>"$folder/typed"
        tried=$((tried + 1))
        [ "$typed" != "$password" ] || break
        [ "$tried" != "$tries" ] || { echo "sudo: $tried incorrect password attempts" >&2; exit 1; }
        echo 'Sorry, try again.' >&2
    done
fi
if [ -n "$expired" ]; then
    printf 'sudo: Account or password is expired, reset your password and try again\n%s' 'Current: ' >&2
    read -r typed
    exit 1
fi
case $allows-$1 in
any-* | su-su) ;;
none-*) echo 'Sorry, user kdevops may not run sudo on h.' >&2; exit 1 ;;
*) echo "Sorry, user kdevops is not allowed to execute '$*' as root on h." >&2; exit 1 ;;
esac
KT_ROOT=$root; export KT_ROOT
exec "$@"
"#;

/// su(1) for `su - -c COMMAND`, with the files of a login shell that print.
const SU: &str = r#"#!/bin/sh
[ -n "$KT_ROOT" ] && [ "$1$2" = --c ] || { echo 'su: Authentication failure' >&2; exit 1; }
echo 'Welcome, root'; printf 'mail for you' >&2
sh -c "$3"
"#;

/// id(1) for `id -u`.
const ID: &str = "#!/bin/sh\n[ -z \"$KT_ROOT\" ] && echo 1000 || echo 0\n";

/// This machine, with these programs before its own.
#[derive(Clone)]
struct Faked(PathBuf);

impl Faked {
    /// `rules` are assignments: `password`, `allows` (any, su, none), `says`, `lectures`, `tries`, `root`, `expired`.
    fn with(folder: &tempfile::TempDir, rules: &str) -> Faked {
        for (name, text) in [("sudo", SUDO), ("su", SU), ("id", ID)] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(folder.path().join("rules"), rules).unwrap();
        Faked(folder.path().to_owned())
    }

    fn script(&self, script: &str) -> String {
        format!("PATH='{}':$PATH\n{script}", self.0.display())
    }

    fn said(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_default()
    }
}

impl Host for Faked {
    fn name(&self) -> &str {
        "h"
    }

    fn exec_fed(&self, script: &str, input: &[u8], deadline: Duration) -> Result<Output> {
        Local.exec_fed(&self.script(script), input, deadline)
    }

    fn spawn_fed(&self, script: &str, input: &[u8]) -> Result<Box<dyn Running>> {
        Local.spawn_fed(&self.script(script), input)
    }

    fn spawn_open(&self, script: &str) -> Result<Box<dyn Running>> {
        Local.spawn_open(&self.script(script))
    }
}

fn password(text: &str) -> Password {
    Password::new(Zeroizing::new(text.as_bytes().to_vec())).unwrap()
}

/// Becomes root by these rules; the user types `typed`. How often it was asked is the last part.
type Became = Result<(Box<dyn Host>, Way)>;

fn become_root(host: &Faked, typed: &str) -> (Became, usize) {
    let asked = Cell::new(0);
    let ask = |name: &str| {
        assert_eq!(name, "h");
        asked.set(asked.get() + 1);
        Ok(password(typed))
    };
    let rooted = as_root(Box::new(host.clone()), None, Some(&ask));
    (rooted, asked.get())
}

fn rooted_by(host: &Faked, typed: &str) -> (Box<dyn Host>, Way) {
    become_root(host, typed).0.unwrap()
}

/// Every way, with the number of questions that it takes.
const WAYS: [(&str, Door, usize); 6] = [
    ("allows=any", Door::Sudo, 0),
    ("allows=su", Door::Su, 0),
    ("password=pw", Door::Sudo, 1),
    ("password=pw; allows=su", Door::Su, 1),
    ("password=pw; lectures=1", Door::Sudo, 1),
    ("password=pw; tries=1", Door::Sudo, 1),
];

#[test]
fn each_way_runs_scripts_and_their_input_as_root() {
    let text = "it's \"$HOME\" `id` \\ <<'E'\nE\n\t$(x) \u{e9}!";
    let script = format!(
        "printf %s {}; id -u; cat; echo no >&2; exit 7",
        shlex::try_quote(text).unwrap()
    );
    for (rules, door, questions) in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let host = Faked::with(&folder, rules);
        let (rooted, asked) = become_root(&host, "pw");
        let (rooted, way) = rooted.unwrap();
        assert_eq!((way.door, asked), (door, questions), "{rules}");
        for input in ["", "pw\nof the script's own\n\n"] {
            let output = rooted.exec_fed(&script, input.as_bytes(), SOON).unwrap();
            let own = format!("{text}0\n{input}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), own, "{rules}");
            assert_eq!(output.stderr, b"no\n", "{rules}");
            assert_eq!(output.exit, Exit::Code(7), "{rules}");
        }
        let mut running = rooted.spawn_open("cat").unwrap();
        running.feed(b"late ");
        running.feed(b"input");
        running.end_input();
        let output = collect("h", SOON, |timeout| running.next(timeout)).unwrap();
        assert_eq!(output.stdout, b"late input", "{rules}");
        let arguments = host.said("arguments");
        assert!(!arguments.contains("pw") && !arguments.contains("HOME"));
        // The next connection goes the way that was found.
        let before = arguments.lines().count();
        let (again, _) = as_root(Box::new(host.clone()), Some(&way), None).unwrap();
        assert_eq!(again.exec("id -u", SOON).unwrap().stdout, b"0\n");
        assert_eq!(host.said("arguments").lines().count(), before + 2);
    }
}

#[test]
fn a_password_that_nobody_asks_for_goes_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let host = Faked::with(&folder, "password=pw");
    let (rooted, _) = rooted_by(&host, "pw");
    // As with a ticket that sudo has kept.
    fs::write(folder.path().join("rules"), "allows=any").unwrap();
    let output = rooted.exec_fed("cat", b"input", SOON).unwrap();
    assert_eq!(output.stdout, b"input");
}

#[test]
fn a_password_of_pam_s_own_prompt_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let host = Faked::with(&folder, "password=pw; prompt='LDAP Password: '");
    let (rooted, _) = rooted_by(&host, "pw");
    assert_eq!(rooted.exec("id -u", SOON).unwrap().stdout, b"0\n");
}

#[test]
fn a_wrong_password_is_tried_once() {
    for rules in [
        "password=right",
        "password=right; tries=1",
        "password=right; allows=su",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let host = Faked::with(&folder, rules);
        let (rooted, asked) = become_root(&host, "wrong");
        let error = rooted.err().unwrap();
        assert_eq!((error.kind(), asked), (ErrorKind::HostStable, 1));
        let report = error.report();
        assert!(
            report.contains("h: ") && report.contains("refused the password"),
            "{report}"
        );
        assert!(report.contains("incorrect password"), "{report}");
        assert!(!report.contains("wrong") && !report.contains("ktrial-"));
        assert_eq!(host.said("typed"), "wrong\n");
    }
}

#[test]
fn a_password_that_is_refused_later_is_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let host = Faked::with(&folder, "password=pw");
    let (rooted, way) = rooted_by(&host, "pw");
    fs::remove_file(folder.path().join("typed")).unwrap();
    fs::write(folder.path().join("rules"), "password=changed").unwrap();
    for _ in 0..2 {
        let error = rooted.exec_fed("cat", b"input", SOON).unwrap_err();
        assert!(error.report().contains("refused"), "{error:?}");
        assert!(as_root(Box::new(host.clone()), Some(&way), None).is_err());
    }
    assert_eq!(host.said("typed"), "pw\n");
    assert!(!format!("{way:?}").contains("pw"), "{way:?}");
}

#[test]
fn refusals_are_explained_and_a_question_is_asked_only_where_it_may_help() {
    for (rules, meaning) in [
        ("allows=none", "not in sudoers"),
        ("allows=other", "neither any command nor"),
        (
            "says='sorry, you must have a tty to run sudo'",
            "requiretty",
        ),
        (
            "says='Password expired, contact your system administrator'",
            "passwd",
        ),
        ("allows=su; root=", "su does not"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let host = Faked::with(&folder, rules);
        let (rooted, asked) = become_root(&host, "pw");
        let error = rooted.err().unwrap();
        assert_eq!((error.kind(), asked), (ErrorKind::HostStable, 0), "{rules}");
        assert!(error.report().contains(meaning), "{rules}: {error:?}");
    }
    for (rules, meaning) in [
        ("password=pw; allows=none", "not in sudoers"),
        ("password=pw; expired=1", "has expired"),
        ("password=pw; allows=su; root=", "su does not"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (rooted, asked) = become_root(&Faked::with(&folder, rules), "pw");
        let error = rooted.err().unwrap();
        assert_eq!((error.kind(), asked), (ErrorKind::HostStable, 1), "{rules}");
        assert!(error.report().contains(meaning), "{rules}: {error:?}");
    }
}

#[test]
fn without_anybody_to_ask_the_error_says_how() {
    let folder = tempfile::tempdir().unwrap();
    let host = Faked::with(&folder, "password=pw");
    let error = as_root(Box::new(host), None, None).err().unwrap();
    let report = error.report();
    for word in ["terminal", "NOPASSWD", "User root"] {
        assert!(report.contains(word), "{report}");
    }
}

#[test]
fn the_longest_script_passes_and_a_longer_one_is_refused() {
    let script = |size: usize| format!("echo {}", "'".repeat(2) + &"x".repeat(size - 7));
    for rules in ["allows=any", "password=pw"] {
        let folder = tempfile::tempdir().unwrap();
        let (rooted, _) = rooted_by(&Faked::with(&folder, rules), "pw");
        let run = |script: &str| rooted.exec(script, SOON);
        let output = run(&script(SCRIPT_LIMIT)).unwrap();
        assert_eq!(output.stdout.len(), SCRIPT_LIMIT - 6);
        let error = run(&script(SCRIPT_LIMIT + 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(run("echo \0").is_err());
        let long = vec![b'x'; INPUT_LIMIT + 1];
        let error = rooted.exec_fed("cat", &long, SOON).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let input = long.get(1..).unwrap();
        let output = rooted.exec_fed("wc -c", input, SOON).unwrap();
        let counted = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert_eq!(counted, INPUT_LIMIT.to_string());
    }
}

#[test]
fn the_group_that_is_told_is_the_script_s_own_and_ends_by_a_signal() {
    for (rules, ..) in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let (rooted, _) = rooted_by(&Faked::with(&folder, rules), "pw");
        let mut running = rooted.spawn("echo $$; sleep 1000 & wait").unwrap();
        let group = running.group();
        let end = after(SOON);
        let mut said = Vec::new();
        while said.is_empty() && !left(end).is_zero() {
            if let Event::Stdout(bytes) = running.next(left(end)).unwrap() {
                said = bytes;
            }
        }
        assert_eq!(String::from_utf8_lossy(&said), format!("{group}\n"));
        signal_group(rooted.as_ref(), group, "TERM").unwrap();
        loop {
            match running.next(left(end)).unwrap() {
                Event::Ended(exit) => break assert_ne!(exit, Exit::Code(0)),
                _ => assert!(!left(end).is_zero()),
            }
        }
        // Gone by now, which is no error.
        signal_group(rooted.as_ref(), group, "KILL").unwrap();
    }
}

#[test]
fn sudo_that_runs_nothing_any_more_is_told_with_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let host = Faked::with(&folder, "allows=any");
    let (rooted, _) = rooted_by(&host, "pw");
    fs::write(folder.path().join("rules"), "says='unable to resolve host'").unwrap();
    for error in [
        rooted.exec("true", SOON).unwrap_err(),
        rooted.spawn("true").err().unwrap(),
    ] {
        assert!(error.report().contains("unable to resolve"), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::HostStable);
    }
}

#[test]
fn a_login_of_root_s_stays_as_it_is_and_another_needs_sudo() {
    let said = |answer: &str| {
        let host = ScriptedHost::new("h", &ScriptedClock::default(), &Cancel::default());
        host.answer("# root, or the way to it", answer, 0);
        let rooted = as_root(Box::new(host.clone()), None, None);
        rooted.map(|(rooted, _)| {
            // The scripted host says no fence: what goes through sudo fails here.
            rooted.exec("true", DEADLINE).is_ok()
        })
    };
    assert!(said("root\n").unwrap());
    assert!(!said("sudo\n").unwrap());
    assert!(!said("su\n").unwrap());
    for answer in ["", "1000\n"] {
        let error = said(answer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostStable);
        assert!(error.report().contains("User root"), "{error:?}");
    }
}

#[test]
fn the_real_sudo_runs_scripts_of_root_s() {
    let id = Local.exec("id -u; sudo -n true", SOON).unwrap();
    if !id.exit.ok() || id.stdout != b"0\n" {
        eprintln!("skipped: sudo is missing, or the tests do not run as root");
        return;
    }
    for (door, password) in [
        (Door::Sudo, None),
        (Door::Su, None),
        (Door::Sudo, Some(password("unread"))),
        (Door::Su, Some(password("unread"))),
    ] {
        let rooted = AsRoot {
            host: Box::new(Local),
            way: Way::new(door, password),
        };
        let output = rooted.exec_fed("id -u; cat", b"input", SOON).unwrap();
        assert_eq!(output.stdout, b"0\ninput", "{door:?}");
    }
}
