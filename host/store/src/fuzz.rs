//! Journals that no host wrote, and conditions in SQL.

use crate::database::Filter;
use crate::{Database, journal};

#[test]
fn journal() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join(journal::NAME);
    skillbench_fuzz::fuzz("journal", |bytes| {
        std::fs::write(&path, bytes).expect("it can be written");
        drop(journal::began(&path));
        match journal::read(&path) {
            Ok(recorded) => {
                for cell in &recorded.run.cells {
                    drop(cell.key(&recorded.run).digest());
                }
                true
            }
            Err(error) => {
                drop(error.to_string());
                false
            }
        }
    });
}

#[test]
fn run_document() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("run.json");
    skillbench_fuzz::fuzz("run-document", |bytes| {
        std::fs::write(&path, bytes).expect("it can be written");
        journal::read_document(&path).is_ok()
    });
}

/// What a journal says goes into the database whole, or not at all, and comes out again.
#[test]
fn stored() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join(journal::NAME);
    let database = Database::at(folder.path().join("benchmarks.duckdb"));
    skillbench_fuzz::fuzz_few("stored", 100, |bytes| {
        std::fs::write(&path, bytes).expect("it can be written");
        let Ok(recorded) = journal::read(&path) else { return false };
        let run = recorded.run.run_id.clone();
        match database.store(&[recorded]) {
            Ok(_) => {
                let found = database.documents(&Filter::runs([run.as_str()])).expect("what was stored can be read");
                assert!(found.len() <= 1, "a run is there once");
                true
            }
            Err(error) => {
                drop(error.to_string());
                false
            }
        }
    });
}

/// A condition may be refused, and changes nothing.
#[test]
fn sql_conditions() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let database = Database::at(folder.path().join("benchmarks.duckdb"));
    database.init(false).expect("a database can be made");
    skillbench_fuzz::fuzz_few("sql-conditions", 100, |bytes| {
        database.runs(&Filter::sql(&String::from_utf8_lossy(bytes))).is_ok()
    });
    assert_eq!(database.count().expect("the database is still one"), 0, "nothing was written");
}
