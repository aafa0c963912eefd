//! What became of the cases of a ladder: each by its name, and summed up by operator.

use super::{Case, Rung, climb, ladder, places};
use crate::{Failure, PluginUse, Stop};
use std::collections::BTreeMap;

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
