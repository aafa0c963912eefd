//! The one opener: whether another process holds the file, and what a connection to it can reach.
//!
//! A file may be anybody's, with views that read other files and macros under the names of functions. So each connection is closed
//! before its first question: it reaches the database and, where we write one, one more file. No extension is loaded or fetched, no
//! setting can be changed, and DuckDB's own functions are found before those of the file.

use super::{Database, DatabaseError};
use duckdb::{Config, Connection, Transaction};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

/// The oldest format that has what the tables need: clients since 1.2.2 open it.
const STORAGE_VERSION: &str = "v1.2.0";

/// The smallest there is. Every column of a table that changed is written in blocks of its own: with the usual 256 KiB, a run of one
/// cell takes twice the time and the memory.
const BLOCK_SIZE: u32 = 16_384;

/// The file's name within a connection.
pub(super) const NAME: &str = "benchmarks";

/// What is committed goes into the file at once, by a checkpoint that happens whole or not at all. A log would be a second copy of
/// everything, written for a process that commits once.
const WITHOUT_LOG: &str = "RECOVERY_MODE no_wal_writes";
pub(super) const CHECKPOINT: &str = "CHECKPOINT benchmarks";

/// A file that is no database is one that is being made, for so long after it was written to.
const NEW: Duration = Duration::from_secs(2);

/// Where names are looked for, in this order. A file of others may have a macro in the name of a function.
pub(super) const SEARCH: &str = "SET search_path = 'system.main,benchmarks.main'";

/// Holds from the start, so that no path and no magic number in a file asks for an extension.
const NO_EXTENSION: [(&str, &str); 3] = [
    ("autoinstall_known_extensions", "false"),
    ("autoload_known_extensions", "false"),
    ("allow_community_extensions", "false"),
];

/// Patience with other processes: DuckDB lets one in at a time.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub most: Duration,
    /// Called once, with whom is waited for.
    pub tell: fn(&str),
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { most: Duration::from_secs(60), tell: |_| {} }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// All that DuckDB can, for a user who asks for it.
    Whole,
}

