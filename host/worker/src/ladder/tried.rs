//! A backend on the ladder: what became of each case, what that is by operator, and what it is worth to models.

use super::{Climbed, Next, Steps, Unlocked, built, by_operator, climbed, totals, unlocked, wholly_right};
use crate::{Failure, PluginUse, Stop};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many operators to build next are named.
const NEXT: usize = 10;

/// A backend that was tried on the cases of some operators, or of all.
pub struct Tried {
    cases: Vec<Climbed>,
    pub operators: BTreeMap<String, Steps>,
    /// `None`: only some operators were tried.
    pub models: Option<Unlocked>,
}

impl Tried {
    /// The heads of the [rows](Tried::rows).
    pub const HEADS: [&str; 7] =
        ["operator", "cases", "right", "wrong", "refused", "crashed", "first that is not right"];

    /// Tries the cases of these operators, or of all, for what they are worth to models with these operators.
    ///
    /// # Errors
    /// The backend cannot be opened, or was asked to stop.
    pub fn of(
        backend: &PluginUse,
        operators: &[String],
        models: &[BTreeSet<String>],
        stop: &Stop,
    ) -> Result<Tried, Failure> {
        let cases = climbed(backend, operators, stop)?;
        let each = by_operator(&cases);
        let models = operators.is_empty().then(|| unlocked(&built(&each), models, NEXT));
        Ok(Tried { cases, operators: each, models })
    }

    /// A wrong answer and a crash are faults; a refusal is none.
    pub fn has_fault(&self) -> bool {
        let total = totals(&self.operators);
        total.wrong + total.crashed > 0
    }

    /// Of each operator its name, its counts, and why the first case that is not right is not.
    pub fn rows(&self) -> impl Iterator<Item = (&str, [usize; 5], Option<&str>)> {
        self.operators.iter().map(|(name, steps)| {
            let counts = [steps.cases, steps.right, steps.wrong, steps.refused, steps.crashed];
            (name.as_str(), counts, steps.first.as_deref())
        })
    }

    /// All cases together, and what they are worth to models.
    pub fn sentences(&self) -> Vec<String> {
        let total = totals(&self.operators);
        let all = format!(
            "{} of {} cases right, {} wrong, {} refused, {} crashed; {} of {} operators wholly right",
            total.right,
            total.cases,
            total.wrong,
            total.refused,
            total.crashed,
            wholly_right(&self.operators),
            self.operators.len()
        );
        std::iter::once(all).chain(self.models.iter().flat_map(Unlocked::sentences)).collect()
    }

    /// Each case: its name, operator and type, and what became of it.
    pub fn cases_as_json(&self) -> Vec<Value> {
        let of_case = |one: &Climbed| {
            let mut case = json!({"case": one.case, "operator": one.operator, "type": one.of_type, "edge": one.edge});
            if let (Some(case), Ok(Value::Object(rung))) = (case.as_object_mut(), serde_json::to_value(&one.rung)) {
                case.extend(rung);
            }
            case
        };
        self.cases.iter().map(of_case).collect()
    }

    /// How many models have all their operators, and what to build next; null where only some operators were tried.
    pub fn models_as_json(&self) -> Value {
        let step = |step: &Next| json!({"operator": step.operator, "unlocks": step.unlocks});
        self.models.as_ref().map_or(Value::Null, |of| {
            let next: Vec<Value> = of.next.iter().map(step).collect();
            json!({"known": of.models, "with_all_operators": of.with_all, "next": next})
        })
    }
}
