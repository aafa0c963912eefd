//! Opening the file: whose it is, whether another process holds it, and which version it has.

use super::rebuild::rebuild;
use super::{Database, DatabaseError, migrations};
use duckdb::{Config, Connection};
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
const CHECKPOINT: &str = "CHECKPOINT benchmarks";

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

/// What a look at the file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub schema: i64,
    /// Tables with how many rows each has.
    pub tables: Vec<(String, i64)>,
    /// What does not hold together, in sentences; none is good.
    pub problems: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Database {
    /// Makes the file with its tables.
    ///
    /// # Errors
    /// There is one already and it is not to be overwritten, it is held, the folder cannot be written.
    pub fn init(&self, overwrite: bool) -> Result<(), DatabaseError> {
        if self.exists() {
            if !overwrite {
                return Err(DatabaseError::Exists { path: self.path.clone() });
            }
            // Whoever holds it would go on writing into a file without a name; and another program's file is not ours to remove.
            match self.attach(Access::Write) {
                Ok(connection) => drop(self.schema(&connection).map(drop).or_else(|error| match error {
                    DatabaseError::Newer { .. } => Ok(()),
                    other => Err(other),
                })?),
                Err(error @ DatabaseError::Corrupt { .. }) if !self.was_one() => return Err(error),
                Err(DatabaseError::Corrupt { .. }) => {}
                Err(other) => return Err(other),
            }
            let mut log = self.path.clone().into_os_string();
            log.push(".wal");
            for file in [self.path.clone(), log.into()] {
                match std::fs::remove_file(&file) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(DatabaseError::Unwritable { path: file, text: error.to_string() });
                    }
                    _ => {}
                }
            }
        }
        self.write(|_| Ok(()))
    }

    /// Whether a file that cannot be opened has the mark of a DuckDB database.
    fn was_one(&self) -> bool {
        use std::io::Read;
        let mut head = [0; 12];
        std::fs::File::open(&self.path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head[8..] == *b"DUCK"
    }

    /// Brings the tables up to date; says from which version to which.
    ///
    /// # Errors
    /// No database, one of a newer host or of another program, one that is held.
    pub fn migrate(&self) -> Result<(i64, i64), DatabaseError> {
        if !self.exists() {
            return Err(DatabaseError::Missing { path: self.path.clone() });
        }
        let mut connection = self.attach(Access::Write)?;
        let before = self.schema(&connection)?.unwrap_or(0);
        self.bring_up_to_date(&mut connection)?;
        Ok((before, migrations::latest()))
    }

    /// Reads every table, and holds them against each other.
    ///
    /// # Errors
    /// The file cannot be read, or is not ours.
    pub fn check(&self) -> Result<Checked, DatabaseError> {
        let connection = self.read()?;
        let schema = self.schema(&connection)?.unwrap_or(0);
        let failed = |error| self.failed(error);
        let names: Vec<String> = connection
            .prepare("SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY table_name")
            .and_then(|mut statement| statement.query_map([NAME], |row| row.get(0))?.collect())
            .map_err(failed)?;
        let mut tables = vec![];
        for name in names {
            let sql = format!("SELECT count(*) FROM \"{name}\"");
            tables.push((name, connection.query_row(&sql, [], |row| row.get(0)).map_err(failed)?));
        }
        let mut problems = vec![];
        for (sentence, sql) in migrations::CHECKS {
            let count: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
            if count > 0 {
                problems.push(format!("{count} {sentence}"));
            }
        }
        Ok(Checked { schema, tables, problems })
    }

    /// A connection that reads, to a file of the version this host knows.
    pub(super) fn read(&self) -> Result<Connection, DatabaseError> {
        if !self.exists() {
            return Err(DatabaseError::Missing { path: self.path.clone() });
        }
        let connection = self.attach(Access::Read)?;
        let (found, known) = (self.schema(&connection)?.unwrap_or(0), migrations::latest());
        if found == known && !self.is_outdated(&connection)? {
            return Ok(connection);
        }
        drop(connection);
        (self.waiting.tell)(&format!("{} is of an older host, and is brought up to date", self.path.display()));
        match self.migrate() {
            Ok(_) => self.attach(Access::Read),
            Err(DatabaseError::Unwritable { path, .. }) => Err(DatabaseError::Older { path, found, known }),
            Err(other) => Err(other),
        }
    }

    /// Does one commit: all of it, or nothing. The file is made and brought up to date where that is needed.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&duckdb::Transaction<'_>) -> Result<T, duckdb::Error>,
    ) -> Result<T, DatabaseError> {
        self.commit(work).map(|(done, _)| done)
    }

    /// The same; the file stays open.
    pub(super) fn commit<T>(
        &self,
        work: impl FnOnce(&duckdb::Transaction<'_>) -> Result<T, duckdb::Error>,
    ) -> Result<(T, Connection), DatabaseError> {
        let mut connection = self.attach(Access::Write)?;
        self.bring_up_to_date(&mut connection)?;
        let failed = |error: duckdb::Error| self.failed(error);
        let transaction = connection.transaction().map_err(failed)?;
        let done = work(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        connection.execute_batch(CHECKPOINT).map_err(failed)?;
        Ok((done, connection))
    }

    fn bring_up_to_date(&self, connection: &mut Connection) -> Result<(), DatabaseError> {
        let failed = |error| self.failed(error);
        let found = self.schema(connection)?.unwrap_or(0);
        for migration in migrations::all().iter().filter(|migration| migration.version > found) {
            migrations::apply(connection, migration).map_err(failed)?;
        }
        let is_outdated = self.is_outdated(connection)?;
        if is_outdated {
            rebuild(connection).map_err(failed)?;
        }
        match is_outdated || found < migrations::latest() {
            true => connection.execute_batch(CHECKPOINT).map_err(failed),
            false => Ok(()),
        }
    }

    /// The version of our tables; `None`: the file has none at all.
    fn schema(&self, connection: &Connection) -> Result<Option<i64>, DatabaseError> {
        let failed = |error| self.failed(error);
        let tables: Vec<String> = connection
            .prepare("SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY table_name")
            .and_then(|mut statement| statement.query_map([NAME], |row| row.get(0))?.collect())
            .map_err(failed)?;
        if !tables.iter().any(|name| name == migrations::TABLE) {
            let few: Vec<&str> = tables.iter().take(3).map(String::as_str).collect();
            let foreign = || DatabaseError::Foreign { path: self.path.clone(), tables: few.join(", ") };
            return if tables.is_empty() { Ok(None) } else { Err(foreign()) };
        }
        let sql = format!("SELECT coalesce(max(version), 0) FROM {}", migrations::TABLE);
        let found: i64 = connection.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
        let known = migrations::latest();
        if found > known {
            return Err(DatabaseError::Newer { path: self.path.clone(), found, known });
        }
        Ok(Some(found))
    }

    /// A connection that has the file under its name, once no other process holds it.
    fn attach(&self, access: Access) -> Result<Connection, DatabaseError> {
        if let (Access::Write, Some(folder)) = (access, self.path.parent()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| DatabaseError::Unwritable { path: folder.into(), text: error.to_string() })?;
        }
        if self.path.is_dir() {
            return Err(DatabaseError::Unwritable { path: self.path.clone(), text: "it is a folder".into() });
        }
        let connection = match access {
            Access::Read => Connection::open_in_memory(),
            // Appending and compressing use one thread; others would only wait, busily.
            Access::Write => Config::default().threads(1).and_then(Connection::open_in_memory_with_flags),
        };
        let connection = connection.map_err(|error| self.failed(error))?;
        let options = match access {
            Access::Read => "READ_ONLY".to_string(),
            Access::Write if self.exists() => format!("READ_WRITE, {WITHOUT_LOG}"),
            Access::Write => format!("{WITHOUT_LOG}, STORAGE_VERSION '{STORAGE_VERSION}', BLOCK_SIZE {BLOCK_SIZE}"),
        };
        let sql = format!("ATTACH {} AS {NAME} ({options}); USE {NAME}", quoted(&self.path));
        let begun = Instant::now();
        let mut told = false;
        loop {
            let Err(error) = connection.execute_batch(&sql) else { return Ok(connection) };
            let text = error.to_string();
            let Some(holder) = holder(&text) else { return Err(self.refused(&text)) };
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

    fn refused(&self, text: &str) -> DatabaseError {
        let (path, line) = (self.path.clone(), first_line(text));
        let unwritable = ["Permission denied", "Cannot open file", "No such file", "read-only", "No space left"];
        match unwritable.iter().any(|known| text.contains(known)) {
            true => DatabaseError::Unwritable { path, text: line },
            false => DatabaseError::Corrupt { path, text: line },
        }
    }
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

/// A path as a text of SQL.
pub(super) fn quoted(path: &Path) -> String {
    super::text_literal(&path.to_string_lossy())
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
}
