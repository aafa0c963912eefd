//! The table of cells in the columns of the catalogue, made anew from the documents of its cells where the columns are others.

use super::store::{append, batch, json, results};
use super::{Database, DatabaseError, migrations};
use duckdb::arrow::array::{ArrayRef, Int64Array};
use duckdb::{Connection, Transaction};
use skillbench_record::catalog::{self, Row};
use skillbench_record::time::moment;
use skillbench_record::{Cell, Run, RunRequest};
use std::collections::HashMap;
use std::sync::Arc;

const TABLE: &str = "benchmark_results";

/// The columns that the table has beside those of the catalogue.
const OWN: [&str; 2] = ["id", "run_id"];

impl Database {
    /// Whether the table of cells has other columns than the catalogue.
    ///
    /// # Errors
    /// It has columns that this host does not know.
    pub(super) fn is_outdated(&self, connection: &Connection) -> Result<bool, DatabaseError> {
        let found: Vec<String> = columns(connection).map_err(|error| self.failed(error))?;
        let known: Vec<&str> = OWN.into_iter().chain(catalog::all().map(|column| column.name)).collect();
        let unknown: Vec<&str> = found.iter().map(String::as_str).filter(|name| !known.contains(name)).collect();
        match unknown.is_empty() {
            true => Ok(found != known),
            false => Err(DatabaseError::Unknown { path: self.path().into(), columns: unknown.join(", ") }),
        }
    }
}

fn columns(connection: &Connection) -> Result<Vec<String>, duckdb::Error> {
    let sql = "SELECT column_name FROM duckdb_columns()
               WHERE database_name = ? AND schema_name = 'main' AND table_name = ? ORDER BY column_index";
    connection.prepare(sql)?.query_map([super::open::NAME, TABLE], |row| row.get(0))?.collect()
}

/// Makes the table anew, and the views.
pub(super) fn rebuild(connection: &mut Connection) -> Result<(), duckdb::Error> {
    let transaction = connection.transaction()?;
    let places = places(&transaction)?;
    transaction.execute_batch(&format!("DROP TABLE {TABLE}; {}", ddl()))?;
    for mut run in runs(&transaction)? {
        let Some(targets) = documents(&transaction, &run.run.run_id)? else { continue };
        run.run.cells = targets.iter().flat_map(|(_, cells)| cells.iter().cloned()).collect();
        run.run.upgrade(run.request.as_ref());
        run.run.cells.sort_by_key(|cell| cell.index);
        keep_documents(&transaction, &run.run, &targets)?;
        let started = moment(&run.run.started_at);
        let of_place = |cell: &Cell| places.get(&(run.run.run_id.clone(), cell.index as i64)).copied();
        // A document without a row would be a cell that nobody stored.
        run.run.cells.retain(|cell| of_place(cell).is_some());
        let rows: Vec<Row<'_>> = run.run.cells.iter().map(|cell| Row { run: &run.run, started, cell }).collect();
        let ids = run.run.cells.iter().filter_map(of_place).map(|(id, _)| id).collect::<Int64Array>();
        let owners = run.run.cells.iter().filter_map(of_place).map(|(_, owner)| owner).collect::<Int64Array>();
        let own: [(&str, ArrayRef); 2] = [("id", Arc::new(ids)), ("run_id", Arc::new(owners))];
        append(&transaction, TABLE, batch(own.into_iter().chain(results(&rows)))?)?;
        super::store::add_plugin_metrics(&transaction, &run.run)?;
    }
    transaction.execute_batch(migrations::VIEWS)?;
    transaction.commit()
}

