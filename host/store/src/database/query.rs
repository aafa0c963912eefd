//! SQL of the user's, and its answer as rows.

use super::open::{Access, first_line};
use super::{Database, DatabaseError};
use duckdb::Connection;
use duckdb::types::{TimeUnit, Value};
use serde_json::Value as Json;

/// What a question brought. A column's values are as JSON has them; what has no such form is text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Json>>,
}

impl Database {
    /// Asks. The file is open for reading only, and nothing else can be reached.
    ///
    /// # Errors
    /// As for any use of the file; SQL that DuckDB refuses, in its own words.
    pub fn query(&self, sql: &str) -> Result<Answer, DatabaseError> {
        self.read(|connection| answer(connection, sql))
    }

    /// Has a statement carried out that may do all that DuckDB can: change the tables, read and write files, load extensions.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn query_whole(&self, sql: &str) -> Result<Answer, DatabaseError> {
        // A file of another program or of a newer host is refused here.
        self.read(|_| Ok(()))?;
        self.caught(|| answer(&self.attach(Access::Whole, None)?, sql))
    }

    /// Every table and column, with what it means. Of the views `latest_...` only what `benchmark_results` does not have.
    ///
    /// # Errors
    /// As for any use of the file.
    pub fn describe(&self) -> Result<Answer, DatabaseError> {
        self.query(
            "SELECT c.table_name AS \"table\", c.column_name AS \"column\", lower(c.data_type) AS type,
                coalesce(c.comment, r.comment, CASE c.column_name
                    WHEN 'newer_run' THEN 'Run of a newer try that failed, or is believed less; null: none'
                    WHEN 'newer_outcome' THEN 'How that try ended'
                    WHEN 'newer_reason' THEN 'Why'
                    ELSE '' END) AS meaning
             FROM duckdb_columns() c
             LEFT JOIN duckdb_columns() r ON r.database_name = c.database_name AND r.schema_name = c.schema_name AND r.table_name = 'benchmark_results'
                AND r.column_name = c.column_name
             WHERE c.database_name = 'benchmarks' AND c.schema_name = 'main' AND NOT c.internal
                AND NOT (c.table_name LIKE 'latest\\_%' ESCAPE '\\' AND r.column_name IS NOT NULL)
             ORDER BY c.table_name, c.column_index",
        )
    }
}

fn answer(connection: &Connection, sql: &str) -> Result<Answer, DatabaseError> {
    if sql.trim().is_empty() {
        return Err(DatabaseError::Sql("it is empty".into()));
    }
    let mut statement = connection.prepare(sql).map_err(refused)?;
    let mut rows = statement.query([]).map_err(refused)?;
    let columns = rows.as_ref().map(|statement| statement.column_names()).unwrap_or_default();
    let mut answer = Answer { columns, rows: vec![] };
    while let Some(row) = rows.next().map_err(refused)? {
        let values = (0..answer.columns.len()).map(|at| row.get::<_, Value>(at).map(json));
        answer.rows.push(values.collect::<Result<_, _>>().map_err(refused)?);
    }
    Ok(answer)
}

/// By these words DuckDB says that a connection is closed to something.
const CLOSED: [&str; 5] = [
    "disabled by configuration",
    "disabled through configuration",
    "configuration has been locked",
    "read-only mode",
    // What a name without a database would be made in.
    "create entry in system catalog",
];

/// SQL that DuckDB refuses, in its own words.
pub(super) fn refused(error: duckdb::Error) -> DatabaseError {
    let text = error.to_string();
    starved(&text).unwrap_or_else(|| match CLOSED.iter().any(|words| text.contains(words)) {
        true => DatabaseError::Closed(first_line(&text)),
        false => DatabaseError::Sql(text),
    })
}

/// By these words DuckDB and the library of its language say that memory or a thread cannot be had.
const STARVED: [&str; 4] = ["Out of Memory", "bad_alloc", "Allocation failure", "Resource temporarily unavailable"];

/// What was wanted in vain, where that is why DuckDB failed. The file is as good as it was.
pub(super) fn starved(text: &str) -> Option<DatabaseError> {
    STARVED.iter().any(|words| text.contains(words)).then(|| DatabaseError::Starved(first_line(text)))
}

fn json(value: Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(flag) => flag.into(),
        Value::TinyInt(n) => n.into(),
        Value::SmallInt(n) => n.into(),
        Value::Int(n) => n.into(),
        Value::BigInt(n) => n.into(),
        Value::HugeInt(n) => i64::try_from(n).map_or_else(|_| n.to_string().into(), Json::from),
        Value::UTinyInt(n) => n.into(),
        Value::USmallInt(n) => n.into(),
        Value::UInt(n) => n.into(),
        Value::UBigInt(n) => n.into(),
        Value::Float(n) => f64::from(n).into(),
        Value::Double(n) => n.into(),
        Value::Text(text) | Value::Enum(text) => text.into(),
        Value::Timestamp(unit, n) => time(unit, n).into(),
        Value::List(values) | Value::Array(values) => Json::Array(values.into_iter().map(json).collect()),
        Value::Struct(fields) => {
            Json::Object(fields.iter().map(|(name, value)| (name.clone(), json(value.clone()))).collect())
        }
        Value::Decimal(decimal) => {
            let text = decimal.to_string();
            text.parse::<f64>().map_or(Json::String(text), Json::from)
        }
        Value::Date32(days) => skillbench_record::time::utc(i64::from(days) * 86_400)[..10].into(),
        other => format!("{other:?}").into(),
    }
}

/// "2026-01-31 12:00:00".
fn time(unit: TimeUnit, n: i64) -> String {
    let seconds = unit.to_micros(n).div_euclid(1_000_000);
    skillbench_record::time::utc(seconds).replace('T', " ").trim_end_matches('Z').to_string()
}
