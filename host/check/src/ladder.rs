//! `skillbench-check ladder`: ONNX operators one by one, and which to build next.

use crate::cli::{Format, LadderArgs};
use crate::exit::{CheckError, Done, Exit};
use crate::output;
use crate::subject::Subject;
use crate::table::table;
use serde_json::{Value, json};
use skillbench_worker::ladder::{self, Climbed, Steps, Unlocked};
use skillbench_worker::{FailureKind, PluginUse, Stop};
use std::collections::{BTreeMap, BTreeSet};

/// The operators of each model of the zoo.
const OPERATORS: &str = include_str!("../../../plugins/zoo/data/operators.json");
/// How long a plugin may take to be described, in seconds.
const LIMIT: u64 = 30;
/// How many operators to build next are told.
const STEPS: usize = 10;

/// What became of the cases.
pub struct Climb {
    cases: Vec<Climbed>,
    operators: BTreeMap<String, Steps>,
    /// `None`: only some operators were tried.
    models: Option<Unlocked>,
}

pub fn ladder(args: &LadderArgs) -> Done {
    if let Some(why) = ladder::unknown(&args.operators) {
        return Err(CheckError::Usage(why));
    }
    if args.format == Format::Junit {
        return Err(CheckError::Usage("the ladder is told as table or json: it is a measure, not a test".into()));
    }
    let subject = Subject::look(&args.library, &args.subject, LIMIT)?;
    let backend = subject.backend()?;
    let climb = match Climb::try_of(&backend, &args.operators) {
        Err((FailureKind::Unavailable, text)) => {
            output::error(&text);
            return Ok(Exit::Unavailable);
        }
        climb => climb.map_err(|(_, text)| CheckError::Failed(text))?,
    };
    match args.format {
        Format::Table => {
            output::print(&climb.shown());
            climb.say();
        }
        Format::Json | Format::Junit => output::print(&format!("{:#}\n", climb.document())),
    }
    Ok(climb.exit())
}

impl Climb {
    /// # Errors
    /// The backend cannot be opened.
    pub fn of(backend: &PluginUse, operators: &[String]) -> Result<Climb, CheckError> {
        Climb::try_of(backend, operators).map_err(|(_, text)| CheckError::Failed(text))
    }

    fn try_of(backend: &PluginUse, operators: &[String]) -> Result<Climb, (FailureKind, String)> {
        let told = ladder::climbed(backend, operators, &Stop::default());
        let cases = told.map_err(|failure| (failure.kind, format!("{}: {failure}", backend.id)))?;
        let told = ladder::by_operator(&cases);
        let models = operators.is_empty().then(|| ladder::unlocked(&ladder::built(&told), &models(), STEPS));
        Ok(Climb { cases, operators: told, models })
    }

    /// A wrong answer and a crash are broken; a refusal is none.
    pub fn exit(&self) -> Exit {
        let total = ladder::totals(&self.operators);
        if total.wrong + total.crashed > 0 { Exit::Broken } else { Exit::Good }
    }

    fn shown(&self) -> String {
        let row = |(name, steps): (&String, &Steps)| {
            let [cases, right, wrong, refused, crashed] =
                [steps.cases, steps.right, steps.wrong, steps.refused, steps.crashed].map(|count| count.to_string());
            let first = steps.first.as_deref().map(skillbench_record::shown::line).unwrap_or_default();
            [name.clone(), cases, right, wrong, refused, crashed, first]
        };
        let heads = ["operator", "cases", "right", "wrong", "refused", "crashed", "first that is not right"];
        table(heads, &self.operators.iter().map(row).collect::<Vec<_>>())
    }

    pub fn say(&self) {
        let total = ladder::totals(&self.operators);
        output::say(&format!(
            "{} of {} cases right, {} wrong, {} refused, {} crashed; {} of {} operators wholly right",
            total.right,
            total.cases,
            total.wrong,
            total.refused,
            total.crashed,
            ladder::wholly_right(&self.operators),
            self.operators.len()
        ));
        self.models.iter().flat_map(Unlocked::sentences).for_each(|text| output::say(&text));
    }

    /// What a report has of it.
    pub fn totals(&self) -> Value {
        let total = ladder::totals(&self.operators);
        let models = self.models.as_ref().map(|of| {
            let step = |step: &ladder::Next| json!({"operator": step.operator, "unlocks": step.unlocks});
            let next: Vec<Value> = of.next.iter().map(step).collect();
            json!({"known": of.models, "with_all_operators": of.with_all, "next": next})
        });
        json!({
            "cases": total.cases,
            "right": total.right,
            "wrong": total.wrong,
            "refused": total.refused,
            "crashed": total.crashed,
            "operators": self.operators.len(),
            "operators_wholly_right": ladder::wholly_right(&self.operators),
            "models": models,
        })
    }

    /// The same, with each case.
    fn document(&self) -> Value {
        let mut document = self.totals();
        let of_case = |one: &Climbed| {
            let mut told = json!({"case": one.case, "operator": one.operator, "type": one.of_type, "edge": one.edge});
            if let (Some(told), Ok(Value::Object(rung))) = (told.as_object_mut(), serde_json::to_value(&one.rung)) {
                told.extend(rung);
            }
            told
        };
        document["all"] = self.cases.iter().map(of_case).collect();
        document
    }
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
