//! What is kept of a run that has ended: files in its folder, its rows in the database, and the compatibility matrix next to it.

use crate::measure::Measured;
use skillbench_results::matrix::{self, Matrix};
use skillbench_results::{Stored, files};
use skillbench_store::database::Filter;
use skillbench_store::journal::Lost;
use skillbench_store::{Database, DatabaseError, Recorded};
use std::path::{Path, PathBuf};

/// Where runs are kept.
#[derive(Clone)]
pub struct Keep {
    /// The folder of runs.
    pub folder: PathBuf,
    /// `None`: runs stay in their folders.
    pub database: Option<Database>,
    /// Whether the compatibility matrix next to the database is made anew after each run.
    pub matrix: bool,
}

/// A run that has ended, and what became of it.
pub struct Kept {
    /// The run's own folder.
    pub folder: PathBuf,
    pub recorded: Recorded,
    /// Why it is not in the database, or the matrix is as it was. Nothing of the run is lost, but for [`KeepError::Nowhere`].
    pub failure: Option<KeepError>,
    /// Whether it measured once more what looked worse than a baseline.
    pub is_again: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("{folder}: {error}")]
    Files { folder: PathBuf, error: String },
    #[error("the run is kept in {folder}, and not in the database: {error}")]
    Database { folder: PathBuf, error: DatabaseError },
    #[error("the run is stored, and the compatibility matrix is as it was: {0}")]
    Matrix(String),
    #[error("{0}; {1}")]
    Both(Box<KeepError>, Box<KeepError>),
    /// It is in memory, for as long as this process lives, and perhaps in the database.
    #[error(transparent)]
    Nowhere(#[from] Lost),
}

impl Kept {
    /// Whether the run lies in its folder.
    pub fn is_in_folder(&self) -> bool {
        !self.failure.as_ref().is_some_and(KeepError::is_lost)
    }
}

impl KeepError {
    fn is_lost(&self) -> bool {
        match self {
            KeepError::Nowhere(_) => true,
            KeepError::Both(one, other) => one.is_lost() || other.is_lost(),
            _ => false,
        }
    }
}

impl Keep {
    /// Writes the files of a run that was measured, and stores it. What cannot be written is in [`Kept::failure`].
    pub fn keep(&self, measured: Measured, is_again: bool) -> Kept {
        let Measured { recorded, journal, lost } = measured;
        let folder = journal.folder().to_path_buf();
        let written = match lost {
            Some(lost) => Err(lost.into()),
            None => files::write(&folder, &recorded)
                .map_err(|error| KeepError::Files { folder: folder.clone(), error: error.to_string() }),
        };
        let failure = match (written.err(), self.store(&folder, &recorded).err()) {
            (Some(one), Some(other)) => Some(KeepError::Both(Box::new(one), Box::new(other))),
            (one, other) => one.or(other),
        };
        Kept { folder, recorded, failure, is_again }
    }

    fn store(&self, folder: &Path, recorded: &Recorded) -> Result<(), KeepError> {
        let Some(database) = &self.database else { return Ok(()) };
        let unstored = |error| KeepError::Database { folder: folder.to_path_buf(), error };
        let runs = std::slice::from_ref(recorded);
        if !self.matrix {
            return database.store(runs).map(drop).map_err(unstored);
        }
        let cells = Stored::store_then_columns(database, runs, &matrix::COLUMNS).map_err(unstored)?;
        let cells = cells.map_err(|error| KeepError::Matrix(error.to_string()))?;
        let matrix = matrix::build(&cells).map_err(|error| KeepError::Matrix(error.to_string()))?;
        write_matrix(database, &matrix).map(drop).map_err(KeepError::Matrix)
    }
}

/// The matrix of stored cells, in one read of the database.
///
/// # Errors
/// The database cannot be read, or its results worked through.
pub fn matrix_of(database: &Database, filter: &Filter) -> Result<Matrix, String> {
    let cells = Stored::columns_of(database, filter, &matrix::COLUMNS).map_err(|error| error.to_string())?;
    matrix::build(&cells).map_err(|error| error.to_string())
}

/// Makes the files of the matrix next to the database anew. Returns where they lie.
///
/// # Errors
/// As [`matrix_of`]; or a file cannot be written.
pub fn update_matrix(database: &Database) -> Result<Vec<PathBuf>, String> {
    write_matrix(database, &matrix_of(database, &Filter::all())?)
}

fn write_matrix(database: &Database, matrix: &Matrix) -> Result<Vec<PathBuf>, String> {
    let folder = database.path().parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files::write_matrix(folder, matrix).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok([files::MATRIX_JSON, files::MATRIX_MARKDOWN].map(|name| folder.join(name)).to_vec())
}
