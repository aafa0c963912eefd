//! What is kept of a run that has ended: files in its folder, its rows in the database, and the compatibility matrix next to it.

use skillbench_results::matrix::{self, Matrix};
use skillbench_results::{Stored, files};
use skillbench_store::database::Filter;
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
    /// Why it is not in the database, or the matrix is as it was. Nothing of the run is lost.
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
}

impl Keep {
    /// Writes the files of a run, and stores it. A database that cannot be written is in [`Kept::failure`].
    ///
    /// # Errors
    /// A file of the run cannot be written.
    pub fn keep(&self, folder: &Path, recorded: Recorded, is_again: bool) -> Result<Kept, KeepError> {
        let unwritten = |error: String| KeepError::Files { folder: folder.to_path_buf(), error };
        files::write(folder, &recorded).map_err(|error| unwritten(error.to_string()))?;
        let failure = self.store(folder, &recorded).err();
        Ok(Kept { folder: folder.to_path_buf(), recorded, failure, is_again })
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
