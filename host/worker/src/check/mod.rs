//! The rules of a well-behaved plugin, as a list: each has an id, a sentence, and a test that runs in a worker of its own.
//!
//! `docs/rules.md` is made from [`RULES`]. Not here: what a plugin is good for, only whether it keeps the contract.

mod backend;
mod benchmark;
mod cache;
mod contract;
mod memory;
mod rules;
mod skillset;
mod slots;
mod timed;
mod told;

pub use contract::{SLOTS, Slot};
pub use rules::{Applies, RULES, Rule, rule};

use crate::Library;
use crate::child::Services;
use crate::description::Description;
use crate::{CheckJob, Command, Failure, Limits, PluginUse, Reply, Stop, Worker};
use serde::{Deserialize, Serialize};
use skillbench_record::{PluginOptions, scratch};

/// The two-layer perceptron that rules run: `x[batch, 64]` to `y[batch, 32]`.
const PROBE: &[u8] = include_bytes!("../../data/probe.onnx");

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

/// Holds a library against every rule. Each runs in a fresh worker: one that crashes breaks its own rule.
///
/// # Errors
/// A scratch folder cannot be made.
pub fn check(
    library: &Library,
    description: Option<&Description>,
    options: &PluginOptions,
    reference: Option<&PluginUse>,
) -> std::io::Result<Vec<(&'static Rule, Verdict)>> {
    let scratch = scratch::folder()?;
    let probe = scratch.path().join("probe.onnx");
    std::fs::write(&probe, PROBE)?;
    let mut verdicts = vec![];
    for rule in RULES {
        if !description.map_or(rule.applies == Applies::Every, |description| rule.applies.to(description)) {
            verdicts.push((rule, Verdict::NotApplicable));
            continue;
        }
        let folder = scratch.path().join(rule.id);
        std::fs::create_dir_all(&folder)?;
        let job = CheckJob {
            rule: rule.id.into(),
            library: library.clone(),
            probe: probe.clone(),
            options: options.clone(),
            backend: reference.cloned(),
            scratch: folder,
        };
        let mut limits = Limits::probing(&Stop::default());
        limits.memory = limits.memory.map(|most| most.min(4 << 30));
        limits.total = std::time::Duration::from_secs(30);
        let verdict = match Worker::call_once(&Command::Check(Box::new(job)), &limits) {
            Ok(Reply::Checked(verdict)) => verdict,
            Ok(other) => Verdict::Broken(Failure::unexpected(&other).to_string()),
            Err(failure) => Verdict::Broken(failure.to_string()),
        };
        verdicts.push((rule, verdict));
    }
    Ok(verdicts)
}

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
