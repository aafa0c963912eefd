//! The models by which the operator ladder tells what to build next: those of the skills that are known here. The ladder is the worker's.

use skillbench_engine::skill::Skill;
use std::collections::BTreeSet;

/// The operators of each skill that tells them.
pub fn operators_of<'s>(skills: impl IntoIterator<Item = &'s Skill>) -> Vec<BTreeSet<String>> {
    let known = skills.into_iter().map(|skill| &skill.description.operators).filter(|operators| !operators.is_empty());
    known.cloned().collect()
}
