//! What became of the cases of a ladder: each by its name, and summed up by operator.

use super::{Case, Ladder, Rung, climb, ladder, places};
use crate::{Failure, PluginUse, Stop};
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

/// All operators together.
pub fn totals(operators: &BTreeMap<String, Steps>) -> Steps {
    operators.values().fold(Steps::default(), |all, one| Steps {
        cases: all.cases + one.cases,
        right: all.right + one.right,
        wrong: all.wrong + one.wrong,
        refused: all.refused + one.refused,
        crashed: all.crashed + one.crashed,
        ..all
    })
}

/// The operators of which every case is right.
pub fn wholly_right(operators: &BTreeMap<String, Steps>) -> usize {
    operators.values().filter(|steps| steps.right == steps.cases).count()
}

/// Those that graphs can use, by name.
pub fn built(operators: &BTreeMap<String, Steps>) -> BTreeSet<String> {
    operators.iter().filter(|(_, steps)| steps.is_built).map(|(name, _)| name.clone()).collect()
}

/// Why the ladder cannot be asked for these operators; `None`: each has a case.
pub fn unknown(operators: &[String]) -> Option<String> {
    let Ladder { cases, left_out, .. } = ladder();
    let unknown = operators.iter().find(|name| !cases.iter().any(|case| case.is_called(name)))?;
    Some(match left_out.iter().find(|out| out.operator.eq_ignore_ascii_case(unknown)) {
        Some(out) => format!("the ladder has no case of {}: {}", out.operator, out.reason),
        None => {
            let names: Vec<String> = cases.iter().map(Case::full_name).collect();
            let nearest = skillbench_record::suggest::did_you_mean(unknown, names.iter().map(String::as_str));
            format!("the ladder has no operator '{unknown}'{nearest}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_counts_as_built_where_a_plain_case_is_right() {
        let one =
            |edge, rung| Climbed { case: "c".into(), operator: "Conv".into(), of_type: "float32".into(), edge, rung };
        let edge_alone = by_operator(&[one(false, Rung::Refused("no".into())), one(true, Rung::Right)]);
        assert_eq!((edge_alone["Conv"].is_built, edge_alone["Conv"].first.as_deref()), (false, Some("c: no")));
        assert!(by_operator(&[one(false, Rung::Right), one(true, Rung::Wrong("off".into()))])["Conv"].is_built);
    }
}
