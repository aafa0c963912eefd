//! `host db`: the database of all runs.

use super::{Done, Exit, export, failed, usage};
use crate::cli::{DbCommand, Global, Stored};
use crate::output;
use skillbench_report::{Cell, Table};
use skillbench_results::{find, read};
use skillbench_session::keep::update_matrix;
use skillbench_store::database::{Filter, Imported, Waiting};
use skillbench_store::{Database, JournalError, Recorded, journal};
use std::path::{Path, PathBuf};

/// The file's name where nobody named another.
const NAME: &str = "benchmarks.duckdb";

/// The database that is meant.
pub fn database(global: &Global, named: Option<&Path>, results: &Path) -> Database {
    let path = named.map_or_else(|| results.join(NAME), Path::to_path_buf);
    let tell: fn(&str) = if global.quiet { |_| {} } else { output::say };
    Database::at(path).waiting(Waiting { tell, ..Waiting::default() })
}

impl Stored {
    pub fn database(&self, global: &Global) -> Database {
        database(global, self.db.as_deref(), &self.results_dir)
    }
}

pub fn db(global: &Global, command: &DbCommand) -> Done {
    match command {
        DbCommand::Init { stored, overwrite } => {
            let database = stored.database(global);
            database.init(*overwrite).map_err(failed)?;
            output::say(&format!("{} is ready", database.path().display()));
            Ok(Exit::Good)
        }
        DbCommand::Import { stored, place } => import(global, stored, place),
        DbCommand::Export { stored, form, output: folder, run, condition } => {
            let database = stored.database(global);
            let filter = match condition {
                Some(condition) => Filter::sql(condition),
                None if run.is_empty() => Filter::all(),
                None => Filter::runs(run.iter().map(String::as_str)),
            };
            let exported = export::export(&database, &filter, *form, folder)?;
            if exported.runs == 0 {
                return Err(usage("no run is meant by that; `host query \"SELECT run FROM runs\"` lists them"));
            }
            let mut table = Table::new(["file"]);
            exported.files.iter().for_each(|file| table.row([file.display().to_string().into()]));
            output::table(&table, global.format.into());
            Ok(Exit::Good)
        }
        DbCommand::Check { stored } => check(global, stored),
        DbCommand::Describe { stored } => {
            let answer = stored.database(global).describe().map_err(failed)?;
            output::table(&Table::from_values(answer.columns, answer.rows), global.format.into());
            Ok(Exit::Good)
        }
        DbCommand::Migrate { stored } => {
            let database = stored.database(global);
            let (from, to) = database.migrate().map_err(failed)?;
            let path = database.path().display();
            output::say(&match from == to {
                true => format!("{path} has schema {to} already"),
                false => format!("{path}: from schema {from} to {to}"),
            });
            Ok(Exit::Good)
        }
    }
}

fn check(global: &Global, stored: &Stored) -> Done {
    let checked = stored.database(global).check().map_err(failed)?;
    let mut table = Table::new(["table", "rows"]);
    checked.tables.iter().for_each(|(name, rows)| table.row([name.as_str().into(), Cell::count(*rows as u64)]));
    output::table(&table, global.format.into());
    checked.problems.iter().for_each(|problem| output::error(problem));
    match checked.problems.is_empty() {
        true => {
            output::say(&format!("schema {}; all of it holds together", checked.schema));
            Ok(Exit::Good)
        }
        false => Err(failed("fill a new one: host db init --overwrite, then host db import")),
    }
}

/// What cannot be read is told, and costs the others nothing.
fn import(global: &Global, stored: &Stored, places: &[PathBuf]) -> Done {
    let database = stored.database(global);
    let places = if places.is_empty() { std::slice::from_ref(&stored.results_dir) } else { places };
    let mut files = vec![];
    for place in places {
        files.extend(find(place).map_err(|error| usage(format!("{}: {error}", place.display())))?);
    }
    if files.is_empty() {
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        return Err(usage(format!("there is no run in {}: no {} and no run.json", looked.join(", "), journal::NAME)));
    }
    let mut table = Table::new(["run", "cells", "what"]);
    let mut broken = 0;
    let report = |imported| match imported {
        Imported::Unreadable(error) => {
            output::error(&error.to_string());
            broken += 1;
        }
        Imported::Stored(runs, stored) => {
            for (run, cells) in runs {
                let what = if stored.new.contains(&run) {
                    "new"
                } else if stored.renewed.contains(&run) {
                    "renewed"
                } else {
                    "there already"
                };
                table.row([run.as_str().into(), Cell::count(cells as u64), what.into()]);
            }
        }
    };
    let read = |file: &Path| -> Result<Recorded, JournalError> {
        let recorded = read(file)?;
        recorded.damaged.iter().for_each(|damaged| output::warning(&format!("{}: {damaged}", file.display())));
        Ok(recorded)
    };
    database.import(&files, read, report).map_err(failed)?;
    output::table(&table, global.format.into());
    update_matrix(&database).map_err(failed)?;
    match broken {
        0 => Ok(Exit::Good),
        _ => Err(failed(format!("{broken} of {} could not be read; the others are stored", files.len()))),
    }
}
