//! How a cell ended. A number lives only inside [`Outcome::Measured`]: a cell that failed has none, in the types.

use crate::Metrics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a cell has no figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// A short, stable word: "signal", "exit", "memory-limit", "unimplemented" ...
    pub code: String,
    /// What happened, where, and what to do next.
    pub message: String,
}

impl Reason {
    pub fn new(code: &str, message: impl Into<String>) -> Reason {
        Reason { code: code.into(), message: message.into() }
    }
}

/// How a cell ended, or a benchmark without a target, which has figures of its own. Only a measured one has numbers; each other
/// has a reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<M = Metrics> {
    Measured(Box<M>),
    Failed(Reason),
    Crashed(Reason),
    TimedOut(Reason),
    Unavailable(Reason),
    Unsupported(Reason),
    Wrong(Reason),
    Skipped(Reason),
}

/// The word for how a cell ended. A reader that matches on it is told by the compiler when there is a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeKind {
    Measured,
    Failed,
    Crashed,
    TimedOut,
    Unavailable,
    Unsupported,
    Wrong,
    Skipped,
}

impl OutcomeKind {
    pub const ALL: [OutcomeKind; 8] = [
        OutcomeKind::Measured,
        OutcomeKind::Failed,
        OutcomeKind::Crashed,
        OutcomeKind::TimedOut,
        OutcomeKind::Unavailable,
        OutcomeKind::Unsupported,
        OutcomeKind::Wrong,
        OutcomeKind::Skipped,
    ];

    /// As in `run.json` and in the database.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Measured => "measured",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Crashed => "crashed",
            OutcomeKind::TimedOut => "timed-out",
            OutcomeKind::Unavailable => "unavailable",
            OutcomeKind::Unsupported => "unsupported",
            OutcomeKind::Wrong => "wrong",
            OutcomeKind::Skipped => "skipped",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OutcomeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<OutcomeKind, String> {
        let found = OutcomeKind::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("unknown outcome '{text}'; a newer host may have written it"))
    }
}

impl<M> Outcome<M> {
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Outcome::Measured(_) => OutcomeKind::Measured,
            Outcome::Failed(_) => OutcomeKind::Failed,
            Outcome::Crashed(_) => OutcomeKind::Crashed,
            Outcome::TimedOut(_) => OutcomeKind::TimedOut,
            Outcome::Unavailable(_) => OutcomeKind::Unavailable,
            Outcome::Unsupported(_) => OutcomeKind::Unsupported,
            Outcome::Wrong(_) => OutcomeKind::Wrong,
            Outcome::Skipped(_) => OutcomeKind::Skipped,
        }
    }

    /// The name that `run.json` has for it.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// The outcome of a file that has its word, reason and metrics side by side.
    ///
    /// # Errors
    /// A measured one without metrics.
    pub fn from_parts(
        kind: OutcomeKind,
        reason: Option<Reason>,
        metrics: Option<Box<M>>,
    ) -> Result<Outcome<M>, String> {
        let reason = || reason.unwrap_or_else(|| Reason::new("unknown", "no reason was recorded"));
        Ok(match kind {
            OutcomeKind::Measured => {
                Outcome::Measured(metrics.ok_or("the outcome is 'measured', and there are no metrics")?)
            }
            OutcomeKind::Failed => Outcome::Failed(reason()),
            OutcomeKind::Crashed => Outcome::Crashed(reason()),
            OutcomeKind::TimedOut => Outcome::TimedOut(reason()),
            OutcomeKind::Unavailable => Outcome::Unavailable(reason()),
            OutcomeKind::Unsupported => Outcome::Unsupported(reason()),
            OutcomeKind::Wrong => Outcome::Wrong(reason()),
            OutcomeKind::Skipped => Outcome::Skipped(reason()),
        })
    }

    pub fn metrics(&self) -> Option<&M> {
        match self {
            Outcome::Measured(metrics) => Some(metrics),
            _ => None,
        }
    }

    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Outcome::Measured(_) => None,
            Outcome::Failed(reason)
            | Outcome::Crashed(reason)
            | Outcome::TimedOut(reason)
            | Outcome::Unavailable(reason)
            | Outcome::Unsupported(reason)
            | Outcome::Wrong(reason)
            | Outcome::Skipped(reason) => Some(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_read_back_as_it_was_written() {
        for kind in OutcomeKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert!("melted".parse::<OutcomeKind>().unwrap_err().contains("newer host"));
    }

    #[test]
    fn a_measured_outcome_needs_metrics() {
        assert!(Outcome::<Metrics>::from_parts(OutcomeKind::Measured, None, None).is_err());
    }
}
