//! Which stored results are meant: runs by name, a condition, or all.

use super::{CommandError, failed, usage};
use crate::cli::{Global, WhichRuns};
use crate::output;
use skillbench_results::questions::rules::rules;
use skillbench_results::{Stored, StoredError, find, read};
use skillbench_session::baseline;
use skillbench_store::database::Filter;
use skillbench_store::{Database, journal};
use std::path::{Path, PathBuf};

/// What was read, and the folder beside which files about it belong.
pub struct Chosen {
    pub stored: Stored,
    pub folder: PathBuf,
}

impl WhichRuns {
    /// Reads what is meant. Of the database the samples are read too, where single runs are meant.
    pub fn read(&self, global: &Global) -> Result<Chosen, CommandError> {
        let database = self.stored.database(global);
        let results = &self.stored.results_dir;
        let names = if self.join.is_empty() { &self.run } else { &self.join };
        let mut chosen = match &self.condition {
            _ if !self.json_path.is_empty() => of_places(self.json_path.clone(), results)?,
            Some(condition) => of_database(&database, &Filter::sql(condition), results)?,
            None if self.all => of_database(&database, &Filter::all(), results)?,
            None => self.named(&database, names)?,
        };
        if !self.model.is_empty() {
            chosen.stored = chosen.stored.of_models(&self.model).map_err(failed)?;
        }
        if chosen.stored.cells.height() == 0 && !self.model.is_empty() {
            let cause = format!(
                "no cell is of {}; `host query \"SELECT DISTINCT model_id FROM benchmark_results\"` lists models",
                self.model.join(", ")
            );
            return Err(usage(cause));
        }
        if chosen.stored.runs.is_empty() {
            return Err(usage("nothing is stored of that; `host query \"SELECT run FROM runs\"` lists what is there"));
        }
        Ok(chosen)
    }

    /// What a report is about: as [`WhichRuns::read`], but of a large database only what counts now, and a line says so.
    pub fn read_for_report(&self, global: &Global) -> Result<Chosen, CommandError> {
        let database = self.stored.database(global);
        let is_whole = self.all && self.condition.is_none() && self.json_path.is_empty() && self.model.is_empty();
        let cells = if is_whole && database.exists() { database.count().map_err(failed)? } else { 0 };
        if cells <= rules().report.most_cells {
            return self.read(global);
        }
        let stored = Stored::that_count(&database).map_err(describe)?;
        let chosen = Chosen { stored, folder: self.stored.results_dir.clone() };
        if !global.quiet {
            output::say(&format!(
                "of {cells} cells the report has the {} that count now or are the newest try; `host query` has all",
                chosen.stored.cells.height()
            ));
        }
        Ok(chosen)
    }

    fn named(&self, database: &Database, names: &[String]) -> Result<Chosen, CommandError> {
        let results = &self.stored.results_dir;
        let latest = ["latest".to_string()];
        let names = if names.is_empty() { &latest[..] } else { names };
        let mut places = vec![];
        for name in names {
            match place(results, name) {
                Some(place) => places.push(place),
                None => {
                    return of_runs(database, results, names);
                }
            }
        }
        of_places(places, results)
    }
}

fn of_places(places: Vec<PathBuf>, results: &Path) -> Result<Chosen, CommandError> {
    let folder = match places.as_slice() {
        [one] if one.is_dir() => one.clone(),
        [one] => one.parent().map_or_else(|| results.to_path_buf(), Path::to_path_buf),
        _ => results.to_path_buf(),
    };
    let stored = Stored::from_places(&places).map_err(describe)?;
    stored.damaged.iter().for_each(|damaged| output::warning(damaged));
    Ok(Chosen { stored, folder })
}

fn of_database(database: &Database, filter: &Filter, results: &Path) -> Result<Chosen, CommandError> {
    Ok(Chosen { stored: Stored::from_database(database, filter).map_err(describe)?, folder: results.to_path_buf() })
}

/// Runs that have no folder here, by their ids.
fn of_runs(database: &Database, results: &Path, names: &[String]) -> Result<Chosen, CommandError> {
    let missing = || {
        let tried = format!("neither a run, a folder nor a file, and not in {}", database.path().display());
        usage(format!("{}: {tried}", names.join(", ")))
    };
    if !database.exists() {
        return Err(match names {
            [name] if name == "latest" => usage(format!("there is no run in {} yet", results.display())),
            _ => missing(),
        });
    }
    let latest = "SELECT run FROM runs ORDER BY timestamp DESC, run DESC LIMIT 1";
    let mut ids = vec![];
    for name in names {
        match name.as_str() {
            "latest" => {
                let answer = database.query(latest).map_err(failed)?;
                ids.extend(answer.rows.iter().filter_map(|row| row[0].as_str().map(String::from)));
            }
            name => ids.push(name.to_string()),
        }
    }
    let mut once = std::collections::HashSet::new();
    ids.retain(|id| once.insert(id.clone()));
    let filter = Filter::runs(ids.iter().map(String::as_str));
    let mut chosen = of_database(database, &filter, results)?;
    if chosen.stored.runs.len() < ids.len() {
        return Err(missing());
    }
    // In the order in which they were named: the first is before, the last after.
    chosen.stored.runs.sort_by_key(|run| ids.iter().position(|id| *id == run.run_id));
    chosen.stored.samples = Some(Stored::samples_of(database, &filter).map_err(describe)?);
    chosen.stored.plugin_metrics = Stored::plugin_metrics_of(database, &filter).map_err(failed)?;
    Ok(chosen)
}

/// A run's folder or file: as it is named, or in the folder of results; or the latest there; or a baseline of this machine.
fn place(results: &Path, name: &str) -> Option<PathBuf> {
    if name == "latest" {
        return latest(results);
    }
    let here = |path: PathBuf| find(&path).is_ok_and(|found| !found.is_empty()).then_some(path);
    here(results.join(name)).or_else(|| here(PathBuf::from(name))).or_else(|| baseline::find(name))
}

/// The folder of the newest run.
pub fn latest(results: &Path) -> Option<PathBuf> {
    let begun = |file: &PathBuf| {
        let read = match file.extension().is_some_and(|extension| extension == "ndjson") {
            true => journal::began(file),
            false => read(file).ok().map(|recorded| recorded.run.started_at),
        };
        (read.unwrap_or_default(), file.clone())
    };
    let newest = find(results).ok()?.into_iter().max_by_key(begun)?;
    newest.parent().map(Path::to_path_buf)
}

fn describe(error: StoredError) -> CommandError {
    match error {
        StoredError::None(_) | StoredError::Journal(_) => usage(error),
        other => failed(other),
    }
}
