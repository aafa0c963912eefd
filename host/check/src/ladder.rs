//! `skillbench-check ladder`: ONNX operators one by one, and which to build next.

use crate::cli::{Format, LadderArgs};
use crate::exit::{CheckError, Done, Exit};
use crate::output;
use crate::subject::Subject;
use crate::table::table;
use serde_json::{Value, json};
use skillbench_worker::ladder::{self, Tried};
use skillbench_worker::{Failure, FailureKind, PluginUse, Stop};
use std::collections::{BTreeMap, BTreeSet};

/// The operators of each model of the zoo.
const OPERATORS: &str = include_str!("../../../plugins/zoo/data/operators.json");
/// How long a plugin may take to be described, in seconds.
const LIMIT: u64 = 30;

pub fn ladder(args: &LadderArgs) -> Done {
    if let Some(why) = ladder::unknown(&args.operators) {
        return Err(CheckError::Usage(why));
    }
    if args.format == Format::Junit {
        return Err(CheckError::Usage("the ladder is told as table or json: it is a measure, not a test".into()));
    }
    let subject = Subject::look(&args.library, &args.subject, LIMIT)?;
    let backend = subject.backend()?;
    let tried = match Tried::of(&backend, &args.operators, &models(), &Stop::default()) {
        Err(failure) if failure.kind == FailureKind::Unavailable => {
            output::error(&refusal(&backend, &failure));
            return Ok(Exit::Unavailable);
        }
        tried => tried.map_err(|failure| CheckError::Failed(refusal(&backend, &failure)))?,
    };
    match args.format {
        Format::Table => {
            output::print(&shown(&tried));
            say(&tried);
        }
        Format::Json | Format::Junit => {
            let mut document = totals(&tried);
            document["all"] = tried.cases_as_json().into();
            output::print(&format!("{document:#}\n"));
        }
    }
    Ok(exit(&tried))
}

/// A backend on all cases.
///
/// # Errors
/// It cannot be opened.
pub fn all(backend: &PluginUse) -> Result<Tried, CheckError> {
    let tried = Tried::of(backend, &[], &models(), &Stop::default());
    tried.map_err(|failure| CheckError::Failed(refusal(backend, &failure)))
}

fn refusal(backend: &PluginUse, failure: &Failure) -> String {
    format!("{}: {failure}", backend.id)
}

pub fn exit(tried: &Tried) -> Exit {
    if tried.has_fault() { Exit::Broken } else { Exit::Good }
}

pub fn say(tried: &Tried) {
    tried.sentences().iter().for_each(|text| output::say(text));
}

fn shown(tried: &Tried) -> String {
    let row = |(name, counts, first): (&str, [usize; 5], Option<&str>)| {
        let [cases, right, wrong, refused, crashed] = counts.map(|count| count.to_string());
        let first = first.map(skillbench_record::shown::line).unwrap_or_default();
        [name.to_string(), cases, right, wrong, refused, crashed, first]
    };
    table(Tried::HEADS, &tried.rows().map(row).collect::<Vec<_>>())
}

/// What a report has of it.
pub fn totals(tried: &Tried) -> Value {
    let total = ladder::totals(&tried.operators);
    json!({
        "cases": total.cases,
        "right": total.right,
        "wrong": total.wrong,
        "refused": total.refused,
        "crashed": total.crashed,
        "operators": tried.operators.len(),
        "operators_wholly_right": ladder::wholly_right(&tried.operators),
        "models": tried.models_as_json(),
    })
}

fn models() -> Vec<BTreeSet<String>> {
    let all: BTreeMap<String, BTreeSet<String>> = serde_json::from_str(OPERATORS).unwrap_or_default();
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operators_of_the_zoo_can_be_read() {
        assert!(models().len() > 300);
        assert!(models().iter().any(|operators| operators.contains("MatMul")));
    }
}
