//! The rules of a well-behaved plugin, as a list: each has an id, a sentence, and a test that runs in a worker of its own.
//!
//! - `rules`: the list. `contract`: the slots that they hold. `asked`: all rules from outside, and how many verdicts of each kind.
//! - `backend`, `timed`, `slots`, `memory`, `cache`, `told`, `benchmark`, `skillset`: the tests. `hygiene`: what a plugin does beside its work;
//!   `process_state`: what it shares with others.
//!
//! `docs/rules.md` is made from [`RULES`]. Not here: what a plugin is good for, only whether it keeps the contract.

mod asked;
mod backend;
mod benchmark;
mod cache;
mod contract;
mod hygiene;
mod memory;
mod process_state;
mod rules;
mod skillset;
mod slots;
mod timed;
mod told;

pub use asked::{Asked, Checked, Tally, check};
pub use contract::{SLOTS, Slot};
pub use rules::{Applies, RULES, Rule, rule};
pub(crate) use slots::STATE;

use crate::child::Services;
use crate::{CheckJob, Failure, Reply};
use serde::{Deserialize, Serialize};

/// The two-layer perceptron that rules run: `x[batch, 64]` to `y[batch, 32]`.
pub(crate) const PROBE: &[u8] = include_bytes!("../../data/probe.onnx");

/// What became of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    Kept,
    Broken(String),
    /// The backend cannot run here, so nothing can be said.
    Unchecked(String),
    /// The rule says nothing about this plugin.
    NotApplicable,
}

impl Verdict {
    /// As people are shown it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Kept => "kept",
            Verdict::Broken(_) => "BROKEN",
            Verdict::Unchecked(_) => "not checked",
            Verdict::NotApplicable => "not applicable",
        }
    }

    /// How it is broken, or why it was not checked.
    pub fn how(&self) -> Option<&str> {
        match self {
            Verdict::Broken(how) | Verdict::Unchecked(how) => Some(how),
            Verdict::Kept | Verdict::NotApplicable => None,
        }
    }
}

/// What a rule's test found, where it did not pass.
pub(crate) enum Finding {
    Broken(String),
    Unavailable(String),
    /// The slot that the rule is about is not there, and need not be.
    NotOffered,
}

impl From<String> for Finding {
    fn from(text: String) -> Finding {
        Finding::Broken(text)
    }
}

impl From<&str> for Finding {
    fn from(text: &str) -> Finding {
        Finding::Broken(text.into())
    }
}

pub(crate) type Test = Result<(), Finding>;

/// Inside a worker: one rule.
pub(crate) fn serve(services: &'static Services, job: &CheckJob) -> Result<Reply, Failure> {
    job.library.check()?;
    job.backend.iter().try_for_each(|backend| backend.library.check())?;
    let rule = rule(&job.rule).ok_or_else(|| Failure::failed("rule", format!("there is no rule '{}'", job.rule)))?;
    Ok(Reply::Checked(match (rule.test)(services, job) {
        Ok(()) => Verdict::Kept,
        Err(Finding::Broken(how)) => Verdict::Broken(how),
        Err(Finding::Unavailable(why)) => Verdict::Unchecked(why),
        Err(Finding::NotOffered) => Verdict::NotApplicable,
    }))
}
