//! Stored results as questions want them: heads of runs, and frames of their cells and samples. From a run's folder, from files of
//! results, or from the database; what is asked does not know the difference.

use crate::frames;
use crate::questions::in_order;
use polars::prelude::*;
use skillbench_record::catalog::{self, column};
use skillbench_record::{Run, paths, scratch};
use skillbench_store::database::Filter;
use skillbench_store::{Database, DatabaseError, JournalError, Recorded, journal};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the results could not be worked through: {0}")]
    Frames(#[from] PolarsError),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("there is no run in {0}")]
    None(String),
}

pub struct Stored {
    /// Without their cells; in the order in which they were named, or the oldest first.
    pub runs: Vec<Run>,
    pub cells: DataFrame,
    /// `None`: what was read does not have them.
    pub samples: Option<DataFrame>,
    /// Metrics that plugins added. Of cells of the database they are read where single runs are meant.
    pub plugin_metrics: Vec<StoredMetric>,
    /// Lines of journals that are damaged, and not in it.
    pub damaged: Vec<String>,
}

/// A metric that a plugin added, of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMetric {
    pub run: String,
    /// The cell's place in its plan.
    pub cell: i64,
    pub name: String,
    pub unit: String,
    /// `None`: the plugin does not say.
    pub higher_is_better: Option<bool>,
    /// The median, or the mean of what has none.
    pub value: f64,
}

impl Stored {
    /// Runs that were read from their folders or files, in that order. Of one that was read twice, what has more of it counts.
    ///
    /// # Errors
    /// Polars' own.
    pub fn from_recorded(recorded: &[Recorded]) -> Result<Stored, StoredError> {
        let mut best: Vec<&Recorded> = vec![];
        let much = |one: &Recorded| (one.run.cells.len(), one.samples.len());
        for one in recorded {
            match best.iter_mut().find(|known| known.run.run_id == one.run.run_id) {
                Some(known) if much(one) > much(known) => *known = one,
                Some(_) => {}
                None => best.push(one),
            }
        }
        let recorded = best;
        let cells = frames::cells(recorded.iter().map(|one| &one.run))?;
        let samples: Vec<LazyFrame> = recorded
            .iter()
            .filter(|one| !one.samples.is_empty())
            .map(|one| frames::samples(&one.run.run_id, &one.samples).map(IntoLazy::lazy))
            .collect::<PolarsResult<_>>()?;
        let samples = match samples.is_empty() {
            true => None,
            false => Some(concat(samples, UnionArgs::default())?.collect()?),
        };
        let runs = recorded.iter().map(|one| Run { cells: vec![], ..one.run.clone() }).collect();
        let plugin_metrics = recorded.iter().flat_map(|one| plugin_metrics_of(&one.run)).collect();
        let damaged =
            recorded.iter().flat_map(|one| one.damaged.iter().map(move |line| format!("{}: {line}", one.run.run_id)));
        Ok(Stored { runs, cells, samples, plugin_metrics, damaged: damaged.collect() })
    }

