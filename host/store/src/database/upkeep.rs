//! The file as a whole: made, brought up to date, and held against what this host knows.

use super::open::{Access, CHECKPOINT, NAME, SEARCH};
use super::rebuild::rebuild;
use super::{Database, DatabaseError, migrations};
use duckdb::Connection;

/// What a look at the file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub schema: i64,
    /// Tables with how many rows each has.
    pub tables: Vec<(String, i64)>,
    /// What does not hold together, in sentences; none is good.
    pub problems: Vec<String>,
}

impl Database {
    /// Makes the file with its tables.
    ///
    /// # Errors
    /// There is one already and it is not to be overwritten, it is held, the folder cannot be written.
    pub fn init(&self, overwrite: bool) -> Result<(), DatabaseError> {
        if self.exists() {
            if !overwrite {
                return Err(DatabaseError::Exists { path: self.path().into() });
            }
            // Whoever holds it would go on writing into a file without a name; and another program's file is not ours to remove.
            let looked = self.caught(|| self.schema(&self.attach(Access::Write, None)?));
            match looked {
                Ok(_) | Err(DatabaseError::Newer { .. } | DatabaseError::Disguised { .. }) => {}
                Err(error @ DatabaseError::Corrupt { .. }) if !self.was_one() => return Err(error),
                Err(DatabaseError::Corrupt { .. }) => {}
                Err(other) => return Err(other),
            }
            let mut log = self.path().as_os_str().to_os_string();
            log.push(".wal");
            for file in [self.path().to_path_buf(), log.into()] {
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
        std::fs::File::open(self.path()).and_then(|mut file| file.read_exact(&mut head)).is_ok()
            && head[8..] == *b"DUCK"
    }

    /// Brings the tables up to date; says from which version to which.
    ///
    /// # Errors
    /// No database, one of a newer host or of another program, one that is held.
    pub fn migrate(&self) -> Result<(i64, i64), DatabaseError> {
        if !self.exists() {
            return Err(DatabaseError::Missing { path: self.path().into() });
        }
        self.caught(|| {
            let mut connection = self.attach(Access::Write, None)?;
            let before = self.schema(&connection)?.unwrap_or(0);
            self.bring_up_to_date(&mut connection)?;
            Ok((before, migrations::latest()))
        })
    }

    /// Reads every table, and holds them against each other.
    ///
    /// # Errors
    /// The file cannot be read, or is not ours.
    pub fn check(&self) -> Result<Checked, DatabaseError> {
        self.read(|connection| {
            let schema = self.schema(connection)?.unwrap_or(0);
            let failed = |error| self.failed(error);
            let mut tables = vec![];
            for name in self.tables(connection)? {
                let sql = format!("SELECT count(*) FROM {}", identifier(&name));
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
        })
    }

    pub(super) fn bring_up_to_date(&self, connection: &mut Connection) -> Result<(), DatabaseError> {
        let failed = |error| self.failed(error);
        let found = self.schema(connection)?.unwrap_or(0);
        // What is made lies where the search begins.
        connection.execute_batch(&format!("USE {NAME}")).map_err(failed)?;
        for migration in migrations::all().iter().filter(|migration| migration.version > found) {
            migrations::apply(connection, migration).map_err(failed)?;
        }
        let is_outdated = self.is_outdated(connection)?;
        if is_outdated {
            rebuild(connection).map_err(failed)?;
        }
        if is_outdated || found < migrations::latest() {
            connection.execute_batch(CHECKPOINT).map_err(failed)?;
        }
        connection.execute_batch(SEARCH).map_err(failed)
    }

    /// The version of our tables; `None`: the file has none at all.
    pub(super) fn schema(&self, connection: &Connection) -> Result<Option<i64>, DatabaseError> {
        let tables = self.tables(connection)?;
        let is_there = |table: &str| tables.iter().any(|name| name == table);
        if !is_there(migrations::TABLE) {
            let few: Vec<&str> = tables.iter().take(3).map(String::as_str).collect();
            let foreign = || DatabaseError::Foreign { path: self.path().into(), tables: few.join(", ") };
            return if tables.is_empty() { Ok(None) } else { Err(foreign()) };
        }
        let sql = format!("SELECT coalesce(max(version), 0) FROM {}", migrations::TABLE);
        let found: i64 = connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| self.failed(error))?;
        let known = migrations::latest();
        if found > known {
            return Err(DatabaseError::Newer { path: self.path().into(), found, known });
        }
        // A view in the place of a table would be somebody's SQL, done in the name of ours.
        let due = migrations::TABLES.iter().filter(|(_, since)| *since <= found);
        let missing: Vec<&str> = due.map(|(name, _)| *name).filter(|name| !is_there(name)).collect();
        match missing.is_empty() {
            true => Ok(Some(found)),
            false => Err(DatabaseError::Disguised { path: self.path().into(), tables: missing.join(", ") }),
        }
    }

    fn tables(&self, connection: &Connection) -> Result<Vec<String>, DatabaseError> {
        let sql = "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND schema_name = 'main' ORDER BY 1";
        connection
            .prepare(sql)
            .and_then(|mut statement| statement.query_map([NAME], |row| row.get(0))?.collect())
            .map_err(|error| self.failed(error))
    }
}

/// A name as SQL has it, in quotes.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
