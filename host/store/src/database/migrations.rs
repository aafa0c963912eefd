//! How the tables came to be. A step that was released is never changed; the next one is added.
//!
//! The table of cells has the columns of the catalogue. Where they differ, as after a step or with a new metric, it is made anew from
//! the documents of its cells: see `rebuild`. Views are no state, and are made anew with it.

use duckdb::Connection;
use skillbench_record::time::{moment, now_utc};

/// The table that says which steps a file has had.
pub(super) const TABLE: &str = "skillbench_schema";

/// Every table, with the version that has it first.
pub(super) const TABLES: [(&str, i64); 9] = [
    ("runs", 1),
    ("benchmark_runs", 1),
    ("benchmark_results", 1),
    ("hardware_info", 1),
    ("raw_benchmark_data", 1),
    ("raw_samples", 1),
    ("hardware_platforms", 1),
    ("model_architecture_coverage", 1),
    ("plugin_metrics", 2),
];

pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

static ALL: &[Migration] = &[
    Migration { version: 1, name: "tables", sql: include_str!("../../migrations/0001-tables.sql") },
    Migration { version: 2, name: "keys", sql: include_str!("../../migrations/0002-keys.sql") },
];

/// The `id` of each cell that counts.
pub(super) const LATEST_ID: &str = include_str!("../../migrations/latest_id.sql");

/// Every view, as it is today.
pub(super) const VIEWS: &str = concat!(
    "CREATE OR REPLACE VIEW latest_id AS ",
    include_str!("../../migrations/latest_id.sql"),
    ";",
    include_str!("../../migrations/views.sql")
);

/// What must be of none: the sentence, and the SQL that counts.
pub(super) const CHECKS: &[(&str, &str)] = &[
    ("cells have no target", "SELECT count(*) FROM benchmark_results r ANTI JOIN benchmark_runs b ON b.id = r.run_id"),
    ("targets have no run", "SELECT count(*) FROM benchmark_runs b ANTI JOIN runs USING (run)"),
    ("runs stand there twice", "SELECT count(*) FROM (SELECT run FROM runs GROUP BY run HAVING count(*) > 1)"),
    (
        "runs have another number of cells than they say",
        "SELECT count(*) FROM runs LEFT JOIN (SELECT run, count(*) AS n FROM benchmark_results GROUP BY run) USING (run) WHERE cells <> coalesce(n, 0)",
    ),
    (
        "cells that are not measured have a latency",
        "SELECT count(*) FROM benchmark_results WHERE outcome <> 'measured' AND latency_median_ms IS NOT NULL",
    ),
];

pub fn all() -> &'static [Migration] {
    ALL
}

pub(super) fn latest() -> i64 {
    ALL.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// One step, whole or not at all.
pub(super) fn apply(connection: &mut Connection, migration: &Migration) -> Result<(), duckdb::Error> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {TABLE} (version BIGINT, name VARCHAR, applied_at TIMESTAMP, host_version VARCHAR)"
    ))?;
    transaction.execute_batch(migration.sql)?;
    transaction.execute(
        &format!("INSERT INTO {TABLE} VALUES (?, ?, make_timestamp(?), ?)"),
        duckdb::params![migration.version, migration.name, moment(&now_utc()), env!("CARGO_PKG_VERSION")],
    )?;
    transaction.commit()
}
