//! Root on the hosts of a run: the way that was found for each, and the one password for all.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::host::{Host, Password, Way, as_root};

use super::Ways;

/// How hosts become root's; whoever connects does so through it.
pub(super) struct Roots<'a> {
    ways: &'a Ways<'a>,
    found: Mutex<BTreeMap<String, Way>>,
    password: Mutex<Asked>,
}

/// What became of the question.
enum Asked {
    NotYet,
    Given(Password),
    /// Nobody answered, or nobody is asked any more.
    Never,
}

impl<'a> Roots<'a> {
    pub(super) fn new(ways: &'a Ways<'a>) -> Roots<'a> {
        Roots {
            ways,
            found: Mutex::default(),
            password: Mutex::new(Asked::NotYet),
        }
    }

    /// Reaches a host as root.
    pub(super) fn connect(&self, name: &str) -> Result<Box<dyn Host>> {
        let host = (self.ways.connect)(name)?;
        let kept = lock(&self.found).get(name).cloned();
        let ask = |name: &str| self.password(name);
        let ask = self.ways.password.is_some().then_some(&ask as _);
        let (host, way) = as_root(host, kept.as_ref(), ask)?;
        lock(&self.found).insert(name.to_owned(), way);
        Ok(host)
    }

    /// From now on nobody is asked: trials are running.
    pub(super) fn ask_no_more(&self) {
        let mut asked = lock(&self.password);
        if let Asked::NotYet = *asked {
            *asked = Asked::Never;
        }
    }

    /// The password for all hosts. The first that needs it asks for it; the others wait for the answer.
    fn password(&self, name: &str) -> Result<Password> {
        let mut asked = lock(&self.password);
        match (&*asked, self.ways.password) {
            (Asked::Given(password), _) => Ok(password.clone()),
            (Asked::NotYet, Some(ask)) => {
                let answer = ask(name);
                *asked = match &answer {
                    Ok(password) => Asked::Given(password.clone()),
                    Err(_) => Asked::Never,
                };
                answer
            }
            _ => Err(Error::new(
                ErrorKind::HostStable,
                format!("{name}: sudo asks for a password, and none was given"),
            )
            .next("run again and type it when ktrial asks, before the first trial")),
        }
    }
}

/// A thread that panicked left it whole: it changes in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
