//! `host plugin ladder`: backends on ONNX operators, one by one.

use super::{CommandError, Done, Exit, usage};
use crate::cli::{FormatArg, Global};
use crate::output;
use skillbench_engine::run::{Inventory, Plugin};
use skillbench_record::PluginOptions;
use skillbench_report::{Cell, Table};
use skillbench_session::ladder::{Climbed, Steps, Unlocked, by_operator, climbed, operators_of, unlocked};
use skillbench_worker::Failure;
use skillbench_worker::ladder as cases;
use std::collections::BTreeMap;

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
                let models = operators.is_empty().then(|| unlocked(&cases::built(&told), &models, STEPS));
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
    cases::unknown(operators).map_or(Ok(()), |why| Err(usage(why)))
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
    let total = cases::totals(&climb.operators);
    output::say(&format!(
        "{}: {} of {} cases right, {} wrong, {} refused, {} crashed; {} of {} operators wholly right",
        climb.plugin,
        total.right,
        total.cases,
        total.wrong,
        total.refused,
        total.crashed,
        cases::wholly_right(&climb.operators),
        climb.operators.len()
    ));
    climb.models.iter().flat_map(Unlocked::sentences).for_each(|text| output::say(&text));
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
        let total = cases::totals(&climb.operators);
        table.row([
            Cell::text(&climb.plugin),
            format!("{} of {}", total.right, total.cases).into(),
            Cell::count(total.wrong as u64),
            Cell::count(total.refused as u64),
            Cell::count(total.crashed as u64),
            format!("{} of {}", cases::wholly_right(&climb.operators), climb.operators.len()).into(),
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
