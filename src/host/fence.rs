//! The line after which a stream is the script's own: banners, motd and chatty shell start-up files come before.

use std::hash::{BuildHasher, RandomState};

/// Makes the shell's own process the leader of a process group, unless it is one, then runs [`FENCED`], whose words
/// (quoted), sentinel and script follow. Field 5 of /proc/PID/stat is the process group; proc(5).
const LEAD: &str = "read -r pid name state parent group rest </proc/$$/stat; \
    case $group in $$) leader= ;; *) leader=setsid ;; esac; \
    exec $leader sh -c";

/// Tells the fence on both outputs, then becomes the script.
const FENCED: &str =
    r#"printf '\n%s %s\n' "$0" "$$"; printf '\n%s %s\n' "$0" "$$" >&2; exec sh -c "$1""#;

/// What a login shell is asked to run for a script without input: [`unfed`] is this sh's input.
/// Its words mean the same to every shell (sh, csh, fish), as those of [`SH_FED`] do.
pub(super) const SH: &str = "exec env LC_ALL=C sh";

/// What a login shell is asked to run for a script with input: [`fed`] and the input are this sh's input.
/// It takes one line from there and not a byte more, where a sh that reads its own script takes blocks.
pub(super) const SH_FED: &str = r#"exec env LC_ALL=C sh -c 'read -r line; eval "$line"'"#;

/// What [`SH`] reads to run a script without input.
///
/// # Errors
/// When the script holds a NUL byte.
pub(super) fn unfed(sentinel: &str, script: &str) -> Result<String, shlex::QuoteError> {
    let (fenced, script) = (shlex::try_quote(FENCED)?, shlex::try_quote(script)?);
    Ok(format!("{LEAD} {fenced} {sentinel} {script} </dev/null\n"))
}

/// What [`SH_FED`] reads to run a script; what follows is the script's input, unless it has none.
///
/// # Errors
/// When the script holds a NUL byte.
pub(super) fn fed(
    sentinel: &str,
    script: &str,
    has_input: bool,
) -> Result<String, shlex::QuoteError> {
    let fenced = shlex::try_quote(FENCED)?;
    // Refuses a NUL byte, as `unfed` does.
    shlex::try_quote(script)?;
    let input = if has_input { "" } else { " </dev/null" };
    // `read` takes byte by byte from what is no file. The line's end is made, since this must be one line.
    Ok(format!(
        "script=; end=$(printf '\\nx'); end=${{end%x}}; while IFS= read -r line; do \
         case $line in {sentinel}) break ;; esac; script=$script$line$end; done; \
         {LEAD} {fenced} {sentinel} \"$script\"{input}\n{script}\n{sentinel}\n"
    ))
}

/// Most bytes before the fence; more is no greeting.
const NOISE_LIMIT: usize = 1 << 20;

/// A word that no greeting can hold, since it is drawn at random for each command.
pub(super) fn sentinel() -> String {
    let random = || RandomState::new().hash_one(());
    format!("ktrial-{:016x}{:016x}", random(), random())
}

/// Takes the bytes of one stream and gives those after the line `SENTINEL GROUP`.
pub(super) struct Fence {
    start: Vec<u8>,
    noise: Vec<u8>,
    group: Option<i32>,
}

/// The fence did not come within [`NOISE_LIMIT`], or was not whole.
pub(super) struct NoFence;

impl Fence {
    pub(super) fn new(sentinel: &str) -> Fence {
        Fence {
            start: format!("\n{sentinel} ").into_bytes(),
            noise: Vec::new(),
            group: None,
        }
    }

    /// The process group that the fence told; none before it has come.
    pub(super) fn group(&self) -> Option<i32> {
        self.group
    }

    /// What follows the fence in an output that came whole; none without a fence.
    pub(super) fn last(mut self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let own = self.pass(bytes).ok()?;
        self.group.is_some().then_some(own)
    }

    /// What came instead of the fence.
    pub(super) fn noise(&self) -> &[u8] {
        &self.noise
    }

    /// The bytes that are the script's own.
    pub(super) fn pass(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, NoFence> {
        if self.group.is_some() {
            return Ok(bytes);
        }
        let seen = self.noise.len();
        self.noise.extend(bytes);
        // What was searched before cannot hold a whole fence: a line end is what is missing.
        let from = seen.saturating_sub(self.start.len() + 16);
        let found = self.noise.get(from..).and_then(|recent| {
            recent
                .windows(self.start.len())
                .position(|window| window == self.start)
        });
        let number = found.map(|at| from + at + self.start.len());
        let line = number.and_then(|at| self.noise.get(at..));
        let end = line.and_then(|line| line.iter().position(|b| *b == b'\n'));
        if let (Some(line), Some(end)) = (line, end) {
            let (group, after) = line.split_at(end);
            let group = std::str::from_utf8(group).ok().and_then(|t| t.parse().ok());
            // Group 1 is init's, and less is none: no signal could be sent there.
            let group = group.filter(|group| *group > 1);
            let after = after.get(1..).unwrap_or_default().to_vec();
            self.group = Some(group.ok_or(NoFence)?);
            self.noise = Vec::new();
            return Ok(after);
        }
        if self.noise.len() > NOISE_LIMIT {
            return Err(NoFence);
        }
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::host::{Host, Local};
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_script_comes_through_the_shell_as_it_is(text in "[^\0]{0,80}") {
            let script = format!("printf %s {}; cat", shlex::try_quote(&text).unwrap());
            let input = format!("{text}\n\nend");
            let with_input = fed("S", &script, true).unwrap() + &input;
            for (sh, said, own) in [
                (SH, unfed("S", &script).unwrap(), text.clone()),
                (SH_FED, fed("S", &script, false).unwrap(), text.clone()),
                (SH_FED, with_input, text.clone() + &input),
            ] {
                let output = Local.exec_fed(sh, said.as_bytes(), Duration::from_secs(60)).unwrap();
                let mut fence = Fence::new("S");
                let found = fence.pass(output.stdout).ok().unwrap();
                prop_assert_eq!(String::from_utf8_lossy(&found), own);
                prop_assert!(fence.group().is_some_and(|group| group > 1));
            }
        }
    }

    #[test]
    fn only_what_follows_the_fence_passes() {
        let text = b"motd\nxS 1\nS\nS\n\nS 42\n\nS 43\nown";
        for size in 1..=text.len() {
            let mut fence = Fence::new("S");
            let mut own = Vec::new();
            for chunk in text.chunks(size) {
                own.extend(fence.pass(chunk.to_vec()).ok().unwrap());
            }
            assert_eq!(fence.group(), Some(42));
            assert_eq!(own, b"\nS 43\nown");
        }
    }

    #[test]
    fn a_stream_without_a_fence_is_given_up() {
        let mut fence = Fence::new("S");
        assert!(fence.pass(vec![b'x'; NOISE_LIMIT]).is_ok());
        assert!(fence.pass(vec![b'x']).is_err());
        for group in ["x", "1", "0", "-7", ""] {
            let line = format!("\nS {group}\n").into_bytes();
            assert!(Fence::new("S").pass(line).is_err(), "{group}");
        }
    }

    #[test]
    fn sentinels_differ() {
        assert_ne!(sentinel(), sentinel());
    }
}
