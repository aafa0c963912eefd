//! What became of a worker that did not answer as it should.

use super::Reply;
use serde::{Deserialize, Serialize};
use skillbench_plugin_api::{Code, Error, Why};
use skillbench_record::{Outcome, Reason};
use std::fmt;

/// The code of a failure that only says: the outputs differ from the reference that was given.
pub const DIFFERS: &str = "differs";

/// The code of a plugin's failure for want of memory, which a smaller batch may need less of. What else runs out (a disk, threads, a
/// server's patience) keeps the code of its status.
pub const OUT_OF_MEMORY: &str = "out-of-memory";

/// How it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The plugin, or the worker, said so.
    Failed,
    Crashed,
    TimedOut,
    Unavailable,
    Unsupported,
    Wrong,
    /// The run was stopped by the user.
    Stopped,
}

/// A failure with its reason: what happened, where, what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    pub reason: Reason,
    /// What stands in the way, as a plugin told it: bits of `sb_error.why`.
    #[serde(default)]
    pub why: u32,
}

impl Failure {
    pub fn new(kind: FailureKind, code: &str, message: impl Into<String>) -> Failure {
        Failure { kind, reason: Reason::new(code, message), why: 0 }
    }

    pub fn failed(code: &str, message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Failed, code, message)
    }

    /// An error of a plugin, by its status.
    pub fn from_plugin(error: &Error) -> Failure {
        let kind = match error.code {
            Code::Unavailable => FailureKind::Unavailable,
            Code::Unimplemented => FailureKind::Unsupported,
            Code::WrongOutput => FailureKind::Wrong,
            _ => FailureKind::Failed,
        };
        let memory = error.code == Code::ResourceExhausted && error.why.0 & Why::MEMORY.0 != 0;
        let code = if memory { OUT_OF_MEMORY } else { error.code.name() };
        Failure { why: error.why.0, ..Failure::new(kind, code, error.to_string()) }
    }

    /// Whether this stands in the way, by the plugin's own account.
    pub fn is_about(&self, why: Why) -> bool {
        self.why & why.0 != 0
    }

    /// The worker answered something else than it was asked.
    pub fn unexpected(reply: &Reply) -> Failure {
        Failure::failed("protocol", format!("the worker answered with {}", reply.name()))
    }

    pub fn into_outcome<M>(self) -> Outcome<M> {
        match self.kind {
            FailureKind::Failed => Outcome::Failed(self.reason),
            FailureKind::Crashed => Outcome::Crashed(self.reason),
            FailureKind::TimedOut => Outcome::TimedOut(self.reason),
            FailureKind::Unavailable => Outcome::Unavailable(self.reason),
            FailureKind::Unsupported => Outcome::Unsupported(self.reason),
            FailureKind::Wrong => Outcome::Wrong(self.reason),
            FailureKind::Stopped => Outcome::Skipped(self.reason),
        }
    }
}

/// Something on this machine, such as a full disk.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        let code = if error.kind() == std::io::ErrorKind::StorageFull { "resource-exhausted" } else { "files" };
        Failure::failed(code, format!("the model's files: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_want_of_memory_is_called_out_of_memory() {
        let code = |error: Error| Failure::from_plugin(&error).reason.code;
        let exhausted = || Error::new(Code::ResourceExhausted, "no room");

        assert_eq!(code(exhausted().because(Why::MEMORY)), OUT_OF_MEMORY);
        assert_eq!(code(exhausted()), "resource-exhausted");
        assert_eq!(code(exhausted().because(Why::RUNTIME)), "resource-exhausted");
        assert_eq!(code(Error::new(Code::Internal, "odd").because(Why::MEMORY)), "internal");
    }
}
