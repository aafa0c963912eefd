//! `--incremental`: of a plan the cells of which the database has no figures that still hold.

use crate::conditions::Conditions;
use skillbench_engine::run::{Availability, Plan};
use skillbench_record::{CellName, machine};
use skillbench_results::freshness::{self, Measured, Newer, Wanted};
use skillbench_store::{Database, DatabaseError};

/// What is missing of a plan, and what is not.
#[derive(Debug, Default)]
pub struct Missing {
    /// To be measured.
    pub cells: Vec<CellName>,
    /// Of these the ones that are measured, with something that is another now, and what.
    pub changed: Vec<(CellName, Vec<String>)>,
    /// Cells of which the database has figures that hold.
    pub there: usize,
    /// Of these the ones of which a newer try failed: their figures hold all the same.
    pub failed_since: Vec<(CellName, Newer)>,
    /// Left out by a rule, or with their backend.
    pub skipped: usize,
}

/// Holds a plan against what the database has of this machine; without a database everything is missing.
///
/// # Errors
/// A database that is there and cannot be read.
pub fn missing(plan: &Plan, database: Option<&Database>) -> Result<Missing, DatabaseError> {
    let conditions = Conditions::look(plan);
    let stored = match database.filter(|database| database.exists()) {
        Some(database) => freshness::of_machine(database, &machine::this())?,
        None => vec![],
    };
    let mut found = Missing::default();
    for cell in &plan.cells {
        let name = conditions.name(cell);
        match conditions.availability(cell) {
            _ if cell.skip.is_some() => found.skipped += 1,
            Availability::LeftOut(_) => found.skipped += 1,
            // Its outcome says so.
            Availability::Unusable(_) => found.cells.push(name),
            Availability::Usable(device) => match held(&stored, &conditions.wanted(cell, device)) {
                None => found.cells.push(name),
                Some((known, changes)) if changes.is_empty() => {
                    found.there += 1;
                    found.failed_since.extend(known.newer.clone().map(|newer| (name, newer)));
                }
                Some((_, changes)) => {
                    found.cells.push(name.clone());
                    found.changed.push((name, changes));
                }
            },
        }
    }
    Ok(found)
}

/// The measurement of a cell, with what changed since, least of all its measurements; `None`: it never was measured.
fn held<'s>(stored: &'s [Measured], wanted: &Wanted) -> Option<(&'s Measured, Vec<String>)> {
    let same = stored.iter().filter(|known| wanted.is(known));
    same.map(|known| (known, known.made_with.changed(&wanted.made_with))).min_by_key(|(_, changes)| changes.len())
}
