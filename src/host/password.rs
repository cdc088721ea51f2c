//! A password that leaves ktrial only for the standard input of a program that asks for it.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Longest password in bytes; sudo reads no longer one.
const LIMIT: usize = 1023;

/// A password. Clones share it; its memory is zeroed when the last one is dropped, and Debug does not show it.
#[derive(Clone)]
pub struct Password(Arc<Zeroizing<Vec<u8>>>);

impl Password {
    /// Takes a password as it was typed, without the line's end.
    ///
    /// # Errors
    /// `Usage` when it is empty, longer than 1023 bytes, or holds a line end or a NUL byte: no program could read it
    /// from a line.
    pub fn new(typed: Zeroizing<Vec<u8>>) -> Result<Password> {
        let is_line = !typed.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0));
        if typed.is_empty() || typed.len() > LIMIT || !is_line {
            return Err(Error::usage(
                "a password has 1 to 1023 bytes and neither a line end nor a NUL byte in it",
            ));
        }
        Ok(Password(Arc::new(typed)))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Result<Password> {
        Password::new(Zeroizing::new(text.as_bytes().to_vec()))
    }

    #[test]
    fn it_is_one_line_and_is_not_shown() {
        let secret = password("s3cret \u{e9}").unwrap();
        assert_eq!(format!("{secret:?}"), "Password");
        for text in ["", "a\nb", "a\r", "a\0", &"x".repeat(LIMIT + 1)] {
            let error = password(text).unwrap_err();
            assert!(text.is_empty() || !error.report().contains("xxx"));
        }
    }
}
