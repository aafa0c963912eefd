//! `--incremental`: of a plan the cells of which the database has no figures that still hold.

use super::here::{self, Here};
use super::keep::Keeping;
use super::{CommandError, failed, usage};
use crate::cli::Global;
use crate::output;
use skillbench_engine::run::{self, CellName, Inventory, Plan, RunRequest, Standing};
use skillbench_results::current::{self, Machine, Measured, Wanted};

/// The plan of what is missing; `None`: nothing is, which is told.
///
/// # Errors
/// A database that is there and cannot be read.
pub fn missing(
    global: &Global,
    inventory: &Inventory,
    plan: Plan,
    keeping: &Keeping,
) -> Result<Option<Plan>, CommandError> {
    let here = Here::look(inventory, &plan);
    let stored = stored(keeping)?;
    let (mut missing, mut skipped, mut there): (Vec<CellName>, usize, usize) = (vec![], 0, 0);
    for cell in &plan.cells {
        let name = here.name(cell);
        match here.standing(cell) {
            _ if cell.skip.is_some() => skipped += 1,
            Standing::LeftOut(_) => skipped += 1,
            // Its outcome says so.
            Standing::Nowhere(_) => missing.push(name),
            Standing::On(device) => match found(inventory, &stored, &here.wanted(cell, device)) {
                None => missing.push(name),
                Some(changes) if changes.is_empty() => there += 1,
                Some(changes) => {
                    say(global, &format!("{} is measured again: {}", here::told(&name), changes.join("; ")));
                    missing.push(name);
                }
            },
        }
    }
    let skips = if skipped > 0 {
        format!("; {skipped} others are skipped by a rule, or of backends that are left out")
    } else {
        String::new()
    };
    if missing.is_empty() {
        output::say(&format!("nothing to do: the database has figures of all {there} cells{skips}"));
        return Ok(None);
    }
    say(global, &format!("{} of {} cells are missing in the database{skips}", missing.len(), plan.cells.len()));
    drop(here);
    let request = RunRequest { exactly: missing, ..plan.request };
    run::plan(inventory, request).map(Some).map_err(usage)
}

fn say(global: &Global, text: &str) {
    if !global.quiet {
        output::say(text);
    }
}

fn stored(keeping: &Keeping) -> Result<Vec<Measured>, CommandError> {
    let machine = Machine::of(&skillbench_engine::environment::Environment::probe());
    match (&keeping.database, machine) {
        (Some(database), Some(machine)) if database.exists() => current::of_machine(database, &machine).map_err(failed),
        _ => Ok(vec![]),
    }
}

/// What changed since the cell was measured, least of all its measurements; `None`: it never was.
fn found(inventory: &Inventory, stored: &[Measured], wanted: &Wanted) -> Option<Vec<String>> {
    let own = |request: &RunRequest| here::own_options(inventory, request, &wanted.name.plugin);
    let same = stored.iter().filter(|known| wanted.is(known, own, here::workers));
    same.map(|known| known.made_with.changed(&wanted.made_with)).min_by_key(Vec::len)
}
