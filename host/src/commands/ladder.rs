//! `host plugin ladder`: backends on ONNX operators, one by one.

use super::{CommandError, Done, Exit, usage};
use crate::cli::{FormatArg, Global};
use crate::output;
use skillbench_engine::run::Plugin;
use skillbench_record::PluginOptions;
use skillbench_report::{Cell, Table};
use skillbench_session::ladder::operators_of;
use skillbench_worker::PluginUse;
use skillbench_worker::ladder::{self as cases, Steps, Tried};

struct Climb {
    plugin: String,
    tried: Tried,
}

pub fn ladder(global: &Global, plugins: &[String], operators: &[String]) -> Done {
    let inventory = global.inventory();
    known(operators)?;
    let models = operators_of(&inventory.catalog().skills);
    let mut climbs = vec![];
    for id in plugins {
        let plugin = inventory.plugin(id).ok_or_else(|| usage(inventory.why_not(id)))?;
        let opened = opened(plugin)?;
        match Tried::of(&opened, operators, &models, &inventory.stop) {
            Err(failure) => output::warning(&format!("{id}: {failure}")),
            Ok(tried) => climbs.push(Climb { plugin: id.clone(), tried }),
        }
    }
    match (global.format, climbs.as_slice()) {
        (FormatArg::Json, _) => output::print(&json(&climbs)),
        (_, []) => {}
        (_, [only]) => tell_one(global, only),
        (_, all) => output::table(&side_by_side(all), global.format.into()),
    }
    let any_fault = climbs.iter().any(|climb| climb.tried.has_fault());
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

fn opened(plugin: &Plugin) -> Result<PluginUse, CommandError> {
    if plugin.description.backend.is_none() {
        return Err(usage(format!("'{}' is no backend: it runs no operators", plugin.id)));
    }
    plugin.opened_with(&PluginOptions::new(), None).map_err(usage)
}

fn tell_one(global: &Global, climb: &Climb) {
    let mut table = Table::new(Tried::HEADS);
    for (name, counts, first) in climb.tried.rows() {
        let first = first.map_or_else(Cell::none, Cell::text);
        let [cases, right, wrong, refused, crashed] = counts.map(|count| Cell::count(count as u64));
        table.row([Cell::text(name), cases, right, wrong, refused, crashed, first]);
    }
    output::table(&table, global.format.into());
    for (at, sentence) in climb.tried.sentences().into_iter().enumerate() {
        output::say(&if at == 0 { format!("{}: {sentence}", climb.plugin) } else { sentence });
    }
}

/// Operators of a backend that a filter takes, by name.
fn names(climb: &Climb, takes: impl Fn(&Steps) -> bool) -> String {
    let names: Vec<&str> =
        climb.tried.operators.iter().filter(|(_, steps)| takes(steps)).map(|(name, _)| name.as_str()).collect();
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
        let Tried { operators, models, .. } = &climb.tried;
        let total = cases::totals(operators);
        table.row([
            Cell::text(&climb.plugin),
            format!("{} of {}", total.right, total.cases).into(),
            Cell::count(total.wrong as u64),
            Cell::count(total.refused as u64),
            Cell::count(total.crashed as u64),
            format!("{} of {}", cases::wholly_right(operators), operators.len()).into(),
            models.as_ref().map_or_else(Cell::none, |of| format!("{} of {}", of.with_all, of.models).into()),
            names(climb, |steps| steps.wrong + steps.crashed > 0).into(),
            names(climb, |steps| steps.right == 0 && steps.wrong + steps.crashed == 0).into(),
        ]);
    }
    table
}

fn json(climbs: &[Climb]) -> String {
    let of_plugin = |climb: &Climb| {
        serde_json::json!({
            "plugin": climb.plugin,
            "cases": climb.tried.cases_as_json(),
            "models": climb.tried.models_as_json(),
        })
    };
    let all: Vec<_> = climbs.iter().map(of_plugin).collect();
    format!("{:#}\n", serde_json::Value::from(all))
}
