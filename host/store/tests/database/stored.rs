use crate::made::{ended, measured, run};
use serde_json::json;
use skillbench_record::catalog;
use skillbench_store::database::{Filter, Form, migrations};
use skillbench_store::{Database, Recorded};

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("below").join("benchmarks.duckdb"));
    (folder, database)
}

fn two_backends() -> Recorded {
    run(
        "one",
        vec![
            measured(0, "cpu", "bert-tiny", 1, 2.0),
            measured(1, "rten", "bert-tiny", 1, 4.0),
            ended(2, "rten", "vit", "crashed"),
            ended(3, "cuda", "vit", "unavailable"),
        ],
    )
}

#[test]
fn every_column_of_a_cell_is_one_of_the_table_in_the_same_order() {
    let (_folder, database) = database();
    database.init(false).unwrap();
    let sql = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'benchmark_results' ORDER BY column_index";
    let found = database.query(sql).unwrap().rows;
    let known = catalog::all().map(|column| vec![json!(column.name), json!(column.kind.sql())]);
    let own = [vec![json!("id"), json!("BIGINT")], vec![json!("run_id"), json!("BIGINT")]];
    assert_eq!(found, own.into_iter().chain(known).collect::<Vec<_>>(), "the table is made from the catalogue");
}

#[test]
fn a_run_is_stored_once_and_again_only_where_it_has_grown() {
    let (_folder, database) = database();
    assert_eq!(database.store(&[two_backends()]).unwrap().new, ["one"]);
    assert_eq!(database.store(&[two_backends()]).unwrap().known, ["one"]);
    let mut cells: Vec<_> = two_backends().run.cells.iter().map(|cell| serde_json::to_value(cell).unwrap()).collect();
    cells.push(measured(4, "cpu", "vit", 1, 9.0));
    assert_eq!(database.store(&[run("one", cells)]).unwrap().renewed, ["one"]);
    assert_eq!(database.store(&[two_backends()]).unwrap().known, ["one"], "an older copy takes nothing away");
    let count = |table: &str| database.query(&format!("SELECT count(*) FROM {table}")).unwrap().rows[0][0].clone();
    assert_eq!((count("runs"), count("benchmark_results"), count("raw_samples")), (json!(1), json!(5), json!(5)));
    assert_eq!(count("benchmark_runs"), count("hardware_info"));
    assert!(database.check().unwrap().problems.is_empty());
}

#[test]
fn a_cell_that_was_not_measured_has_a_reason_and_no_figure() {
    let (_folder, database) = database();
    database.store(&[two_backends()]).unwrap();
    let sql = "SELECT outcome, reason_code, latency_median_ms, peak_memory_mb, iterations FROM benchmark_results WHERE cell = 2";
    assert_eq!(
        database.query(sql).unwrap().rows,
        [[json!("crashed"), json!("signal"), json!(null), json!(null), json!(null)]]
    );
}

#[test]
fn the_columns_that_others_ask_for_hold_what_was_measured() {
    let (_folder, database) = database();
    database.store(&[two_backends()]).unwrap();
    let first = |sql: &str| database.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).rows[0].clone();
    assert_eq!(
        first(
            "SELECT timestamp, model_id, device, precision, architecture_type, task, parameter_count FROM benchmark_runs WHERE id = 1"
        ),
        [
            json!("2026-11-21 12:00:00"),
            json!("bert-tiny"),
            json!("cpu"),
            json!("float32"),
            json!("encoder-only"),
            json!("fill-mask"),
            json!(4_400_000)
        ]
    );
    assert_eq!(
        first(
            "SELECT iterations, latency_median_ms, latency_90p_ms, throughput_samples_per_sec, memory_usage_mb, peak_memory_mb FROM benchmark_results WHERE cell = 1"
        ),
        [json!(20), json!(4.0), json!(null), json!(250.0), json!(30.0), json!(40.0)]
    );
    assert_eq!(
        first(
            "SELECT device_type, device_name, performance_tier, hardware_details->>'arch' FROM hardware_info WHERE run_id = 1"
        ),
        [json!("cpu"), json!("A processor"), json!(null), json!("x86-64")]
    );
    assert_eq!(
        first("SELECT raw_data->'$[0].metrics.latency_ms.median' FROM raw_benchmark_data WHERE run_id = 1"),
        [json!("2.0")]
    );
    assert_eq!(
        first("SELECT hardware_type, platform, compute_units, memory_gb FROM hardware_platforms ORDER BY id"),
        [json!("cpu"), json!("linux-x86_64"), json!(2), json!(4.0)]
    );
}

