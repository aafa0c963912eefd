//! Which stored results are meant. One rule for every command that reads results:
//!
//! - What is named is meant, or it is an error: a run, a folder, a file, a database.
//! - Of a database that is named: a run that is named too, all of it where that is asked for, else its newest run with a measured cell.
//! - Where nothing is named: the newest run with a measured cell in the folder of runs, else in the database there.

use skillbench_record::catalog::column;
use skillbench_record::{Outcome, Run};
use skillbench_results::{Stored, StoredError, find, read};
use skillbench_store::database::{Filter, text_literal};
use skillbench_store::{Database, DatabaseError, Recorded, journal};
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the newest run with a measured cell.
pub const LATEST: &str = "latest";

/// What a user named as the place of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Nothing,
    /// A database, by a variable of the environment.
    Environment,
    Database,
    Folder,
    Both,
}

/// Where results lie.
pub struct Place {
    pub database: Database,
    /// The folder of runs.
    pub folder: PathBuf,
    pub named: Named,
}

/// What is meant in a place.
#[derive(Clone, Debug)]
pub enum Which {
    /// Runs: [`LATEST`], ids, folders, journals, documents, baselines of this machine. None: the latest.
    Runs(Vec<String>),
    /// Journals or documents.
    Files(Vec<PathBuf>),
    /// Cells of the database that meet a condition in SQL.
    Cells(String),
    All,
}

/// Which cells of it; all of them where none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    pub models: Vec<String>,
    pub backends: Vec<String>,
}

/// What was read.
pub struct Chosen {
    pub stored: Stored,
    /// The folder that files about it belong into: the run's own, or that of runs.
    pub folder: PathBuf,
    /// What was not looked at, or could not be read.
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum WhichError {
    #[error("{database} and {folder} both say where results are: name one of them, or a run")]
    TwoPlaces { database: PathBuf, folder: PathBuf },
    #[error(
        "there is no run in {0} yet: `host run` makes one; results that lie elsewhere are named by --db FILE, --results-dir DIR or a run's folder"
    )]
    NoRun(PathBuf),
    #[error("{0} is empty: `host run --db FILE` and `host db import --db FILE RUN` store runs in it")]
    Empty(PathBuf),
    #[error("no run in {place} has a measured cell; its newest, by its name, tells why: host report {newest}")]
    NotMeasured { place: PathBuf, newest: String },
    #[error(
        "no cell is of {names}, of what is measured in {place}; `host query \"SELECT DISTINCT model_id, plugin FROM benchmark_results\"` lists what is"
    )]
    NoneIs { names: Only, place: PathBuf },
    #[error("{name}: neither a run, a folder nor a file, and not in {database}{}", hint(.elsewhere.as_deref()))]
    NotThere { name: String, database: PathBuf, elsewhere: Option<PathBuf> },
    #[error(
        "{0} are folders or files, and {1} are runs of the database: name all by their folders, or all by their ids"
    )]
    Mixed(String, String),
    #[error("nothing is stored of that; `host query \"SELECT run FROM runs\"` lists what is there")]
    Nothing,
    #[error(transparent)]
    Stored(#[from] StoredError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

fn hint(elsewhere: Option<&Path>) -> String {
    elsewhere.map(|folder| format!("; its folder is {}", folder.display())).unwrap_or_default()
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.models.join(", "))?;
        match self.backends.is_empty() {
            true => Ok(()),
            false => write!(f, "{}{}", if self.models.is_empty() { "" } else { " on " }, self.backends.join(", ")),
        }
    }
}

impl Only {
    pub fn is_all(&self) -> bool {
        *self == Only::default()
    }

    fn has(&self, run: &Run) -> bool {
        let among = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        let mut measured = run.cells.iter().filter(|cell| matches!(cell.outcome, Outcome::Measured(_)));
        measured.any(|cell| among(&self.models, &cell.skill) && among(&self.backends, &cell.plugin))
    }

    fn sql(&self) -> String {
        let among = |column: &str, names: &[String]| match names {
            [] => String::new(),
            names => {
                let names: Vec<String> = names.iter().map(|name| text_literal(name)).collect();
                format!(" AND {column} IN ({})", names.join(", "))
            }
        };
        among(column::MODEL_ID, &self.models) + &among(column::PLUGIN, &self.backends)
    }
}

impl WhichError {
    /// Whether the user named what is not there, or has to name something; else the machine did not let it be read.
    pub fn is_slip(&self) -> bool {
        match self {
            WhichError::Stored(StoredError::Database(error)) | WhichError::Database(error) => {
                matches!(error, DatabaseError::Missing { .. })
            }
            WhichError::Stored(error) => matches!(error, StoredError::None(_) | StoredError::Journal(_)),
            _ => true,
        }
    }
}

