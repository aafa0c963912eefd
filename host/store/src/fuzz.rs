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
    let number = std::cell::Cell::new(0u64);
    skillbench_fuzz::fuzz("stored", |bytes| {
        std::fs::write(&path, bytes).expect("it can be written");
        let Ok(recorded) = journal::read(&path) else { return false };
        number.set(number.get() + 1);
        let database = Database::at(folder.path().join(format!("{}.duckdb", number.get() % 4)));
        if number.get() % 64 < 4 {
            drop(std::fs::remove_file(database.path()));
        }
        let run = recorded.run.run_id.clone();
        match database.store(&[recorded]) {
            Ok(_) => {
                let found = database.documents(&Filter::runs([run.as_str()])).expect("what was stored is found");
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

/// A condition may be refused. It reads no file of the machine, and changes nothing.
#[test]
fn sql_conditions() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let database = Database::at(folder.path().join("benchmarks.duckdb"));
    database.init(false).expect("a database can be made");
    skillbench_fuzz::fuzz("sql-conditions", |bytes| {
        let condition = String::from_utf8_lossy(bytes);
        let accepted = database.runs(&Filter::sql(&condition)).is_ok();
        assert_eq!(database.count().ok(), Some(0), "nothing was written");
        accepted
    });
}
