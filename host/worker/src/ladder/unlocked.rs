//! What operators are worth to models: which models have all of theirs, and which operator to build next.

use std::collections::{BTreeMap, BTreeSet};

/// An operator to build, and how many models have all their operators with it that had not before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    pub operator: String,
    pub unlocks: usize,
}

/// Models whose operators are known, and which of them are all built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlocked {
    pub models: usize,
    pub with_all: usize,
    /// What to build next, in an order in which each step is worth most.
    pub next: Vec<Next>,
}

impl Unlocked {
    /// "it has all operators of 61 of 405 models", and what to build next.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![format!("it has all operators of {} of {} models", self.with_all, self.models)];
        let steps: Vec<String> = self
            .next
            .iter()
            .enumerate()
            .map(|(at, step)| match at {
                0 => format!("{} unlocks {} models", step.operator, step.unlocks),
                _ => format!("{} {} more", step.operator, step.unlocks),
            })
            .collect();
        all.extend((!steps.is_empty()).then(|| format!("to build next: {}", steps.join(", "))));
        all
    }
}

/// What an engine with these operators runs of these models, and what to build next.
pub fn unlocked(built: &BTreeSet<String>, models: &[BTreeSet<String>], most: usize) -> Unlocked {
    let mut missing: Vec<BTreeSet<&String>> = models
        .iter()
        .map(|operators| operators.iter().filter(|operator| !built.contains(*operator)).collect())
        .collect();
    let models = missing.len();
    let before = missing.len();
    missing.retain(|operators| !operators.is_empty());
    let with_all = before - missing.len();
    let mut next = vec![];
    while next.len() < most && !missing.is_empty() {
        // Of a model that lacks five operators each is worth a fifth: where no single one is enough, the shortest way leads on.
        let mut worth: BTreeMap<&String, f64> = BTreeMap::new();
        for operators in &missing {
            operators.iter().for_each(|name| *worth.entry(*name).or_default() += 1.0 / operators.len() as f64);
        }
        let best = worth.into_iter().max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(one.0)));
        let Some((best, _)) = best else { break };
        let left = missing.len();
        missing.iter_mut().for_each(|operators| _ = operators.remove(best));
        missing.retain(|operators| !operators.is_empty());
        next.push(Next { operator: best.clone(), unlocks: left - missing.len() });
    }
    Unlocked { models, with_all, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_operator_that_unlocks_most_models_comes_next() {
        let models = [set(&["Add"]), set(&["Add", "Conv"]), set(&["Conv"]), set(&["Conv", "Softmax"])];
        let found = unlocked(&set(&["Add"]), &models, 5);
        let next = |operator: &str, unlocks| Next { operator: operator.into(), unlocks };
        assert_eq!(found, Unlocked { models: 4, with_all: 1, next: vec![next("Conv", 2), next("Softmax", 1)] });
    }
}