/// Where a named run lies.
enum Found {
    Place(PathBuf),
    /// In the database, under this id.
    Row(String),
}

impl Place {
    /// The database, which is there. For commands that ask all of it.
    ///
    /// # Errors
    /// It is not there; or a folder is named too, which would not be looked at.
    pub fn whole(&self) -> Result<&Database, WhichError> {
        if self.named == Named::Both {
            return Err(self.two_places());
        }
        match self.database.exists() {
            true => Ok(&self.database),
            false => Err(DatabaseError::Missing { path: self.database.path().into() }.into()),
        }
    }

    /// The same; a database without a run is an error too.
    ///
    /// # Errors
    /// As [`Place::whole`]; the database is empty, or cannot be read.
    pub fn filled(&self) -> Result<&Database, WhichError> {
        let database = self.whole()?;
        match self.newest_row("true")? {
            Some(_) => Ok(database),
            None => Err(WhichError::Empty(database.path().into())),
        }
    }

    /// Reads what is meant, and of it only what is named. Of the database the samples are read too where single runs
    /// are meant.
    ///
    /// # Errors
    /// What is named is not there, has nothing that is asked for, or cannot be read.
    pub fn read(&self, which: &Which, only: &Only) -> Result<Chosen, WhichError> {
        let mut chosen = match which {
            Which::Files(files) => self.of_places(files)?,
            Which::Cells(condition) => self.of_database(&Filter::sql(condition))?,
            Which::All => self.of_database(&Filter::all())?,
            Which::Runs(names) => self.of_runs(names, only)?,
        };
        if !only.is_all() {
            chosen.stored = chosen.stored.only(&only.models, &only.backends)?;
            if chosen.stored.cells.height() == 0 {
                return Err(none_is(only, self.database.path()));
            }
        }
        match chosen.stored.runs.is_empty() {
            true => Err(WhichError::Nothing),
            false => Ok(chosen),
        }
    }

    fn two_places(&self) -> WhichError {
        WhichError::TwoPlaces { database: self.database.path().into(), folder: self.folder.clone() }
    }

    fn has_named_database(&self) -> bool {
        matches!(self.named, Named::Environment | Named::Database | Named::Both)
    }

    fn of_places(&self, places: &[PathBuf]) -> Result<Chosen, WhichError> {
        let folder = match places {
            [one] if one.is_dir() => one.clone(),
            [one] => one.parent().map_or_else(|| self.folder.clone(), Path::to_path_buf),
            _ => self.folder.clone(),
        };
        let stored = Stored::from_places(places)?;
        Ok(Chosen { notes: stored.damaged.clone(), stored, folder })
    }

    fn of_database(&self, filter: &Filter) -> Result<Chosen, WhichError> {
        let database = self.filled()?;
        Ok(Chosen { stored: Stored::from_database(database, filter)?, folder: self.folder.clone(), notes: vec![] })
    }

    fn of_runs(&self, names: &[String], only: &Only) -> Result<Chosen, WhichError> {
        let latest = [LATEST.to_string()];
        let names = if names.is_empty() { &latest[..] } else { names };
        let (mut places, mut rows, mut notes) = (vec![], vec![], vec![]);
        for name in names {
            match self.find(name, only, &mut notes)? {
                Found::Place(place) => places.push((name.clone(), place)),
                Found::Row(id) => rows.push((name.clone(), id)),
            }
        }
        let typed =
            |found: &[(String, PathBuf)]| found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let mut chosen = match (places.as_slice(), rows.as_slice()) {
            (_, []) => {
                if matches!(self.named, Named::Database | Named::Both) {
                    notes.push(format!(
                        "{} is not looked at: {} is named",
                        self.database.path().display(),
                        typed(&places)
                    ));
                }
                self.of_places(&places.into_iter().map(|(_, place)| place).collect::<Vec<_>>())?
            }
            ([], _) => self.of_rows(rows.into_iter().map(|(_, id)| id).collect())?,
            _ => {
                let ids = rows.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
                return Err(WhichError::Mixed(typed(&places), ids));
            }
        };
        chosen.notes.splice(0..0, notes);
        Ok(chosen)
    }

    /// Runs of the database, in the order in which they were named: the first is before, the last after.
    fn of_rows(&self, mut ids: Vec<String>) -> Result<Chosen, WhichError> {
        let mut once = HashSet::new();
        ids.retain(|id| once.insert(id.clone()));
        let filter = Filter::runs(ids.iter().map(String::as_str));
        let mut stored = Stored::from_database(&self.database, &filter)?;
        stored.runs.sort_by_key(|run| ids.iter().position(|id| *id == run.run_id));
        stored.samples = Some(Stored::samples_of(&self.database, &filter)?);
        stored.plugin_metrics = Stored::plugin_metrics_of(&self.database, &filter)?;
        let own = match ids.as_slice() {
            [id] => Some(self.folder.join(id)).filter(|folder| folder.is_dir()),
            _ => None,
        };
        Ok(Chosen { stored, folder: own.unwrap_or_else(|| self.folder.clone()), notes: vec![] })
    }

