//! `host plugin ladder`: backends on ONNX operators, one by one.

use super::{CommandError, Done, Exit, usage};
use crate::cli::{FormatArg, Global};
use crate::output;
use skillbench_engine::run::{Inventory, Plugin};
use skillbench_record::PluginOptions;
use skillbench_report::{Cell, Table};
use skillbench_session::ladder::{Climbed, Steps, Unlocked, by_operator, climbed, operators_of, unlocked};
use skillbench_worker::Failure;
use skillbench_worker::ladder::{self as cases, Ladder};
use std::collections::{BTreeMap, BTreeSet};

/// How many steps are told.
const STEPS: usize = 10;

struct Climb {
    plugin: String,
    cases: Vec<Climbed>,
    operators: BTreeMap<String, Steps>,
    /// `None`: only some operators were tried.
    models: Option<Unlocked>,
}

pub fn ladder(global: &Global, plugins: &[String], operators: &[String]) -> Done {
    let inventory = global.inventory();
    known(operators)?;
    let models = operators_of(&inventory.catalog().skills);
    let mut climbs = vec![];
    for id in plugins {
        let plugin = inventory.plugin(id).ok_or_else(|| usage(inventory.why_not(id)))?;
        match climb(&inventory, plugin, operators)? {
            Err(failure) => output::warning(&format!("{id}: {failure}")),
            Ok(cases) => {
                let told = by_operator(&cases);
                let built: BTreeSet<String> =
                    told.iter().filter(|(_, steps)| steps.is_built).map(|(name, _)| name.clone()).collect();
                let models = operators.is_empty().then(|| unlocked(&built, &models, STEPS));
                climbs.push(Climb { plugin: id.clone(), cases, operators: told, models });
            }
        }
    }
    match (global.format, climbs.as_slice()) {
        (FormatArg::Json, _) => output::print(&json(&climbs)),
        (_, []) => {}
        (_, [only]) => tell_one(global, only),
        (_, all) => output::table(&side_by_side(all), global.format.into()),
    }
    let any_fault = climbs.iter().any(|climb| climb.operators.values().any(|steps| steps.wrong + steps.crashed > 0));
    Ok(match (climbs.len() < plugins.len(), any_fault) {
        (true, _) => Exit::Unavailable,
        (false, true) => Exit::Broken,
        (false, false) => Exit::Good,
    })
}

/// Refuses an operator that has no case.
fn known(operators: &[String]) -> Result<(), CommandError> {
    let Ladder { cases, left_out, .. } = cases::ladder();
    let Some(unknown) = operators.iter().find(|name| !cases.iter().any(|case| case.is_called(name))) else {
        return Ok(());
    };
    Err(usage(match left_out.iter().find(|out| out.operator.eq_ignore_ascii_case(unknown)) {
        Some(out) => format!("the ladder has no case of {}: {}", out.operator, out.reason),
        None => {
            let names: Vec<String> = cases.iter().map(|case| case.full_name()).collect();
            let nearest = skillbench_record::suggest::did_you_mean(unknown, names.iter().map(String::as_str));
            format!("the ladder has no operator '{unknown}'{nearest}")
        }
    }))
}

fn climb(
    inventory: &Inventory,
    plugin: &Plugin,
    operators: &[String],
) -> Result<Result<Vec<Climbed>, Failure>, CommandError> {
    if plugin.description.backend.is_none() {
        return Err(usage(format!("'{}' is no backend: it runs no operators", plugin.id)));
    }
    let opened = plugin.opened_with(&PluginOptions::new(), None).map_err(usage)?;
    Ok(climbed(&opened, operators, &inventory.stop))
}

