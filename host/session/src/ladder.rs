//! The operator ladder of a backend: which operators it runs rightly, and which to build next, by the models of the skills that are
//! known here. What needs no skills is the worker's.

use skillbench_engine::skill::Skill;
pub use skillbench_worker::ladder::{Climbed, Next, Steps, Unlocked, by_operator, climbed, unlocked};
use std::collections::BTreeSet;

/// The operators of each skill that tells them.
pub fn operators_of<'s>(skills: impl IntoIterator<Item = &'s Skill>) -> Vec<BTreeSet<String>> {
    let known = skills.into_iter().map(|skill| &skill.description.operators).filter(|operators| !operators.is_empty());
    known.cloned().collect()
}
