//! Forms of runs that come out of the database.

use crate::files::real;
use crate::made::{ended, measured, run};
use serde_json::json;
use skillbench_results::export;
use skillbench_store::database::Filter;
use skillbench_store::{Database, Recorded};

fn stored(runs: Vec<skillbench_record::Run>) -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("benchmarks.duckdb"));
    let recorded = |run: skillbench_record::Run| Recorded {
        request: None,
        fingerprint: run.run_id.clone(),
        run,
        samples: vec![],
        damaged: vec![],
    };
    database.store(&runs.into_iter().map(recorded).collect::<Vec<_>>()).unwrap();
    (folder, database)
}

#[test]
fn a_document_comes_out_of_the_database_as_it_went_in() {
    let (_folder, database) = stored(vec![real()]);
    let runs = database.documents(&Filter::all()).unwrap();
    assert_eq!(json!(runs), json!([real()]));
    assert_eq!(export::suite(&runs[0]), export::suite(&real()));
}

#[test]
fn a_filter_takes_its_cells_alone() {
    let first = run("a", 0, vec![measured("cpu", "m", 2.0, 2.0, 1.0), ended("cuda", "m", "unavailable", "no driver")]);
    let (_folder, database) = stored(vec![first, run("b", 1, vec![measured("cpu", "n", 2.0, 2.0, 1.0)])]);
    let runs = database.documents(&Filter::sql("plugin = 'cuda'")).unwrap();
    let found: Vec<(&str, Vec<usize>)> =
        runs.iter().map(|run| (&*run.run_id, run.cells.iter().map(|cell| cell.index).collect())).collect();
    assert_eq!(found, [("a", vec![1])]);
    let both = database.documents(&Filter::sql("outcome = 'measured'").within(["b"])).unwrap();
    assert_eq!((both.len(), &*both[0].run_id), (1, "b"));
    assert_eq!(database.documents(&Filter::all()).unwrap().len(), 2);
}