impl Database {
    /// Reads a file of the version that this host knows.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.caught(|| work(&self.current(None)?))
    }

    /// The same; the connection can write this file, and no other.
    pub(super) fn read_into<T>(
        &self,
        file: &Path,
        work: impl FnOnce(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.caught(|| work(&self.current(Some(file))?))
    }

    fn current(&self, into: Option<&Path>) -> Result<Connection, DatabaseError> {
        if !self.exists() {
            return Err(DatabaseError::Missing { path: self.path.clone() });
        }
        let connection = self.attach(Access::Read, into)?;
        let (found, known) = (self.schema(&connection)?.unwrap_or(0), super::migrations::latest());
        if found == known && !self.is_outdated(&connection)? {
            return Ok(connection);
        }
        drop(connection);
        (self.waiting.tell)(&format!("{} is of an older host, and is brought up to date", self.path.display()));
        match self.migrate() {
            Ok(_) => self.attach(Access::Read, into),
            Err(DatabaseError::Unwritable { path, .. }) => Err(DatabaseError::Older { path, found, known }),
            Err(other) => Err(other),
        }
    }

    /// Does one commit: all of it, or nothing. The file is made and brought up to date where that is needed.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, duckdb::Error>,
    ) -> Result<T, DatabaseError> {
        self.caught(|| self.commit(None, work).map(|(done, _)| done))
    }

    /// The same; then the connection, which stays open, can write this file.
    pub(super) fn write_and_read_into<T, R>(
        &self,
        file: &Path,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, duckdb::Error>,
        then: impl FnOnce(&Connection) -> R,
    ) -> Result<(T, R), DatabaseError> {
        self.caught(|| {
            let (done, connection) = self.commit(Some(file), work)?;
            Ok((done, then(&connection)))
        })
    }

    fn commit<T>(
        &self,
        into: Option<&Path>,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, duckdb::Error>,
    ) -> Result<(T, Connection), DatabaseError> {
        let mut connection = self.attach(Access::Write, into)?;
        self.bring_up_to_date(&mut connection)?;
        let failed = |error: duckdb::Error| self.failed(error);
        let transaction = connection.transaction().map_err(failed)?;
        let done = work(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        connection.execute_batch(CHECKPOINT).map_err(failed)?;
        Ok((done, connection))
    }

    /// The client has no error for a thread that cannot be had, and panics.
    pub(super) fn caught<T>(&self, work: impl FnOnce() -> Result<T, DatabaseError>) -> Result<T, DatabaseError> {
        let panicked = |text| Err(DatabaseError::Panicked { path: self.path.clone(), text });
        skillbench_record::caught(work).unwrap_or_else(panicked)
    }

    /// A connection that has the file under its name, once no other process holds it, and reaches nothing else.
    pub(super) fn attach(&self, access: Access, into: Option<&Path>) -> Result<Connection, DatabaseError> {
        if let (Access::Write, Some(folder)) = (access, self.path.parent()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| DatabaseError::Unwritable { path: folder.into(), text: error.to_string() })?;
        }
        if self.path.is_dir() {
            return Err(DatabaseError::Unwritable { path: self.path.clone(), text: "it is a folder".into() });
        }
        let failed = |error| self.failed(error);
        let connection = config(access).and_then(Connection::open_in_memory_with_flags).map_err(failed)?;
        let options = match access {
            Access::Read => "READ_ONLY".to_string(),
            Access::Whole => "READ_WRITE".to_string(),
            Access::Write if self.exists() => format!("READ_WRITE, {WITHOUT_LOG}"),
            Access::Write => format!("{WITHOUT_LOG}, STORAGE_VERSION '{STORAGE_VERSION}', BLOCK_SIZE {BLOCK_SIZE}"),
        };
        self.wait_for(&connection, &format!("ATTACH {} AS {NAME} (TYPE duckdb, {options})", quoted(&self.path)?))?;
        let doors = if access == Access::Whole { format!("USE {NAME}") } else { closing(into)? };
        connection.execute_batch(&doors).map_err(failed)?;
        Ok(connection)
    }

    /// Attaches the file, again and again while another process holds it.
    fn wait_for(&self, connection: &Connection, attach: &str) -> Result<(), DatabaseError> {
        let begun = Instant::now();
        let mut told = false;
        loop {
            let Err(error) = connection.execute_batch(attach) else { return Ok(()) };
            let text = error.to_string();
            let maker = || self.is_being_made(&text).then(|| "another process, which makes it".to_string());
            let Some(holder) = holder(&text).or_else(maker) else { return Err(self.unopened(&text)) };
            let waited = begun.elapsed();
            if waited >= self.waiting.most {
                return Err(DatabaseError::Locked { path: self.path.clone(), holder, waited: waited.as_secs() });
            }
            if !told && waited > Duration::from_millis(500) {
                (self.waiting.tell)(&format!("waiting for {}: it is held by {holder}", self.path.display()));
                told = true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// DuckDB looks at the beginning of a file before it asks for its lock: of one that another process is making, nothing may be there yet.
    fn is_being_made(&self, text: &str) -> bool {
        let age = || std::fs::metadata(&self.path).ok()?.modified().ok()?.elapsed().ok();
        text.contains("not a valid DuckDB database file") && age().is_some_and(|age| age < NEW)
    }

    fn unopened(&self, text: &str) -> DatabaseError {
        if let Some(starved) = super::query::starved(text) {
            return starved;
        }
        let (path, line) = (self.path.clone(), first_line(text));
        let unwritable = ["Permission denied", "Cannot open file", "No such file", "read-only", "No space left"];
        match unwritable.iter().any(|known| text.contains(known)) {
            true => DatabaseError::Unwritable { path, text: line },
            false => DatabaseError::Corrupt { path, text: line },
        }
    }
}

fn config(access: Access) -> Result<Config, duckdb::Error> {
    let closed = || NO_EXTENSION.iter().try_fold(Config::default(), |config, (key, value)| config.with(key, value));
    match access {
        Access::Read => closed(),
        // Appending and compressing use one thread; others would only wait, busily.
        Access::Write => closed()?.threads(1),
        Access::Whole => Ok(Config::default()),
    }
}

/// What closes a connection behind the file that it has attached, but for one file that is to be written.
fn closing(into: Option<&Path>) -> Result<String, DatabaseError> {
    let into = into.map(quoted).transpose()?.unwrap_or_default();
    // DuckDB makes it when memory does not suffice, and removes it. A name by chance, since others may write to that place, too.
    let by_chance = RandomState::new().hash_one(std::process::id());
    let spill = quoted(&std::env::temp_dir().join(format!("skillbench-duckdb-{by_chance:016x}")))?;
    Ok(format!(
        "SET temp_directory = {spill}; SET allow_persistent_secrets = false; SET allowed_paths = [{into}];
         SET enable_external_access = false; {SEARCH}; SET lock_configuration = true"
    ))
}

/// Who holds the file, out of what DuckDB says; `None`: it is something else.
fn holder(text: &str) -> Option<String> {
    if !text.contains("lock on file") {
        return None;
    }
    let (_, after) = text.split_once("Conflicting lock is held in ").unwrap_or(("", "another process"));
    let end = after.find(" by user").or_else(|| after.find(". See")).unwrap_or(after.len());
    Some(after[..end].trim_end_matches('.').to_string())
}

/// What DuckDB says first; the rest is for its own authors.
pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

/// A path as a text of SQL. It is absolute: `https://...` and `sqlite:...` would not be files to DuckDB.
pub(super) fn quoted(path: &Path) -> Result<String, DatabaseError> {
    let unwritable = |text: String| DatabaseError::Unwritable { path: path.into(), text };
    let absolute = std::path::absolute(path).map_err(|error| unwritable(error.to_string()))?;
    let text = absolute.to_str().ok_or_else(|| unwritable("DuckDB takes names in UTF-8 only: name another".into()))?;
    Ok(super::text_literal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_read_from_the_message() {
        let text = "IO Error: Could not set lock on file \"a.duckdb\": Conflicting lock is held in /usr/bin/python3.11 (PID 77) by user root. See also the docs";
        assert_eq!(holder(text).as_deref(), Some("/usr/bin/python3.11 (PID 77)"));
        assert_eq!(holder("IO Error: Cannot open file"), None);
    }

    #[test]
    fn an_address_is_a_file_like_any_other_and_a_quote_ends_no_text() {
        for path in ["https://x/y.duckdb", "sqlite:x", ":memory:", "it's.duckdb"] {
            let text = quoted(Path::new(path)).unwrap();
            assert!(text.starts_with("'/") || cfg!(windows), "{text}");
            assert_eq!(text.matches('\'').count() % 2, 0, "{text}");
        }
    }
}
