//! Files of older hosts, of newer ones, and half brought up to date.

use crate::made::{measured, run};
use serde_json::{Value, json};
use skillbench_store::Database;
use skillbench_store::database::Filter;
use std::path::Path;

const FIRST: &str = include_str!("../../migrations/0001-tables.sql");

/// A file as the first host wrote it: version 1, one run of two cells, of which one was asked for with an option.
fn of_the_first_host(path: &Path) {
    let file = duckdb::Connection::open(path).unwrap();
    file.execute_batch(FIRST).unwrap();
    file.execute_batch(
        "CREATE TABLE skillbench_schema (version BIGINT, name VARCHAR, applied_at TIMESTAMP, host_version VARCHAR);
         INSERT INTO skillbench_schema VALUES (1, 'tables', now()::TIMESTAMP, '0.1.0')",
    )
    .unwrap();
    let option = json!({"plugin": null, "key": "graph_optimization", "value": "disable"});
    store(&file, 1, "plain", 10, 2.0, json!([]));
    store(&file, 2, "set", 11, 1.0, json!([option]));
}

fn store(file: &duckdb::Connection, id: i64, name: &str, hour: u32, median: f64, options: Value) {
    let document = run(name, vec![measured(0, "cpu", "bert-tiny", 1, median)]).run;
    let mut cell = serde_json::to_value(&document.cells[0]).unwrap();
    cell.as_object_mut().unwrap().retain(|key, _| !["options", "workers"].contains(&key.as_str()));
    let mut environment = serde_json::to_value(&document.environment).unwrap();
    environment.as_object_mut().unwrap().remove("machine");
    let mut request = serde_json::to_value(skillbench_record::RunRequest::default()).unwrap();
    request["options"] = options;
    let text = |value: &Value| value.to_string().replace('\'', "''");
    let time = format!("TIMESTAMP '2026-01-01 {hour}:00:00'");
    let sql = format!(
        "INSERT INTO runs (run, timestamp, schema, host_version, hostname, cpu_model, seed, command, request, environment, left_out, cells,
             cells_measured, fingerprint, stored_at)
         VALUES ('{name}', {time}, 'skillbench.run/1', '0.1.0', 'here', 'A processor', '42', '[]', '{}', '{}', '{{}}', 1, 1, 'f', {time});
         INSERT INTO benchmark_runs (id, run) VALUES ({id}, '{name}');
         INSERT INTO benchmark_results (id, run_id, run, timestamp, cell, plugin, model_id, outcome, latency_median_ms)
         VALUES ({id}, {id}, '{name}', {time}, 0, 'cpu', 'bert-tiny', 'measured', {median});
         INSERT INTO raw_benchmark_data VALUES ({id}, {id}, '{}')",
        text(&request),
        text(&environment),
        text(&json!([cell])),
    );
    file.execute_batch(&sql).unwrap();
}

fn options(database: &Database) -> Vec<(Option<String>, f64)> {
    let median = skillbench_record::catalog::metric("latency_ms").unwrap();
    let latest = database.latest(&Filter::all()).unwrap();
    let mut found: Vec<_> =
        latest.into_iter().map(|one| (one.cell.options.clone(), one.cell.figure(median).unwrap())).collect();
    found.sort_by_key(|(options, _)| options.clone());
    found
}

#[test]
fn a_file_of_the_first_host_opens_with_the_options_of_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.duckdb");
    of_the_first_host(&path);
    let database = Database::at(&path);
    let expected = [(None, 2.0), (Some("graph_optimization=disable".to_string()), 1.0)];
    assert_eq!(options(&database), expected, "reading alone brings it up to date");
    assert!(database.check().unwrap().problems.is_empty());
    let views = database.query("SELECT options, latency_median_ms FROM latest_benchmarks ORDER BY 2").unwrap().rows;
    assert_eq!(views, [[json!("graph_optimization=disable"), json!(1.0)], [json!(null), json!(2.0)]]);
    let document = &database.documents(&Filter::sql("run = 'set'")).unwrap()[0];
    assert_eq!(document.cells[0].options["graph_optimization"], "disable", "documents have them too");
    database.store(&[run("new", vec![measured(0, "cpu", "bert-tiny", 1, 3.0)])]).unwrap();
    assert_eq!(options(&database).len(), 2);
}

#[test]
fn a_file_that_was_left_between_two_steps_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.duckdb");
    of_the_first_host(&path);
    let file = duckdb::Connection::open(&path).unwrap();
    file.execute_batch(include_str!("../../migrations/0002-keys.sql")).unwrap();
    file.execute_batch("INSERT INTO skillbench_schema VALUES (2, 'keys', now()::TIMESTAMP, '0.1.0')").unwrap();
    drop(file);
    assert_eq!(options(&Database::at(&path)).len(), 2);
}

#[test]
fn a_file_with_a_metric_that_only_a_newer_host_knows_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.duckdb");
    Database::at(&path).init(false).unwrap();
    let file = duckdb::Connection::open(&path).unwrap();
    file.execute_batch("ALTER TABLE benchmark_results ADD COLUMN dreams_per_sec DOUBLE").unwrap();
    drop(file);
    let refused = Database::at(&path).latest(&Filter::all()).unwrap_err().to_string();
    assert!(refused.contains("dreams_per_sec") && refused.contains("newer"), "{refused}");
}

#[test]
fn rows_of_a_plugin_that_is_no_longer_there_are_read_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("b.duckdb"));
    database.store(&[run("one", vec![measured(0, "gone", "bert-tiny", 1, 2.0)])]).unwrap();
    assert_eq!(database.latest(&Filter::all()).unwrap()[0].cell.plugin, "gone");
}
