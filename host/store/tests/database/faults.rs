//! What stands in the way, and what the user is told of it.

use crate::made::{measured, run};
use duckdb::Connection;
use skillbench_store::database::{Waiting, migrations};
use skillbench_store::{Database, DatabaseError};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn sql(path: &std::path::Path, text: &str) {
    Connection::open(path).unwrap().execute_batch(text).unwrap();
}

#[test]
fn a_file_that_is_not_there_is_told_with_what_makes_one() {
    let folder = tempfile::tempdir().unwrap();
    let error = Database::at(folder.path().join("no.duckdb")).query("SELECT 1").unwrap_err();
    assert!(matches!(error, DatabaseError::Missing { .. }) && error.to_string().contains("host db import"), "{error}");
}

#[test]
fn a_database_of_a_newer_host_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    let database = Database::at(&path);
    database.init(false).unwrap();
    sql(&path, "INSERT INTO skillbench_schema VALUES (99, 'later', NULL, '9.9')");
    let error = database.store(&[run("one", vec![])]).unwrap_err();
    assert!(matches!(error, DatabaseError::Newer { found: 99, .. }), "{error}");
    assert!(database.query("SELECT 1").is_err());
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    sql(&path, "CREATE TABLE customers (name VARCHAR)");
    let error = Database::at(&path).store(&[run("one", vec![])]).unwrap_err();
    assert!(matches!(error, DatabaseError::Foreign { .. }) && error.to_string().contains("customers"), "{error}");
    let tables: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM duckdb_tables()", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn a_damaged_file_is_told_from_one_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [&b"this is no database at all, and long enough to be read as the head of one"[..], &[0; 20_000]] {
        let path = folder.path().join("a.duckdb");
        std::fs::write(&path, bytes).unwrap();
        let error = Database::at(&path).query("SELECT 1").unwrap_err();
        assert!(matches!(error, DatabaseError::Corrupt { .. }), "{error:?}");
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Database::at(file.join("a.duckdb")).store(&[]).unwrap_err();
    assert!(matches!(error, DatabaseError::Unwritable { .. }), "{error:?}");
}

#[test]
fn a_file_that_another_process_is_making_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let [path, whole] = ["a.duckdb", "whole.duckdb"].map(|name| folder.path().join(name));
    Database::at(&whole).store(&[run("one", vec![])]).unwrap();
    // What DuckDB writes first is not there yet.
    std::fs::write(&path, [0; 4096]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            std::fs::rename(&whole, &path).unwrap();
        });
        Database::at(&path).store(&[run("two", vec![])]).unwrap();
    });
    let runs = Database::at(&path).query("SELECT count(*) AS n FROM runs").unwrap();
    assert!(format!("{runs:?}").contains("Number(2)"), "{runs:?}");
}

#[test]
fn a_file_cut_in_the_middle_is_never_read_as_a_good_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    let database = Database::at(&path);
    database.store(&[run("one", vec![measured(0, "cpu", "vit", 1, 2.0)])]).unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(database.check().is_err());
}

#[test]
fn an_old_file_is_brought_up_to_date_when_it_is_opened_and_told_of_where_it_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    sql(
        &path,
        "CREATE TABLE skillbench_schema (version BIGINT, name VARCHAR, applied_at TIMESTAMP, host_version VARCHAR)",
    );
    let database = Database::at(&path);
    let copy = std::fs::read(&path).unwrap();
    assert_eq!(database.query("SELECT 1").unwrap().rows.len(), 1);
    let latest = migrations().last().unwrap().version;
    assert_eq!(database.check().unwrap().schema, latest);
    std::fs::write(&path, &copy).unwrap();
    assert_eq!(database.migrate().unwrap(), (0, latest));
}

#[test]
fn init_overwrites_only_where_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("a.duckdb"));
    database.store(&[run("one", vec![measured(0, "cpu", "vit", 1, 2.0)])]).unwrap();
    assert!(matches!(database.init(false).unwrap_err(), DatabaseError::Exists { .. }));
    database.init(true).unwrap();
    assert_eq!(database.query("SELECT count(*) FROM runs").unwrap().rows[0][0], 0);
}

/// This test program, holding a database until it is ended.
struct Holder(Child);

impl Holder {
    fn of(path: &std::path::Path) -> Holder {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "faults::holds_a_database_for_another_test", "--nocapture", "--ignored"])
            .env("HELD", path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains("it is held")), "the holder did not get it");
        Holder(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn holds_a_database_for_another_test() {
    let Some(path) = std::env::var_os("HELD") else { return };
    let _connection = Connection::open(path).unwrap();
    println!("it is held");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn one_that_is_held_is_waited_for_and_then_told_with_who_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    let database = Database::at(&path).waiting(Waiting { most: Duration::from_millis(300), tell: |_| {} });
    database.init(false).unwrap();
    let holder = Holder::of(&path);
    let begun = Instant::now();
    let error = database.store(&[run("one", vec![])]).unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(300));
    let told = error.to_string();
    assert!(told.contains(&format!("PID {}", holder.0.id())) && told.contains("host db import"), "{told}");
}

#[test]
fn what_is_held_for_a_while_is_stored_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    let database = Database::at(&path);
    database.init(false).unwrap();
    let holder = Holder::of(&path);
    let freeing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        drop(holder);
    });
    assert_eq!(database.store(&[run("one", vec![])]).unwrap().new, ["one"]);
    freeing.join().unwrap();
}

#[test]
fn no_question_changes_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("a.duckdb"));
    database.init(false).unwrap();
    for sql in ["DELETE FROM runs", "DROP TABLE runs", "CREATE TABLE t (a INT)"] {
        let error = database.query(sql).unwrap_err();
        assert!(matches!(error, DatabaseError::Closed(_)), "{error}");
    }
}
