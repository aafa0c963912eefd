//! `--incremental`: says what is missing of a plan, and plans that.

use super::persist::Persist;
use super::{CommandError, failed};
use crate::cli::Global;
use crate::output;
use skillbench_engine::run::{Inventory, Plan};
use skillbench_session::incremental;

/// The plan of what is missing; `None`: nothing is, which is told.
///
/// # Errors
/// A database that is there and cannot be read.
pub fn missing(
    global: &Global,
    inventory: &Inventory,
    plan: Plan,
    persist: &Persist,
) -> Result<Option<Plan>, CommandError> {
    let found = incremental::missing(&plan, persist.database.as_ref()).map_err(failed)?;
    let say = |text: String| {
        if !global.quiet {
            output::say(&text);
        }
    };
    found.changed.iter().for_each(|(name, changes)| say(format!("{name} is measured again: {}", changes.join("; "))));
    let skips = match found.skipped {
        0 => String::new(),
        n => format!("; {n} others are skipped by a rule, or of backends that are left out"),
    };
    found.failed_since.iter().for_each(|(name, newer)| {
        say(format!("{name}: its figures hold, and a newer try did not succeed: {newer}"));
    });
    if found.cells.is_empty() {
        output::say(&format!("nothing to do: the database has figures of all {} cells{skips}", found.there));
        return Ok(None);
    }
    say(format!("{} of {} cells are missing in the database{skips}", found.cells.len(), plan.cells.len()));
    incremental::only(inventory, plan, found.cells).map(Some).map_err(failed)
}