    /// Runs of these folders, journals or `run.json` files.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn from_places(places: &[PathBuf]) -> Result<Stored, StoredError> {
        let mut recorded = vec![];
        for place in places {
            for file in find(place).map_err(|error| StoredError::File { path: place.clone(), error })? {
                recorded.push(read(&file)?);
            }
        }
        if recorded.is_empty() {
            let names: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
            return Err(StoredError::None(names.join(", ")));
        }
        Stored::from_recorded(&recorded)
    }

    /// What the database has of a filter.
    ///
    /// # Errors
    /// As for any use of the database.
    pub fn from_database(database: &Database, filter: &Filter) -> Result<Stored, StoredError> {
        let runs = database.runs(filter)?;
        let cells = exchanged(|file| database.cells_to(filter, file))?;
        Ok(Stored { runs, cells, samples: None, plugin_metrics: vec![], damaged: vec![] })
    }

    /// Of the whole database the cells that count now, and the newest try of each.
    ///
    /// # Errors
    /// As for any use of the database.
    pub fn that_count(database: &Database) -> Result<Stored, StoredError> {
        let cells = exchanged(|file| database.cells_to(&Filter::that_count(), file))?;
        let runs = database.runs(&Filter::all())?;
        Ok(Stored { runs, cells, samples: None, plugin_metrics: vec![], damaged: vec![] })
    }

    /// Only what is of these models and of these backends; all of them where none is named.
    ///
    /// # Errors
    /// Polars' own.
    pub fn only(self, models: &[String], backends: &[String]) -> Result<Stored, StoredError> {
        let among = |column: &str, names: &[String]| {
            let one = |name: &String| col(column).eq(lit(name.as_str()));
            names.iter().map(one).reduce(Expr::or).unwrap_or_else(|| lit(true))
        };
        let meant = among(column::MODEL_ID, models).and(among(column::PLUGIN, backends));
        let cells = self.cells.lazy().filter(meant).collect()?;
        let key = [col(column::RUN), col(column::CELL)];
        let samples = match self.samples {
            Some(samples) => Some(
                samples
                    .lazy()
                    .join(cells.clone().lazy().select(&key), &key, &key, in_order(JoinType::Inner))
                    .collect()?,
            ),
            None => None,
        };
        Ok(Stored { cells, samples, ..self })
    }

    /// The metrics that plugins added. The filter is about the rows of `plugin_metrics`.
    ///
    /// # Errors
    /// As for any use of the database.
    pub fn plugin_metrics_of(database: &Database, filter: &Filter) -> Result<Vec<StoredMetric>, DatabaseError> {
        let sql = format!(
            "SELECT run, cell, metric, coalesce(unit, ''), higher_is_better, coalesce(median, mean)
             FROM plugin_metrics WHERE {} ORDER BY ALL",
            filter.condition.as_deref().unwrap_or("true")
        );
        let of = |row: &Vec<serde_json::Value>| {
            Some(StoredMetric {
                run: row.first()?.as_str()?.into(),
                cell: row.get(1)?.as_i64()?,
                name: row.get(2)?.as_str()?.into(),
                unit: row.get(3)?.as_str()?.into(),
                higher_is_better: row.get(4)?.as_bool(),
                value: row.get(5)?.as_f64()?,
            })
        };
        Ok(database.query(&sql)?.rows.iter().filter_map(of).collect())
    }

    /// These columns of the cells of a filter, in one read of the database.
    ///
    /// # Errors
    /// As for any use of the database.
    pub fn columns_of(database: &Database, filter: &Filter, columns: &[&str]) -> Result<DataFrame, StoredError> {
        exchanged(|file| database.columns_to(filter, columns, file))
    }

    /// Stores runs, and gives these columns of every cell, in one opening of the database.
    ///
    /// # Errors
    /// As for [`Database::store`]; within, the columns could not be read.
    pub fn store_then_columns(
        database: &Database,
        runs: &[Recorded],
        columns: &[&str],
    ) -> Result<Result<DataFrame, StoredError>, DatabaseError> {
        let exchange = match Exchange::new() {
            Ok(exchange) => exchange,
            Err(error) => return database.store(runs).map(|_| Err(error)),
        };
        let (_, written) = database.store_then_write(runs, columns, &exchange.file)?;
        Ok(written.map_err(StoredError::from).and_then(|()| exchange.read()))
    }

    /// The samples of a filter, which are many.
    ///
    /// # Errors
    /// As for any use of the database.
    pub fn samples_of(database: &Database, filter: &Filter) -> Result<DataFrame, StoredError> {
        exchanged(|file| database.samples_to(filter, file))
    }
}

/// A frame that the database wrote as Parquet: both know the format, and share nothing else.
fn exchanged(write: impl FnOnce(&Path) -> Result<(), DatabaseError>) -> Result<DataFrame, StoredError> {
    let exchange = Exchange::new()?;
    write(&exchange.file)?;
    exchange.read()
}

/// Where the database writes a frame.
struct Exchange {
    /// Removed with it.
    _folder: scratch::Folder,
    file: PathBuf,
}

impl Exchange {
    fn new() -> Result<Exchange, StoredError> {
        let failed = |error| StoredError::File { path: paths::cache(), error };
        let folder = scratch::folder().map_err(failed)?;
        Ok(Exchange { file: folder.path().join("exchanged.parquet"), _folder: folder })
    }

    fn read(&self) -> Result<DataFrame, StoredError> {
        let file =
            std::fs::File::open(&self.file).map_err(|error| StoredError::File { path: self.file.clone(), error })?;
        Ok(ParquetReader::new(file).finish()?)
    }
}

/// Reads a journal, or a `run.json`.
///
/// # Errors
/// It cannot be read, or is neither.
pub fn read(file: &Path) -> Result<Recorded, JournalError> {
    let is_journal = file.extension().is_some_and(|extension| extension == "ndjson");
    if is_journal { journal::read(file) } else { journal::read_document(file) }
}

/// The journal of a run, or those of every run in a folder; a `run.json` where there is no journal beside it.
///
/// # Errors
/// The place is not there, or cannot be listed.
pub fn find(place: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !std::fs::metadata(place)?.is_dir() {
        return Ok(vec![place.to_path_buf()]);
    }
    let own =
        |folder: &Path| [journal::NAME, "run.json"].iter().map(|name| folder.join(name)).find(|file| file.is_file());
    if let Some(file) = own(place) {
        return Ok(vec![file]);
    }
    let mut found = vec![];
    for entry in std::fs::read_dir(place)? {
        found.extend(own(&entry?.path()));
    }
    found.sort();
    Ok(found)
}

fn plugin_metrics_of(run: &Run) -> Vec<StoredMetric> {
    let measured = run.cells.iter().filter_map(|cell| Some((cell, cell.outcome.metrics()?)));
    let all = measured.flat_map(|(cell, metrics)| catalog::plugin_metrics(metrics).map(move |metric| (cell, metric)));
    all.map(|(cell, metric)| StoredMetric {
        run: run.run_id.clone(),
        cell: cell.index as i64,
        name: metric.name.into(),
        unit: metric.unit.into(),
        higher_is_better: metric.higher_is_better,
        value: metric.median.unwrap_or(metric.mean),
    })
    .collect()
}
