//! Runs out of the tables, for whoever asks more than SQL does.

use super::open::quoted;
use super::{Database, DatabaseError};
use duckdb::Connection;
use skillbench_record::catalog;
use skillbench_record::{Cell, Run, RunRequest};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Which runs are meant: a condition in SQL on the columns of `benchmark_results`, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub condition: Option<String>,
}

impl Filter {
    pub fn all() -> Filter {
        Filter::default()
    }

    /// The cells of these runs.
    pub fn runs<'a>(runs: impl IntoIterator<Item = &'a str>) -> Filter {
        let names: Vec<String> = runs.into_iter().map(text_literal).collect();
        Filter { condition: Some(format!("run IN ({})", names.join(", "))) }
    }

    /// Of the cells of this filter those of these runs.
    pub fn within<'a>(&self, runs: impl IntoIterator<Item = &'a str>) -> Filter {
        let runs = Filter::runs(runs);
        Filter { condition: Some(format!("({}) AND {}", self.text(), runs.text())) }
    }

    /// The cells that count now in the whole database, and what may be newer of them: of each attempt on a device the newest that was
    /// not measured, and the newest of each key.
    pub fn that_count() -> Filter {
        Filter::sql(
            "id IN (SELECT id FROM latest_id UNION
                SELECT arg_max(id, row(outcome <> 'skipped', coalesce(epoch_us(timestamp), -9223372036854775807), run, cell))
                FROM benchmark_results GROUP BY attempt, device_id, CASE WHEN outcome = 'measured' THEN key END)",
        )
    }

    pub fn sql(condition: &str) -> Filter {
        Filter { condition: Some(condition.into()) }
    }

    pub(super) fn text(&self) -> &str {
        self.condition.as_deref().unwrap_or("true")
    }
}

impl Database {
    /// Every run that a cell of the filter is of, the oldest first, each without its cells.
    ///
    /// # Errors
    /// As for any use of the file; a condition that DuckDB refuses.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<Run>, DatabaseError> {
        let connection = self.read()?;
        let refused = |error: duckdb::Error| DatabaseError::Sql(error.to_string());
        let condition = match &filter.condition {
            None => "true".to_string(),
            Some(condition) => format!("run IN (SELECT run FROM benchmark_results WHERE {condition})"),
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
            runs.push(Run {
                run_id: text(0)?,
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
        let connection = self.read()?;
        let refused = |error: duckdb::Error| DatabaseError::Sql(error.to_string());
        let sql = format!(
            "SELECT run, request::VARCHAR FROM runs
             WHERE request IS NOT NULL AND run IN (SELECT run FROM benchmark_results WHERE {})",
            filter.text()
        );
        let mut statement = connection.prepare(&sql).map_err(refused)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(refused)?;
        let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>().map_err(refused)?;
        let request = |(run, text): (String, String)| Some((run, serde_json::from_str(&text).ok()?));
        Ok(rows.into_iter().filter_map(request).collect())
    }

    /// The runs of the filter with its cells, as their documents had them.
    ///
    /// # Errors
    /// As [`Database::runs`].
    pub fn documents(&self, filter: &Filter) -> Result<Vec<Run>, DatabaseError> {
        let mut runs = self.runs(filter)?;
        let connection = self.read()?;
        let refused = |error: duckdb::Error| DatabaseError::Sql(error.to_string());
        let meant: HashSet<(String, i64)> = connection
            .prepare(&format!("SELECT run, cell FROM benchmark_results WHERE {}", filter.text()))
            .and_then(|mut statement| statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
            .map_err(refused)?;
        let targets = format!("SELECT run_id FROM benchmark_results WHERE {}", filter.text());
        let sql = format!(
            "SELECT b.run, r.raw_data FROM raw_benchmark_data r JOIN benchmark_runs b ON b.id = r.run_id
             WHERE b.id IN ({targets}) ORDER BY b.id"
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
    }

    /// How many cells there are.
    ///
    /// # Errors
    /// As for any use of the file.
    pub fn count(&self) -> Result<u64, DatabaseError> {
        let count = self.read()?.query_row("SELECT count(*) FROM benchmark_results", [], |row| row.get(0));
        count.map_err(|error| DatabaseError::Sql(error.to_string()))
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
        Open(&self.read()?).columns_to(filter, names, file)
    }

    /// The same of the samples, one row each: `run`, `cell`, `series`, `unit`, `round`, `index`, `value`.
    ///
    /// # Errors
    /// As [`Database::cells_to`].
    pub fn samples_to(&self, filter: &Filter, file: &Path) -> Result<(), DatabaseError> {
        let sql = format!(
            "SELECT run, cell, series, unit, round, unnest(range(len(samples))) AS index, unnest(samples) AS value,
                round_cpu_ns, round_wall_ns
             FROM raw_samples WHERE (run, cell) IN (SELECT (run, cell) FROM benchmark_results WHERE {})",
            filter.text()
        );
        self.copy_to(&sql, file, "FORMAT parquet")
    }

    pub(super) fn copy_to(&self, select: &str, file: &Path, options: &str) -> Result<(), DatabaseError> {
        Open(&self.read()?).copy_to(select, file, options)
    }
}

/// A database that is open, for more than one question.
pub struct Open<'c>(pub(super) &'c Connection);

impl Open<'_> {
    /// As [`Database::columns_to`].
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn columns_to(&self, filter: &Filter, names: &[&str], file: &Path) -> Result<(), DatabaseError> {
        let sql = format!(
            "SELECT {} FROM benchmark_results WHERE {} ORDER BY timestamp, run, cell",
            names.join(", "),
            filter.text()
        );
        self.copy_to(&sql, file, "FORMAT parquet")
    }

    fn copy_to(&self, select: &str, file: &Path, options: &str) -> Result<(), DatabaseError> {
        let sql = format!("COPY ({select}) TO {} ({options})", quoted(file));
        self.0.execute_batch(&sql).map_err(|error| DatabaseError::Sql(error.to_string()))
    }
}

/// A text as SQL has it, in quotes.
pub fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
