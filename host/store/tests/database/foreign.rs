//! Files that somebody made to get at others: views over files, macros in the names of functions, ids that are paths.

use crate::made::{measured, run};
use duckdb::Connection;
use skillbench_store::database::{Filter, Form};
use skillbench_store::{Database, DatabaseError};
use std::path::{Path, PathBuf};

const SECRET: &str = "what nobody else may read";

struct Place {
    folder: tempfile::TempDir,
    database: Database,
}

impl Place {
    /// A database with one run, and a file that is none of its business.
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::at(folder.path().join("it's a.duckdb"));
        database.store(&[run("one", vec![measured(0, "cpu", "vit", 1, 2.0)])]).unwrap();
        std::fs::write(folder.path().join("secret.txt"), SECRET).unwrap();
        Place { folder, database }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn secret(&self) -> String {
        self.path("secret.txt").display().to_string()
    }

    /// What another program does to the file.
    fn changed(&self, sql: &str) {
        Connection::open(self.database.path()).unwrap().execute_batch(sql).unwrap();
    }
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn no_statement_reaches_a_file_an_extension_or_a_setting() {
    let place = Place::new();
    let (secret, out) = (place.secret(), place.path("out").display().to_string());
    let before = files(place.folder.path());
    for sql in [
        format!("SELECT content FROM read_text('{secret}')"),
        format!("SELECT * FROM read_csv('{secret}')"),
        format!("SELECT * FROM glob('{}/*')", place.folder.path().display()),
        format!("COPY runs TO '{out}'"),
        format!("COPY (SELECT 1) TO '{out}' (FORMAT parquet)"),
        format!("EXPORT DATABASE '{out}'"),
        format!("ATTACH '{out}' AS other"),
        format!("SELECT 1; ATTACH '{out}' AS other (READ_ONLY)"),
        format!("LOAD '{secret}'"),
        "INSTALL httpfs".into(),
        "SET enable_external_access = true".into(),
        "SET temp_directory = '/'".into(),
        "RESET lock_configuration".into(),
        "DELETE FROM runs".into(),
        "CREATE TABLE benchmarks.main.more (x INTEGER)".into(),
        "CREATE TABLE more (x INTEGER)".into(),
        "UPDATE benchmark_results SET latency_median_ms = 0".into(),
    ] {
        let error = place.database.query(&sql).unwrap_err();
        assert!(matches!(error, DatabaseError::Closed(_)), "{sql}: {error:?}");
        assert!(error.to_string().contains("--unsafe") && !error.to_string().contains(SECRET), "{sql}: {error}");
    }
    assert_eq!(files(place.folder.path()), before);
    assert_eq!(place.database.count().unwrap(), 1);
}

#[test]
fn who_asks_for_all_of_it_gets_all_of_it() {
    let place = Place::new();
    let sql = format!("SELECT content FROM read_text('{}')", place.secret());
    assert_eq!(place.database.query_whole(&sql).unwrap().rows[0][0], SECRET);
    place.database.query_whole("DELETE FROM benchmark_results").unwrap();
    assert_eq!(place.database.count().unwrap(), 0, "it is kept");
}

#[test]
fn a_view_in_the_place_of_a_table_is_refused_by_whoever_reads_it() {
    let place = Place::new();
    place.changed(&format!(
        "ALTER TABLE benchmark_results RENAME TO kept;
         CREATE VIEW benchmark_results AS SELECT * REPLACE ((SELECT content FROM read_text('{}')) AS model_id) FROM kept",
        place.secret()
    ));
    let out = place.path("out");
    let errors = [
        place.database.query("SELECT 1").unwrap_err(),
        place.database.cells(&Filter::all()).unwrap_err(),
        place.database.check().unwrap_err(),
        place.database.export(&Filter::all(), Form::Csv, &out).unwrap_err(),
        place.database.store(&[run("two", vec![])]).unwrap_err(),
    ];
    for error in errors {
        assert!(
            matches!(&error, DatabaseError::Disguised { tables, .. } if tables == "benchmark_results"),
            "{error:?}"
        );
    }
    assert_eq!(files(&out), Vec::<String>::new());
}

#[test]
fn a_view_of_a_file_shows_nothing_of_another_file() {
    let place = Place::new();
    place
        .changed(&format!("CREATE OR REPLACE VIEW latest_benchmarks AS SELECT * FROM read_text('{}')", place.secret()));
    let error = place.database.query("SELECT * FROM latest_benchmarks").unwrap_err();
    assert!(matches!(error, DatabaseError::Closed(_)), "{error:?}");
    place.changed(&format!(
        "CREATE OR REPLACE VIEW latest_id AS SELECT (SELECT count(*) FROM read_text('{}')) AS id",
        place.secret()
    ));
    assert_eq!(place.database.cells(&Filter::that_count()).unwrap().len(), 1, "the host asks tables alone");
}

#[test]
fn a_macro_does_not_take_the_place_of_a_function() {
    let place = Place::new();
    place.changed("CREATE MACRO epoch_us(x) AS 77; CREATE MACRO max(x) AS 77; CREATE MACRO make_timestamp(x) AS NULL");
    let cells = place.database.cells(&Filter::all()).unwrap();
    assert_ne!(cells[0].began, Some(77));
    place.database.store(&[run("two", vec![measured(0, "cpu", "vit", 1, 2.0)])]).unwrap();
    let ids = place.database.query("SELECT id FROM benchmark_results WHERE id < 77").unwrap();
    assert_eq!(ids.rows.len(), 2);
}

#[test]
fn a_condition_is_one_expression_that_reaches_nothing() {
    let place = Place::new();
    let (secret, out) = (place.secret(), place.path("out.csv"));
    let good = ["plugin = 'cpu'", "run IN (SELECT run FROM runs)", "true -- and no more", "plugin = 'a;b' OR true"];
    for condition in good {
        assert_eq!(place.database.cells(&Filter::sql(condition)).unwrap().len(), 1, "{condition}");
        assert_eq!(place.database.runs(&Filter::sql(condition).within(["one"])).unwrap().len(), 1, "{condition}");
    }
    let end = format!("true) TO '{}' (FORMAT csv); COPY (SELECT 1", out.display());
    let bad = [
        end.as_str(),
        "true; DELETE FROM runs",
        "true) UNION SELECT * FROM benchmark_results WHERE (true",
        "true) ORDER BY (1",
        "",
        "a b",
    ];
    for condition in bad {
        let filter = Filter::sql(condition);
        for error in [
            place.database.cells(&filter).unwrap_err(),
            place.database.runs(&filter).unwrap_err(),
            place.database.samples_to(&filter, &out).unwrap_err(),
        ] {
            assert!(matches!(error, DatabaseError::Condition(_) | DatabaseError::Sql(_)), "{condition}: {error:?}");
        }
    }
    let reads = Filter::sql(&format!("(SELECT content FROM read_text('{secret}')) <> ''"));
    assert!(matches!(place.database.cells_to(&reads, &out).unwrap_err(), DatabaseError::Closed(_)));
    assert!(!out.exists());
}

#[test]
fn an_id_that_is_another_place_names_no_file() {
    for id in ["../../x", "/x", "", "a\nb"] {
        let place = Place::new();
        place.changed(&format!(
            "UPDATE runs SET run = '{id}'; UPDATE benchmark_runs SET run = '{id}'; UPDATE benchmark_results SET run = '{id}'"
        ));
        let out = place.path("deep/out");
        let error = place.database.export(&Filter::all(), Form::Parquet, &out).unwrap_err();
        assert!(matches!(error, DatabaseError::RunId { .. }), "{id}: {error:?}");
        assert!(!error.to_string().contains('\n'), "{error}");
        assert!(matches!(place.database.documents(&Filter::all()).unwrap_err(), DatabaseError::RunId { .. }));
        assert_eq!(files(&out), Vec::<String>::new());
        assert!(!place.path("x").exists());
    }
}

#[test]
fn names_of_tables_and_files_are_no_sql() {
    let place = Place::new();
    place.changed("CREATE TABLE \"x\"\"; DELETE FROM runs; --\" (n INTEGER)");
    assert!(place.database.check().unwrap().tables.iter().any(|(name, _)| name.starts_with("x\"")));
    let out = place.path("it's; out");
    let exported = place.database.export(&Filter::all(), Form::Parquet, &out).unwrap();
    assert!(exported.files.iter().all(|file| file.metadata().unwrap().len() > 0));
    place.database.export(&Filter::all(), Form::Parquet, &out).expect("what is there is written over");
}
