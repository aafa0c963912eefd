//! Runs out of the tables, for whoever asks more than SQL does.

use super::open::quoted;
use super::query::refused;
use super::{Database, DatabaseError, Filter};
use duckdb::Connection;
use skillbench_record::catalog;
use skillbench_record::{Cell, Run, RunRequest, run_id};
use std::collections::{HashMap, HashSet};
use std::path::Path;

impl Database {
    /// Every run that a cell of the filter is of, the oldest first, each without its cells.
    ///
    /// # Errors
    /// As for any use of the file; a condition that DuckDB refuses; an id that cannot be the name of a file.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<Run>, DatabaseError> {
        self.read(|connection| self.heads(connection, filter))
    }

    fn heads(&self, connection: &Connection, filter: &Filter) -> Result<Vec<Run>, DatabaseError> {
        let condition = match filter.condition {
            None => "true".to_string(),
            Some(_) => format!("run IN (SELECT run FROM benchmark_results WHERE {})", filter.held(connection)?),
        };
        let sql = format!(
            "SELECT run, strftime(timestamp, '%Y-%m-%dT%H:%M:%SZ'), schema, seed, command, environment, left_out
             FROM runs WHERE {condition} ORDER BY timestamp, run"
        );
        let mut statement = connection.prepare(&sql).map_err(refused)?;
        let mut rows = statement.query([]).map_err(refused)?;
        let mut runs = vec![];
        while let Some(row) = rows.next().map_err(refused)? {
            let text = |at: usize| row.get::<_, Option<String>>(at).map(Option::unwrap_or_default).map_err(refused);
            let broken = |error: serde_json::Error| DatabaseError::Failed {
                path: self.path().to_path_buf(),
                text: format!("a run's environment cannot be read: {error}"),
            };
            let run_id = text(0)?;
            // Whoever gets a run may make a file in its name.
            run_id::check(&run_id).map_err(|error| DatabaseError::RunId { path: self.path().into(), error })?;
            runs.push(Run {
                run_id,
                started_at: text(1)?,
                schema: text(2)?,
                seed: text(3)?.parse().unwrap_or_default(),
                command: serde_json::from_str(&text(4)?).map_err(broken)?,
                environment: serde_json::from_str(&text(5)?).map_err(broken)?,
                left_out: serde_json::from_str(&text(6)?).map_err(broken)?,
                cells: vec![],
            });
        }
        Ok(runs)
    }

    /// What was asked for by each run that a cell of the filter is of. One that was read from a `run.json` does not tell.
    ///
    /// # Errors
    /// As [`Database::runs`].
    pub fn requests(&self, filter: &Filter) -> Result<Vec<(String, RunRequest)>, DatabaseError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT run, request::VARCHAR FROM runs
                 WHERE request IS NOT NULL AND run IN (SELECT run FROM benchmark_results WHERE {})",
                filter.held(connection)?
            );
            let mut statement = connection.prepare(&sql).map_err(refused)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(refused)?;
            let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>().map_err(refused)?;
            let request = |(run, text): (String, String)| Some((run, serde_json::from_str(&text).ok()?));
            Ok(rows.into_iter().filter_map(request).collect())
        })
    }

    /// The runs of the filter with its cells, as their documents had them.
    ///
    /// # Errors
    /// As [`Database::runs`].
    pub fn documents(&self, filter: &Filter) -> Result<Vec<Run>, DatabaseError> {
        self.read(|connection| {
            let mut runs = self.heads(connection, filter)?;
            let condition = filter.text();
            let meant: HashSet<(String, i64)> = connection
                .prepare(&format!("SELECT run, cell FROM benchmark_results WHERE {condition}"))
                .and_then(|mut statement| statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
                .map_err(refused)?;
            let sql = format!(
                "SELECT b.run, r.raw_data FROM raw_benchmark_data r JOIN benchmark_runs b ON b.id = r.run_id
                 WHERE b.id IN (SELECT run_id FROM benchmark_results WHERE {condition}) ORDER BY b.id"
            );
            let mut statement = connection.prepare(&sql).map_err(refused)?;
            let mut rows = statement.query([]).map_err(refused)?;
            let places: HashMap<String, usize> =
                runs.iter().enumerate().map(|(place, run)| (run.run_id.clone(), place)).collect();
            while let Some(row) = rows.next().map_err(refused)? {
                let (run, raw): (String, String) = (row.get(0).map_err(refused)?, row.get(1).map_err(refused)?);
                let cells: Vec<Cell> = serde_json::from_str(&raw).map_err(|error| DatabaseError::Failed {
                    path: self.path().to_path_buf(),
                    text: format!("the cells of run {run} cannot be read: {error}"),
                })?;
                if let Some(place) = places.get(&run) {
                    let cells = cells.into_iter().filter(|cell| meant.contains(&(run.clone(), cell.index as i64)));
                    runs[*place].cells.extend(cells);
                }
            }
            runs.iter_mut().for_each(|run| run.cells.sort_by_key(|cell| cell.index));
            Ok(runs)
        })
    }

    /// How many cells there are.
    ///
    /// # Errors
    /// As for any use of the file.
    pub fn count(&self) -> Result<u64, DatabaseError> {
        let sql = "SELECT count(*) FROM benchmark_results";
        self.read(|connection| connection.query_row(sql, [], |row| row.get(0)).map_err(refused))
    }

    /// Writes the cells of the filter as a Parquet file, in the columns of [`skillbench_record::catalog`] and in the order of time and plan.
    ///
    /// # Errors
    /// As [`Database::runs`]; a file that cannot be written.
    pub fn cells_to(&self, filter: &Filter, file: &Path) -> Result<(), DatabaseError> {
        let names: Vec<&str> = catalog::all().map(|column| column.name).collect();
        self.columns_to(filter, &names, file)
    }

    /// The same, of these columns only.
    ///
    /// # Errors
    /// As [`Database::cells_to`].
    pub fn columns_to(&self, filter: &Filter, names: &[&str], file: &Path) -> Result<(), DatabaseError> {
        self.read_into(file, |connection| columns_to(connection, filter, names, file, PARQUET))
    }

    /// The same of the samples, one row each: `run`, `cell`, `series`, `unit`, `round`, `index`, `value`.
    ///
    /// # Errors
    /// As [`Database::cells_to`].
    pub fn samples_to(&self, filter: &Filter, file: &Path) -> Result<(), DatabaseError> {
        self.read_into(file, |connection| {
            let sql = format!(
                "SELECT run, cell, series, unit, round, unnest(range(len(samples))) AS index, unnest(samples) AS value,
                    round_cpu_ns, round_wall_ns
                 FROM raw_samples WHERE (run, cell) IN (SELECT (run, cell) FROM benchmark_results WHERE {})",
                filter.held(connection)?
            );
            copy_to(connection, &sql, file, PARQUET)
        })
    }
}

pub(super) const PARQUET: &str = "FORMAT parquet";

/// Writes these columns of the cells of the filter, in the order of time and plan. The connection has to be one that can write the file.
pub(super) fn columns_to(
    connection: &Connection,
    filter: &Filter,
    names: &[&str],
    file: &Path,
    form: &str,
) -> Result<(), DatabaseError> {
    let sql = format!(
        "SELECT {} FROM benchmark_results WHERE {} ORDER BY timestamp, run, cell",
        names.join(", "),
        filter.held(connection)?
    );
    copy_to(connection, &sql, file, form)
}

fn copy_to(connection: &Connection, select: &str, file: &Path, form: &str) -> Result<(), DatabaseError> {
    // A second file, renamed at the end, would be one that the connection cannot write.
    let sql = format!("COPY ({select}) TO {} ({form}, USE_TMP_FILE false)", quoted(file)?);
    connection.execute_batch(&sql).map_err(refused)
}

/// A text as SQL has it, in quotes.
pub fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