    /// Where the run of a name lies. A database that is named has the ids; the folder of runs, where it does not.
    fn find(&self, name: &str, only: &Only, notes: &mut Vec<String>) -> Result<Found, WhichError> {
        if name == LATEST {
            return self.latest(only, notes);
        }
        let here = |path: PathBuf| find(&path).is_ok_and(|found| !found.is_empty()).then_some(path);
        let in_folder = || here(self.folder.join(name));
        let nearest = if self.has_named_database() { None } else { in_folder() };
        if let Some(place) = nearest.or_else(|| here(PathBuf::from(name))) {
            return Ok(Found::Place(place));
        }
        if let Some(place) = crate::baseline::find(name) {
            return Ok(Found::Place(place));
        }
        let has_row = self.database.exists() && self.newest_row(&format!("run = {}", text_literal(name)))?.is_some();
        if has_row {
            return Ok(Found::Row(name.into()));
        }
        let elsewhere = in_folder();
        match (self.named, elsewhere) {
            (Named::Both, Some(place)) => Ok(Found::Place(place)),
            (Named::Environment | Named::Database, _) if !self.database.exists() => {
                Err(DatabaseError::Missing { path: self.database.path().into() }.into())
            }
            (_, elsewhere) => {
                let database = self.database.path().into();
                Err(WhichError::NotThere { name: name.into(), database, elsewhere })
            }
        }
    }

    /// The newest run with a measured cell, of what is named where something is.
    fn latest(&self, only: &Only, notes: &mut Vec<String>) -> Result<Found, WhichError> {
        match self.named {
            Named::Both => Err(self.two_places()),
            Named::Environment | Named::Database => self.latest_row(only),
            Named::Nothing | Named::Folder => match latest_in(&self.folder, only, notes) {
                Ok(place) => Ok(Found::Place(place)),
                // Runs may be in the database alone.
                Err(WhichError::NoRun(_)) if self.database.exists() => self.latest_row(only),
                Err(error) => Err(error),
            },
        }
    }

    fn latest_row(&self, only: &Only) -> Result<Found, WhichError> {
        let database = self.filled()?;
        if let Some(id) = self.newest_row(&format!("{} = 'measured'{}", column::OUTCOME, only.sql()))? {
            return Ok(Found::Row(id));
        }
        let place = database.path().to_path_buf();
        match self.newest_row("true")? {
            Some(newest) if only.is_all() => Err(WhichError::NotMeasured { place, newest }),
            _ => Err(none_is(only, &place)),
        }
    }

    /// The newest run with a cell that meets a condition.
    fn newest_row(&self, condition: &str) -> Result<Option<String>, DatabaseError> {
        let sql =
            format!("SELECT run FROM benchmark_results WHERE {condition} ORDER BY timestamp DESC, run DESC LIMIT 1");
        let answer = self.database.query(&sql)?;
        Ok(answer.rows.first().and_then(|row| row.first()?.as_str().map(String::from)))
    }
}

/// The folder of the newest run with a measured cell, of what is named where something is. Runs that cannot be read are noted.
fn latest_in(folder: &Path, only: &Only, notes: &mut Vec<String>) -> Result<PathBuf, WhichError> {
    let mut files = find(folder).map_err(|_| WhichError::NoRun(folder.into()))?;
    files.sort_by_cached_key(|file| std::cmp::Reverse((began(file).unwrap_or_default(), file.clone())));
    let newest = files.first().ok_or_else(|| WhichError::NoRun(folder.into()))?;
    for file in &files {
        match read(file) {
            Ok(recorded) if only.has(&recorded.run) => return Ok(folder_of(file)),
            Ok(_) => {}
            Err(error) => notes.push(format!("it is left out: {error}")),
        }
    }
    match only.is_all() {
        true => Err(WhichError::NotMeasured { place: folder.into(), newest: folder_of(newest).display().to_string() }),
        false => Err(none_is(only, folder)),
    }
}

fn none_is(only: &Only, place: &Path) -> WhichError {
    WhichError::NoneIs { names: only.clone(), place: place.into() }
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn began(file: &Path) -> Option<String> {
    match file.extension().is_some_and(|extension| extension == "ndjson") {
        true => journal::began(file),
        false => read(file).ok().map(|Recorded { run, .. }| run.started_at),
    }
}
