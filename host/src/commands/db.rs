//! `host db`: the database of all runs.

use super::{CommandError, Done, Exit, export, failed, usage};
use crate::cli::{DbCommand, Global, Stored};
use crate::output;
use skillbench_report::{Cell, Table};
use skillbench_results::{find, read};
use skillbench_session::keep::update_matrix;
use skillbench_store::database::{Filter, Imported, Waiting};
use skillbench_store::{Database, DatabaseError, JournalError, Recorded, journal};
use std::path::{Path, PathBuf};

/// The file's name where nobody named another.
const NAME: &str = "benchmarks.duckdb";

/// The variable that stands for `--db`.
const VARIABLE: &str = "BENCHMARK_DB_PATH";

/// The database that the environment names.
pub fn of_environment() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The database that runs go into: the one that is named, by a flag or by the environment, else the one in the folder of runs.
pub fn database(global: &Global, named: Option<&Path>, results: &Path) -> Database {
    at(global, named.map(Path::to_path_buf).or_else(of_environment).as_deref(), results)
}

/// The database that is named, else the one in the folder of runs.
pub fn at(global: &Global, named: Option<&Path>, results: &Path) -> Database {
    let path = named.map_or_else(|| results.join(NAME), Path::to_path_buf);
    let tell: fn(&str) = if global.quiet { |_| {} } else { output::say };
    Database::at(path).waiting(Waiting { tell, ..Waiting::default() })
}

/// How the program ends whose database cannot be used: one that is not there was named, or has to be.
pub fn refused(error: DatabaseError) -> CommandError {
    match error {
        DatabaseError::Missing { .. } => usage(error),
        _ => failed(error),
    }
}

impl Stored {
    fn database(&self, global: &Global) -> Database {
        database(global, self.db.as_deref(), &self.results())
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
        DbCommand::Export { stored, file_format: form, output_dir: folder, run, condition } => {
            let database = stored.database(global);
            let filter = match condition {
                Some(condition) => Filter::sql(condition),
                None if run.is_empty() => Filter::all(),
                None => Filter::runs(run.iter().map(String::as_str)),
            };
            all_are_there(&database, &filter, run)?;
            let exported = export::export(&database, &filter, *form, folder)?;
            if exported.runs == 0 {
                return Err(usage("no run is meant by that; `host query \"SELECT run FROM runs\"` lists them"));
            }
            if exported.files.is_empty() {
                output::say("nothing is written: the runs have no figure that may be believed");
            }
            let mut table = Table::new(["file"]);
            exported.files.iter().for_each(|file| table.row([file.display().to_string().into()]));
            output::table(&table, global.format.into());
            Ok(Exit::Good)
        }
        DbCommand::Check { stored } => check(global, stored),
        DbCommand::Describe { stored } => {
            let answer = stored.database(global).describe().map_err(refused)?;
            output::table(&Table::from_values(answer.columns, answer.rows), global.format.into());
            Ok(Exit::Good)
        }
        DbCommand::Migrate { stored } => {
            let database = stored.database(global);
            let (from, to) = database.migrate().map_err(refused)?;
            let path = database.path().display();
            output::say(&match from == to {
                true => format!("{path} has schema {to} already"),
                false => format!("{path}: from schema {from} to {to}"),
            });
            Ok(Exit::Good)
        }
    }
}

/// Whether each run that is named is in the database.
fn all_are_there(database: &Database, filter: &Filter, names: &[String]) -> Result<(), CommandError> {
    if names.is_empty() {
        return Ok(());
    }
    let runs = database.runs(filter).map_err(refused)?;
    match names.iter().find(|name| !runs.iter().any(|run| run.run_id == **name)) {
        None => Ok(()),
        Some(name) => Err(usage(format!(
            "there is no run '{name}' in {}; `host query \"SELECT run FROM runs\"` lists them",
            database.path().display()
        ))),
    }
}

fn check(global: &Global, stored: &Stored) -> Done {
    let checked = stored.database(global).check().map_err(refused)?;
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

fn import(global: &Global, stored: &Stored, places: &[PathBuf]) -> Done {
    let database = stored.database(global);
    let results = [stored.results()];
    let imported = import_into(&database, if places.is_empty() { &results } else { places })?;
    output::table(&imported.table, global.format.into());
    update_matrix(&database).map_err(failed)?;
    match imported.broken {
        0 => Ok(Exit::Good),
        broken => Err(failed(format!("{broken} of {} could not be read; the others are stored", imported.files))),
    }
}

/// What became of runs that were to be stored.
pub struct IntoDatabase {
    table: Table,
    files: usize,
    broken: usize,
}

/// Stores the runs of these places. What cannot be read is told, and costs the others nothing.
///
/// # Errors
/// A place is not there, or has no run; the database cannot be written.
pub fn import_into(database: &Database, places: &[PathBuf]) -> Result<IntoDatabase, CommandError> {
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
    Ok(IntoDatabase { table, files: files.len(), broken })
}
