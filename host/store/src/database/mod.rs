//! All runs in one DuckDB file. It can be lost without loss: journals fill it again.
//!
//! - `open`: opening, waiting for others, telling whose file it is. The file is held for one commit or one question, never for a run.
//! - `migrations`: how its tables came to be, in numbered steps. `rebuild`: the table of cells in the columns of the catalogue.
//! - `latest`: which cells count now, typed.
//! - `store`: runs into tables. `import`: many of them. `read`: runs out of them. `query`: SQL. `export`: files.
//!
//! Not here: what the columns of a cell mean ([`skillbench_record::catalog`]).

mod export;
mod import;
mod latest;
mod migrations;
mod open;
mod query;
mod read;
mod rebuild;
mod store;

pub use export::{Exported, Form};
pub use import::Imported;
pub use latest::{StoredCell, StoredLatest};
pub use migrations::{Migration, all as migrations};
pub use open::{Checked, Waiting};
pub use query::Answer;
pub use read::{Filter, Open, text_literal};
pub use store::Stored;

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("{path}: there is no database; `host run` and `host db import` make one")]
    Missing { path: PathBuf },
    #[error("{path}: there is a database already; --overwrite begins a new one")]
    Exists { path: PathBuf },
    #[error(
        "{path} is written by a newer host (schema {found}, this host knows {known}): use that host, or another file with --db"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{path} has columns that this host does not know ({columns}), so that a newer one wrote it: use that host, or another file with --db"
    )]
    Unknown { path: PathBuf, columns: String },
    #[error(
        "{path} has schema {found}, this host writes {known}, and the file cannot be written: `host db migrate` where it can be"
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is a database of another program ({tables}); name another file with --db or BENCHMARK_DB_PATH")]
    Foreign { path: PathBuf, tables: String },
    #[error(
        "{path} is still held by {holder} after {waited} s; the runs are safe in their folders: `host db import` when it is free"
    )]
    Locked { path: PathBuf, holder: String, waited: u64 },
    #[error(
        "{path} is no DuckDB database, or a damaged one ({text}); move it away, and fill a new one: host db import"
    )]
    Corrupt { path: PathBuf, text: String },
    #[error("{path}: {text}")]
    Unwritable { path: PathBuf, text: String },
    #[error("the SQL was refused: {0}")]
    Sql(String),
    #[error("{path}: {text}")]
    Failed { path: PathBuf, text: String },
}

/// The one file, by its path. Nothing is open between calls.
#[derive(Clone, Debug)]
pub struct Database {
    path: PathBuf,
    waiting: Waiting,
}

impl Database {
    pub fn at(path: impl Into<PathBuf>) -> Database {
        Database { path: path.into(), waiting: Waiting::default() }
    }

    /// How long to wait for others, and whom to tell.
    pub fn waiting(self, waiting: Waiting) -> Database {
        Database { waiting, ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    fn failed(&self, error: duckdb::Error) -> DatabaseError {
        DatabaseError::Failed { path: self.path.clone(), text: open::first_line(&error.to_string()) }
    }
}
