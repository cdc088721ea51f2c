//! stub
use std::time::Duration;
use ktrial_agent::Spec;
use crate::experiment::{Experiment, PlannedTrial};
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind { Agent, Shell }
impl Kind {
    /// The word for it.
    pub fn word(self) -> &'static str { match self { Kind::Agent => "agent", Kind::Shell => "shell" } }
    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Kind> { [Kind::Agent, Kind::Shell].into_iter().find(|kind| kind.word() == word) }
}
pub struct Supervisor<'a> { pub kind: Kind, pub program: &'a str, pub folder: &'a str }
impl Supervisor<'_> {
    pub fn start(&self, _: &Spec) -> String { String::new() }
    pub fn follow(&self, o: &[(&str, u64)]) -> String { let o: Vec<String> = o.iter().map(|(n, b)| format!("{n}={b}")).collect(); format!("{} {}", self.folder, o.join(" ")) }
    pub fn stop(&self) -> String { String::new() }
    pub fn recover(&self) -> String { String::new() }
}
pub fn spec(_: &PlannedTrial, _: &Experiment, _: Kind, _: Option<Duration>) -> Spec { 
Spec { trial: String::new(), idle_ms: 0, settle_ms: 0, limit_ms: 0, grace_ms: 0, lease_ms: 0, monitors: vec![], settings: vec![], guarded: vec![], prepare: String::new(), command: String::new(), restore: String::new() } }
