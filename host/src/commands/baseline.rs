//! `host baseline`: runs that later ones are held against. Kept under the user's data, apart for each machine: the same processor
//! model is not the same machine.

use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{BaselineCommand, Global, WhichRuns};
use crate::output;
use skillbench_engine::paths;
use skillbench_record::hash::sha256_text;
use skillbench_record::machine;
use skillbench_report::Table;
use skillbench_store::{Recorded, journal};
use std::path::{Path, PathBuf};

pub fn baseline(global: &Global, command: &BaselineCommand) -> Done {
    match command {
        BaselineCommand::List => list(global),
        BaselineCommand::Save { name, run, stored } => {
            checked(name)?;
            let which = WhichRuns { stored: stored.clone(), run: vec![run.clone()], ..WhichRuns::default() };
            let chosen = which.read(global)?;
            save(name, &chosen.folder, !global.quiet)?;
            Ok(Exit::Good)
        }
        BaselineCommand::Remove { name } => remove(name),
    }
}

fn folder() -> PathBuf {
    paths::data().join("baselines")
}

/// A name that is a folder's, and no run's.
pub fn checked(name: &str) -> Result<&str, CommandError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.chars().all(allowed) && !name.starts_with('.') && name != "latest" {
        true => Ok(name),
        false => Err(usage(format!("'{name}' is no name for a baseline: expected letters, digits, '-', '_' and '.'"))),
    }
}

fn of_machine(name: &str, machine: &str) -> PathBuf {
    folder().join(name).join(&sha256_text(machine)[..16])
}

/// The baseline of this name that belongs to this machine.
pub fn find(name: &str) -> Option<PathBuf> {
    let name = checked(name).ok()?;
    // An older host kept it under the name of the machine.
    let places = [machine::this(), machine::label()].map(|machine| of_machine(name, &machine));
    places.into_iter().find(|place| place.join(journal::NAME).is_file())
}

/// Keeps a run's journal under a name, in place of what had it.
///
/// # Errors
/// The run has no journal, was measured on another machine, or cannot be copied.
pub fn save(name: &str, run: &Path, talk: bool) -> Result<(), CommandError> {
    let name = checked(name)?;
    let file = run.join(journal::NAME);
    if !file.is_file() {
        let text = format!("{} has no journal: a baseline is a run of this host in its folder", run.display());
        return Err(usage(text));
    }
    let Recorded { run: head, .. } = journal::read(run).map_err(usage)?;
    if head.environment.machine_id().as_deref() != Some(&machine::this()) {
        return Err(usage(format!(
            "{} was measured on {}, and this is {}: every machine has its own",
            run.display(),
            head.environment.machine_label(),
            machine::label()
        )));
    }
    let place = of_machine(name, &machine::this());
    let told = |error: std::io::Error| failed(format!("{}: {error}", place.display()));
    std::fs::create_dir_all(&place).map_err(told)?;
    // A reader finds the old one or the new one, whole.
    let scratch = place.join("journal.new");
    std::fs::copy(&file, &scratch).and_then(|_| std::fs::rename(&scratch, place.join(journal::NAME))).map_err(told)?;
    if talk {
        output::say(&format!("{} is the baseline '{name}' of this machine", head.run_id));
    }
    Ok(())
}

fn list(global: &Global) -> Done {
    let mut table = Table::new(["name", "run", "measured_at", "machine", "here", "cells"]);
    let mut places: Vec<(String, PathBuf)> = vec![];
    for name in entries(&folder()) {
        let shown = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        places.extend(entries(&name).into_iter().map(|place| (shown.clone(), place)));
    }
    for (name, place) in places {
        let Ok(Recorded { run, .. }) = journal::read(&place) else {
            output::warning(&format!("baseline '{name}' in {} cannot be read", place.display()));
            continue;
        };
        let is_here = run.environment.machine_id().as_deref() == Some(&machine::this());
        table.row([
            name.into(),
            run.run_id.into(),
            run.started_at.into(),
            run.environment.machine_label().into(),
            skillbench_report::Cell::flag(is_here),
            skillbench_report::Cell::count(run.cells.len() as u64),
        ]);
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    all.sort();
    all
}

fn remove(name: &str) -> Done {
    checked(name)?;
    let Some(place) = find(name) else {
        return Err(usage(format!("this machine has no baseline '{name}'; `host baseline list` lists them")));
    };
    std::fs::remove_dir_all(&place).map_err(|error| failed(format!("{}: {error}", place.display())))?;
    // Other machines may have theirs under this name.
    let _ = std::fs::remove_dir(folder().join(name));
    Ok(Exit::Good)
}
