//! `host db export`: runs as files that other programs read.

use super::db::refused;
use super::{CommandError, failed};
use crate::cli::ExportForm;
use serde_json::Value;
use skillbench_record::Run;
use skillbench_record::catalog::Better;
use skillbench_results::{export, files, matrix as results};
use skillbench_session::keep::matrix_of;
use skillbench_store::Database;
use skillbench_store::database::{Exported, Filter, Form};
use std::path::Path;

/// Runs that are read at once.
const AT_ONCE: usize = 64;

/// What a file's name ends in, and its text.
type Written = (&'static str, String);
type Make = fn(&Run) -> Result<Vec<Written>, CommandError>;

/// Writes the runs of the filter into a folder.
pub fn export(database: &Database, filter: &Filter, form: ExportForm, folder: &Path) -> Result<Exported, CommandError> {
    match form {
        ExportForm::Parquet => database.export(filter, Form::Parquet, folder).map_err(refused),
        ExportForm::Csv => database.export(filter, Form::Csv, folder).map_err(refused),
        ExportForm::SuiteJson => by_run(database, filter, folder, |run| one("suite.json", &export::suite(run))),
        ExportForm::FlatJson => by_run(database, filter, folder, |run| one("flat.json", &export::flat(run))),
        ExportForm::FlatCsv => {
            by_run(database, filter, folder, |run| Ok(vec![("flat.csv", export::flat_csv([run]).map_err(failed)?)]))
        }
        ExportForm::SkillsetJson => {
            by_run(database, filter, folder, |run| one("skillset.json", &export::skillset(run)))
        }
        ExportForm::BencherJson => {
            by_run(database, filter, folder, |run| some([("bencher.json", export::bencher(run))]))
        }
        ExportForm::ActionJson => by_run(database, filter, folder, |run| {
            let (smaller, bigger) = (export::action(run, Better::Lower), export::action(run, Better::Higher));
            some([("smaller.json", smaller), ("bigger.json", bigger)])
        }),
        ExportForm::OpenMetrics => {
            by_run(database, filter, folder, |run| Ok(vec![("openmetrics.txt", export::openmetrics(run))]))
        }
        ExportForm::MatrixJson => of_all(database, filter, folder),
    }
}

/// Files of each run, made of its document out of the database.
fn by_run(database: &Database, filter: &Filter, folder: &Path, make: Make) -> Result<Exported, CommandError> {
    let runs = database.runs(filter).map_err(refused)?;
    let mut exported = Exported { files: vec![], runs: runs.len() };
    for some in runs.chunks(AT_ONCE) {
        let part = filter.within(some.iter().map(|run| run.run_id.as_str()));
        for run in database.documents(&part).map_err(failed)? {
            for (ending, text) in make(&run)? {
                put(&mut exported, folder, &format!("{}.{ending}", run.run_id), text)?;
            }
        }
    }
    Ok(exported)
}

/// The matrix, which has its history from all runs.
fn of_all(database: &Database, filter: &Filter, folder: &Path) -> Result<Exported, CommandError> {
    let mut exported = Exported { files: vec![], runs: database.runs(filter).map_err(refused)?.len() };
    if exported.runs > 0 {
        let matrix = matrix_of(database, filter).map_err(failed)?;
        put(&mut exported, folder, files::MATRIX_JSON, pretty(&results::json(&matrix))?)?;
    }
    Ok(exported)
}

fn put(exported: &mut Exported, folder: &Path, name: &str, text: String) -> Result<(), CommandError> {
    let file = folder.join(name);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text));
    written.map_err(|error| failed(format!("{}: {error}", file.display())))?;
    exported.files.push(file);
    Ok(())
}

fn one(ending: &'static str, value: &Value) -> Result<Vec<Written>, CommandError> {
    Ok(vec![(ending, pretty(value)?)])
}

/// A file for each that has something to say.
fn some<const N: usize>(files: [(&'static str, Option<Value>); N]) -> Result<Vec<Written>, CommandError> {
    let said = files.into_iter().filter_map(|(ending, value)| Some((ending, value?)));
    said.map(|(ending, value)| Ok((ending, pretty(&value)?))).collect()
}

fn pretty(value: &Value) -> Result<String, CommandError> {
    Ok(serde_json::to_string_pretty(value).map_err(failed)? + "\n")
}
