//! The operator ladder of a backend: which operators it runs rightly, and which to build next, by the models that they unlock.

use skillbench_engine::skill::Skill;
use skillbench_worker::ladder::{Case, Rung, climb, ladder, places};
use skillbench_worker::{Failure, PluginUse, Stop};
use std::collections::{BTreeMap, BTreeSet};

/// One case, and what became of it on a backend.
#[derive(Clone, Debug)]
pub struct Climbed {
    pub case: String,
    /// "Conv"; those of other domains with the domain before it.
    pub operator: String,
    pub of_type: String,
    pub edge: bool,
    pub rung: Rung,
}

/// Runs the cases of these operators, or of all, on a backend.
///
/// # Errors
/// It cannot be opened, or was asked to stop.
pub fn climbed(backend: &PluginUse, operators: &[String], stop: &Stop) -> Result<Vec<Climbed>, Failure> {
    let is_wanted = |case: &Case| operators.is_empty() || operators.iter().any(|name| case.is_called(name));
    let told = climb(backend, &places(is_wanted), stop)?;
    let of_case = |(place, rung): (usize, Rung)| {
        let case = ladder().cases.get(place)?;
        Some(Climbed {
            case: case.name.clone(),
            operator: case.full_name(),
            of_type: case.of_type.clone(),
            edge: case.edge,
            rung,
        })
    };
    Ok(told.into_iter().filter_map(of_case).collect())
}

/// The cases of one operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    pub cases: usize,
    pub right: usize,
    pub wrong: usize,
    pub refused: usize,
    pub crashed: usize,
    /// A plain case in float32, or in the first type that there is, is right: graphs that use it as most do can run.
    pub is_built: bool,
    /// Why the first case that is not right is not.
    pub first: Option<String>,
}

/// What became of each operator, by its name.
pub fn by_operator(climbed: &[Climbed]) -> BTreeMap<String, Steps> {
    let mut all: BTreeMap<String, Steps> = BTreeMap::new();
    for one in climbed {
        let steps = all.entry(one.operator.clone()).or_default();
        steps.cases += 1;
        let (count, how) = match &one.rung {
            Rung::Right => (&mut steps.right, None),
            Rung::Wrong(how) => (&mut steps.wrong, Some(how)),
            Rung::Refused(how) => (&mut steps.refused, Some(how)),
            Rung::Crashed(how) => (&mut steps.crashed, Some(how)),
        };
        *count += 1;
        steps.is_built |= !one.edge && one.rung == Rung::Right;
        if let Some(how) = how {
            steps.first.get_or_insert_with(|| format!("{}: {how}", one.case));
        }
    }
    all
}

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

/// The operators of each skill that tells them.
pub fn operators_of<'s>(skills: impl IntoIterator<Item = &'s Skill>) -> Vec<BTreeSet<String>> {
    let known = skills.into_iter().map(|skill| &skill.description.operators).filter(|operators| !operators.is_empty());
    known.cloned().collect()
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

    #[test]
    fn an_operator_counts_as_built_where_a_plain_case_is_right() {
        let one =
            |edge, rung| Climbed { case: "c".into(), operator: "Conv".into(), of_type: "float32".into(), edge, rung };
        let edge_alone = by_operator(&[one(false, Rung::Refused("no".into())), one(true, Rung::Right)]);
        assert_eq!((edge_alone["Conv"].is_built, edge_alone["Conv"].first.as_deref()), (false, Some("c: no")));
        assert!(by_operator(&[one(false, Rung::Right), one(true, Rung::Wrong("off".into()))])["Conv"].is_built);
    }
}
