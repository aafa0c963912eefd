//! All runs in one DuckDB file. It can be lost without loss: journals fill it again.
//!
//! - `open`: the one opener, waiting for others; what a connection can reach. The file is held for one commit or one question, never for a
//!   run. `upkeep`: whose file it is, making it, bringing it up to date, checking it.
//! - `migrations`: how its tables came to be, in numbered steps. `rebuild`: the table of cells in the columns of the catalogue.
//! - `latest`: which cells count now, typed.
//! - `store`: runs into tables. `import`: many of them. `condition`: which are meant. `read`: runs out of them. `query`: SQL. `export`:
//!   files.
//!
//! Not here: what the columns of a cell mean ([`skillbench_record::catalog`]).

mod condition;
mod engine;
mod export;
mod import;
mod latest;
mod migrations;
mod open;
mod query;
mod read;
mod rebuild;
mod store;
mod upkeep;

pub use condition::Filter;
pub use engine::engine_version;
pub use export::{Exported, Form};
pub use import::Imported;
pub use latest::{StoredCell, StoredLatest};
pub use migrations::{Migration, all as migrations};
pub use open::Waiting;
pub use query::Answer;
pub use read::text_literal;
pub use store::Stored;
pub use upkeep::{Checked, identifier};

use skillbench_record::run_id::NoRunId;
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
        "{path} lacks the tables {tables}, or has views in their place, so that another program changed it; fill a new file: host db init --overwrite, then host db import"
    )]
    Disguised { path: PathBuf, tables: String },
    #[error("{path}: {error}; fill a new file: host db init --overwrite, then host db import")]
    RunId { path: PathBuf, error: NoRunId },
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
    #[error("a condition is one expression, such as family = 'vision' AND plugin = 'cpu'; this is not: {0}")]
    Condition(String),
    #[error(
        "the SQL was refused, since a database is only read, without other files, extensions and settings ({0}); `host query --unsafe` gives it all that DuckDB can do"
    )]
    Closed(String),
    #[error(
        "memory or threads do not suffice for the database ({0}); runs are safe in their folders: raise the limits (ulimit -v, -u) or end other programs, then host db import"
    )]
    Starved(String),
    #[error(
        "{path}: the database client stopped: {text}; runs are safe in their folders: raise the limits on memory and threads (ulimit -v, -u), then host db import"
    )]
    Panicked { path: PathBuf, text: String },
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
        let text = error.to_string();
        let other = |text| DatabaseError::Failed { path: self.path.clone(), text };
        query::starved(&text).unwrap_or_else(|| other(open::first_line(&text)))
    }
}
