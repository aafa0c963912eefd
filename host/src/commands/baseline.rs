//! `host baseline`: runs that later ones are held against.

use super::stored::read_run;
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{BaselineCommand, Global};
use crate::output;
use skillbench_report::{Cell, Table};
use skillbench_session::baseline::{self, BaselineError};
use std::path::Path;

pub fn baseline(global: &Global, command: &BaselineCommand) -> Done {
    match command {
        BaselineCommand::List => return list(global),
        BaselineCommand::Save { name, run, stored } => {
            baseline::check_name(name).map_err(refused)?;
            save(global, name, &read_run(&stored.place(global), run)?.folder)?;
        }
        BaselineCommand::Remove { name } => baseline::remove(name).map_err(refused)?,
    }
    Ok(Exit::Good)
}

/// Keeps a run under a name.
fn save(global: &Global, name: &str, run: &Path) -> Result<(), CommandError> {
    let id = baseline::save(name, run).map_err(refused)?;
    tell_saved(global, name, &id);
    Ok(())
}

pub fn tell_saved(global: &Global, name: &str, run: &str) {
    if !global.quiet {
        output::say(&format!("{run} is the baseline '{name}' of this machine"));
    }
}

fn list(global: &Global) -> Done {
    let mut table = Table::new(["name", "run", "measured_at", "machine", "here", "cells"]).least([
        "cells",
        "machine",
        "measured_at",
    ]);
    for baseline in baseline::list() {
        match baseline {
            Err(error) => output::warning(&format!("a baseline cannot be read: {error}")),
            Ok(baseline) => table.row([
                baseline.name.into(),
                baseline.run.run_id.into(),
                baseline.run.started_at.into(),
                baseline.run.environment.machine_label().into(),
                Cell::flag(baseline.is_here),
                Cell::count(baseline.run.cells.len() as u64),
            ]),
        }
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

/// How the program ends that cannot do it.
pub fn refused(error: BaselineError) -> CommandError {
    match error {
        BaselineError::Folder { .. } => failed(error),
        _ => usage(error),
    }
}