/// The table in the columns of the catalogue, each with what it means, so that any client tells it.
fn ddl() -> String {
    let column = |column: catalog::Column| format!("{} {}", column.name, column.kind.sql());
    let all: Vec<String> = catalog::all().map(column).collect();
    let comment = |column: catalog::Column| {
        let unit = if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
        let meaning = format!("{}{unit}", column.meaning).replace('\'', "''");
        format!("COMMENT ON COLUMN {TABLE}.{} IS '{meaning}';", column.name)
    };
    let comments: String = catalog::all().map(comment).collect();
    format!(
        "CREATE TABLE {TABLE} (id BIGINT NOT NULL, run_id BIGINT NOT NULL, {});
         COMMENT ON TABLE {TABLE} IS 'One row for each cell';
         COMMENT ON COLUMN {TABLE}.id IS 'Number';
         COMMENT ON COLUMN {TABLE}.run_id IS 'Row of benchmark_runs';
         {comments}",
        all.join(", ")
    )
}

/// The id and the target of each cell, by run and place.
type Places = HashMap<(String, i64), (i64, i64)>;

fn places(transaction: &Transaction<'_>) -> Result<Places, duckdb::Error> {
    let sql = format!("SELECT run, cell, id, run_id FROM {TABLE}");
    let mut statement = transaction.prepare(&sql)?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
    rows.collect()
}

struct StoredRun {
    run: Run,
    request: Option<RunRequest>,
}

/// The heads of all runs. One whose head cannot be read is left out with its cells: its journal fills it in again.
fn runs(transaction: &Transaction<'_>) -> Result<Vec<StoredRun>, duckdb::Error> {
    let sql = "SELECT run, strftime(timestamp, '%Y-%m-%dT%H:%M:%SZ'), schema, seed, environment, request::VARCHAR
               FROM runs ORDER BY timestamp, run";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut runs = vec![];
    while let Some(row) = rows.next()? {
        let text = |at: usize| row.get::<_, Option<String>>(at).map(Option::unwrap_or_default);
        let Ok(environment) = serde_json::from_str(&text(4)?) else { continue };
        let run = Run {
            run_id: text(0)?,
            started_at: text(1)?,
            schema: text(2)?,
            seed: text(3)?.parse().unwrap_or_default(),
            command: vec![],
            environment,
            left_out: Default::default(),
            cells: vec![],
        };
        runs.push(StoredRun { run, request: serde_json::from_str(&text(5)?).ok() });
    }
    Ok(runs)
}

/// The cells of a target, by its id.
type Target = (i64, Vec<Cell>);

/// The cells of a run's targets; `None`: one of them cannot be read.
fn documents(transaction: &Transaction<'_>, run: &str) -> Result<Option<Vec<Target>>, duckdb::Error> {
    let sql = "SELECT r.run_id, r.raw_data::VARCHAR FROM raw_benchmark_data r JOIN benchmark_runs b ON b.id = r.run_id
               WHERE b.run = ? ORDER BY b.id";
    let mut statement = transaction.prepare(sql)?;
    let rows: Vec<(i64, String)> =
        statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let cells = |(target, text): (i64, String)| Some((target, serde_json::from_str(&text).ok()?));
    Ok(rows.into_iter().map(cells).collect())
}

/// Writes back what the upgrade filled in.
fn keep_documents(transaction: &Transaction<'_>, run: &Run, targets: &[Target]) -> Result<(), duckdb::Error> {
    let upgraded: HashMap<usize, &Cell> = run.cells.iter().map(|cell| (cell.index, cell)).collect();
    for (target, cells) in targets {
        let now: Vec<&Cell> = cells.iter().filter_map(|cell| upgraded.get(&cell.index).copied()).collect();
        if now.iter().zip(cells).any(|(now, then)| *now != then) {
            let sql = "UPDATE raw_benchmark_data SET raw_data = ? WHERE run_id = ?";
            transaction.execute(sql, duckdb::params![json(&now), target])?;
        }
    }
    let sql = "UPDATE runs SET environment = ?, machine = ? WHERE run = ?";
    let machine = run.environment.machine_id();
    transaction.execute(sql, duckdb::params![json(&run.environment), machine, run.run_id])?;
    Ok(())
}