#[test]
fn every_view_answers() {
    let (_folder, database) = database();
    database.store(&[two_backends(), run("empty", vec![])]).unwrap();
    let rows = |sql: &str| database.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).rows;
    assert_eq!(
        rows(
            "SELECT model_id, hardware_type, is_compatible, detection_success, initialization_success, compatibility_score FROM hardware_compatibility ORDER BY 1, 2"
        ),
        [
            [json!("bert-tiny"), json!("cpu"), json!(true), json!(true), json!(true), json!(1.0)],
            [json!("bert-tiny"), json!("rten"), json!(true), json!(true), json!(true), json!(1.0)],
            [json!("vit"), json!("cuda"), json!(null), json!(false), json!(null), json!(null)],
            [json!("vit"), json!("rten"), json!(false), json!(true), json!(false), json!(0.0)],
        ]
    );
    assert_eq!(
        rows("SELECT device, speedup_over_cpu FROM hardware_comparison ORDER BY 1"),
        [[json!("cpu"), json!(1.0)], [json!("rten"), json!(0.5)]]
    );
    assert_eq!(
        rows(
            "SELECT c.throughput, a.name, h.hardware_type FROM comprehensive_benchmarks c JOIN model_architecture_coverage a USING (architecture_id) JOIN hardware_platforms h ON h.id = c.hardware_id ORDER BY 1"
        ),
        [[json!(250.0), json!("bert-tiny"), json!("rten")], [json!(500.0), json!("bert-tiny"), json!("cpu")]]
    );
    assert_eq!(rows("SELECT count(*) FROM latest_benchmarks"), [[json!(2)]]);
    assert_eq!(rows("SELECT device, models, throughput_median FROM throughput_by_architecture ORDER BY 1").len(), 2);
}

#[test]
fn of_two_runs_the_latest_counts_and_emulated_cells_are_not_compared() {
    let (_folder, database) = database();
    let mut later = run("two", vec![measured(0, "cpu", "bert-tiny", 1, 3.0), measured(1, "qnn", "bert-tiny", 1, 1.0)]);
    later.run.started_at = "2026-11-22T12:00:00Z".into();
    later.run.cells[1].emulated = true;
    database.store(&[two_backends(), later]).unwrap();
    let rows = database.query("SELECT device, speedup_over_cpu FROM hardware_comparison ORDER BY 1").unwrap().rows;
    assert_eq!(rows, [[json!("cpu"), json!(1.0)], [json!("rten"), json!(0.75)]]);
}

#[test]
fn runs_come_out_as_they_went_in() {
    let (folder, database) = database();
    database.store(&[two_backends(), run("two", vec![measured(0, "cpu", "vit", 8, 7.0)])]).unwrap();
    let vit = Filter::sql("model_id = 'vit' AND outcome = 'measured'");
    let runs = database.runs(&vit).unwrap();
    assert_eq!(runs.iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(), ["two"]);
    assert_eq!((runs[0].started_at.as_str(), runs[0].seed), ("2026-11-21T12:00:00Z", 42));
    assert_eq!(runs[0].environment, two_backends().run.environment);
    let exported = database.export(&Filter::all(), Form::Parquet, &folder.path().join("export")).unwrap();
    assert_eq!((exported.runs, exported.files.len()), (2, 4));
    let read = |file: &std::path::Path| {
        let sql = format!("SELECT count(*) FROM read_parquet('{}')", file.display());
        duckdb::Connection::open_in_memory().unwrap().query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let counts: Vec<_> = exported.files.iter().map(|file| read(file)).collect();
    assert_eq!(counts, [4, 12, 1, 3]);
    let table = database.export(&Filter::runs(["two"]), Form::Csv, &folder.path().join("export")).unwrap();
    let text = std::fs::read_to_string(&table.files[0]).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert_eq!(text.lines().next().unwrap(), catalog::all().map(|c| c.name).collect::<Vec<_>>().join(","));
}

#[test]
fn migrations_are_numbered_without_a_gap() {
    let versions: Vec<i64> = migrations().iter().map(|migration| migration.version).collect();
    assert_eq!(versions, (1..=versions.len() as i64).collect::<Vec<_>>());
}

#[test]
fn every_column_of_every_table_says_what_it_means() {
    let (_folder, database) = database();
    database.init(false).unwrap();
    let tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'benchmarks' AND table_name <> 'skillbench_schema'";
    let silent = format!(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE comment IS NULL AND table_name IN ({tables})"
    );
    assert_eq!(database.query(&silent).unwrap().rows, Vec::<Vec<serde_json::Value>>::new());
    let described = database.describe().unwrap().rows;
    assert!(described.contains(&vec![
        json!("benchmark_results"),
        json!("peak_memory_mb"),
        json!("double"),
        json!("The highest of the cell [MiB]")
    ]));
}