fn tell_one(global: &Global, climb: &Climb) {
    let mut table =
        Table::new(["operator", "cases", "right", "wrong", "refused", "crashed", "first that is not right"]);
    for (name, steps) in &climb.operators {
        let counts = [steps.cases, steps.right, steps.wrong, steps.refused, steps.crashed];
        let first = steps.first.as_deref().map_or_else(Cell::none, Cell::text);
        let counts = counts.map(|count| Cell::count(count as u64));
        let [cases, right, wrong, refused, crashed] = counts;
        table.row([Cell::text(name), cases, right, wrong, refused, crashed, first]);
    }
    output::table(&table, global.format.into());
    let total = totals(climb);
    output::say(&format!(
        "{}: {} of {} cases right, {} wrong, {} refused, {} crashed; {} of {} operators wholly right",
        climb.plugin,
        total.right,
        total.cases,
        total.wrong,
        total.refused,
        total.crashed,
        wholly(climb),
        climb.operators.len()
    ));
    climb.models.iter().flat_map(sentences).for_each(|text| output::say(&text));
}

/// "it has all operators of 61 of 405 models", and what to build next.
fn sentences(models: &Unlocked) -> Vec<String> {
    let mut all = vec![format!("it has all operators of {} of {} models", models.with_all, models.models)];
    let steps: Vec<String> = models
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

fn totals(climb: &Climb) -> Steps {
    climb.operators.values().fold(Steps::default(), |all, one| Steps {
        cases: all.cases + one.cases,
        right: all.right + one.right,
        wrong: all.wrong + one.wrong,
        refused: all.refused + one.refused,
        crashed: all.crashed + one.crashed,
        ..all
    })
}

fn wholly(climb: &Climb) -> usize {
    climb.operators.values().filter(|steps| steps.right == steps.cases).count()
}

/// Operators of a backend that a filter takes, by name.
fn names(climb: &Climb, takes: impl Fn(&Steps) -> bool) -> String {
    let names: Vec<&str> =
        climb.operators.iter().filter(|(_, steps)| takes(steps)).map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

fn side_by_side(climbs: &[Climb]) -> Table {
    let mut table = Table::new([
        "backend",
        "cases right",
        "wrong",
        "refused",
        "crashed",
        "operators wholly right",
        "models with all operators",
        "wrong or crashed in a case",
        "not at all",
    ]);
    for climb in climbs {
        let total = totals(climb);
        table.row([
            Cell::text(&climb.plugin),
            format!("{} of {}", total.right, total.cases).into(),
            Cell::count(total.wrong as u64),
            Cell::count(total.refused as u64),
            Cell::count(total.crashed as u64),
            format!("{} of {}", wholly(climb), climb.operators.len()).into(),
            climb.models.as_ref().map_or_else(Cell::none, |of| format!("{} of {}", of.with_all, of.models).into()),
            names(climb, |steps| steps.wrong + steps.crashed > 0).into(),
            names(climb, |steps| steps.right == 0 && steps.wrong + steps.crashed == 0).into(),
        ]);
    }
    table
}

fn json(climbs: &[Climb]) -> String {
    let of_case = |one: &Climbed| {
        let mut told = serde_json::json!({
            "case": one.case, "operator": one.operator, "type": one.of_type, "edge": one.edge,
        });
        if let (Some(told), Ok(serde_json::Value::Object(rung))) =
            (told.as_object_mut(), serde_json::to_value(&one.rung))
        {
            told.extend(rung);
        }
        told
    };
    let of_plugin = |climb: &Climb| {
        let next = |of: &Unlocked| {
            let steps: Vec<_> = of
                .next
                .iter()
                .map(|step| serde_json::json!({"operator": step.operator, "unlocks": step.unlocks}))
                .collect();
            serde_json::json!({"known": of.models, "with_all_operators": of.with_all, "next": steps})
        };
        serde_json::json!({
            "plugin": climb.plugin,
            "cases": climb.cases.iter().map(of_case).collect::<Vec<_>>(),
            "models": climb.models.as_ref().map(next),
        })
    };
    let all: Vec<_> = climbs.iter().map(of_plugin).collect();
    format!("{:#}\n", serde_json::Value::from(all))
}
