//! Runs out of the tables, for whoever asks more than SQL does.

use super::open::quoted;
use super::{Database, DatabaseError};
use crate::columns;
use skillbench_engine::document::Run;
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
        let names: Vec<String> = runs.into_iter().map(|run| format!("'{}'", run.replace('\'', "''"))).collect();
        Filter { condition: Some(format!("run IN ({})", names.join(", "))) }
    }

    pub fn sql(condition: &str) -> Filter {
        Filter { condition: Some(condition.into()) }
    }

    fn text(&self) -> &str {
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
                seed: row.get::<_, i64>(3).map_err(refused)? as u64,
                command: text(4)?.split(' ').map(String::from).collect(),
                environment: serde_json::from_str(&text(5)?).map_err(broken)?,
                left_out: serde_json::from_str(&text(6)?).map_err(broken)?,
                cells: vec![],
            });
        }
        Ok(runs)
    }

    /// Writes the cells of the filter as a Parquet file, in the columns of [`crate::columns`] and in the order of time and plan.
    ///
    /// # Errors
    /// As [`Database::runs`]; a file that cannot be written.
    pub fn cells_to(&self, filter: &Filter, file: &Path) -> Result<(), DatabaseError> {
        let names: Vec<&str> = columns::all().map(|column| column.name).collect();
        let sql = format!(
            "SELECT {} FROM benchmark_results WHERE {} ORDER BY timestamp, run, cell",
            names.join(", "),
            filter.text()
        );
        self.copy_to(&sql, file, "FORMAT parquet")
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
        let sql = format!("COPY ({select}) TO {} ({options})", quoted(file));
        self.read()?.execute_batch(&sql).map_err(|error| DatabaseError::Sql(error.to_string()))
    }
}
