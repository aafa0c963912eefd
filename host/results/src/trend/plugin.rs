//! Histories of the metrics that plugins add: the long table of them, as columns of cells.

use super::Measure;
use crate::{Stored, StoredError};
use polars::prelude::*;
use serde_json::Value;
use skillbench_record::catalog::{Better, column};
use skillbench_store::database::{Filter, text_literal};
use skillbench_store::{Database, DatabaseError};
use std::collections::HashMap;

/// The metrics that plugins added to stored cells, in the order of their names. One that has two units is two.
///
/// # Errors
/// As for any use of the database.
pub fn plugin_metrics(database: &Database) -> Result<Vec<Measure>, DatabaseError> {
    let sql = "SELECT metric, coalesce(unit, ''), bool_or(higher_is_better) FROM plugin_metrics
               GROUP BY ALL ORDER BY ALL";
    let of = |row: &Vec<Value>| {
        let (name, unit) = (row.first()?.as_str()?.to_string(), row.get(1)?.as_str()?.to_string());
        let better = match row.get(2)?.as_bool() {
            Some(true) => Better::Higher,
            Some(false) => Better::Lower,
            None => Better::Neither,
        };
        Some(Measure { column: format!("plugin metric {name} in {unit}"), name, unit, better })
    };
    Ok(database.query(sql)?.rows.iter().filter_map(of).collect())
}

/// Cells with a metric that a plugin adds as one more column.
///
/// # Errors
/// As for any use of the database.
pub(super) fn with_column(
    database: &Database,
    mut cells: DataFrame,
    measure: &Measure,
) -> Result<DataFrame, StoredError> {
    let (name, unit) = (text_literal(&measure.name), text_literal(&measure.unit));
    let filter = Filter::sql(&format!("metric = {name} AND coalesce(unit, '') = {unit}"));
    let stored = Stored::plugin_metrics_of(database, &filter)?;
    let values: HashMap<(&str, i64), f64> =
        stored.iter().map(|metric| ((metric.run.as_str(), metric.cell), metric.value)).collect();
    let of: Float64Chunked = {
        let (runs, places) = (cells.column(column::RUN)?.str()?, cells.column(column::CELL)?.i64()?);
        let value = |(run, place): (Option<&str>, Option<i64>)| values.get(&(run?, place?)).copied();
        runs.iter().zip(places.iter()).map(value).collect()
    };
    cells.with_column(of.with_name(measure.column.as_str().into()).into_column())?;
    Ok(cells)
}
