//! What is kept of runs: a database that survives anything, and is filled again from journals.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A run of a model that takes no time.
const QUICK: [&str; 8] =
    ["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1,2,4,8"];

fn rows(ran: &Ran) -> Vec<Value> {
    serde_json::from_str(&ran.exits_with(0).stdout()).expect("rows")
}

fn query(world: &World, sql: &str) -> Vec<Value> {
    rows(&world.host(&["query", sql, "--format", "json"]))
}

#[test]
fn a_run_is_in_the_database_when_it_has_ended() {
    let world = World::default();
    let (_, document) = world.run(&QUICK);
    let found =
        query(&world, "SELECT run, cell, axes, outcome, latency_median_ms FROM benchmark_results ORDER BY cell");
    let cells = skillbench_tests::cells(&document);
    assert_eq!(found.len(), cells.len());
    for (row, cell) in found.iter().zip(cells) {
        assert_eq!(row["run"], document["run_id"]);
        assert_eq!(row["latency_median_ms"], cell["metrics"]["latency_ms"]["median"]);
    }
    world.host(&["db", "check"]).exits_with(0);
    world.host(&["query", "SELECT count(*) AS n FROM runs", "--format", "csv"]).exits_with(0).tells("n\n1\n");
}

#[test]
fn nothing_is_stored_where_that_is_said_and_elsewhere_where_that_is_said() {
    let world = World::default();
    world.run(&[&QUICK[..], &["--no-save"]].concat()).0.exits_with(0);
    assert!(!world.path().join("results/benchmarks.duckdb").exists());
    world.host(&["query", "SELECT 1"]).exits_with(2).tells("host db import");
    let mut named = world.command(&[&["run", "--budget", "0.1"], &QUICK[..]].concat());
    let ran = Ran(named.env("BENCHMARK_DB_PATH", "elsewhere/all.duckdb").output().unwrap());
    ran.exits_with(0);
    let found =
        rows(&world.host(&["query", "SELECT run FROM runs", "--db", "elsewhere/all.duckdb", "--format", "json"]));
    assert_eq!(found.len(), 1);
}

/// The cells that journals here have, as run and place.
fn journaled(results: &Path) -> BTreeSet<(String, i64)> {
    let mut cells = BTreeSet::new();
    for folder in std::fs::read_dir(results).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let text = std::fs::read_to_string(folder.path().join("journal.ndjson")).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in whole.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if line["type"] == "cell" {
                cells.insert((
                    folder.file_name().to_string_lossy().into_owned(),
                    line["cell"]["index"].as_i64().unwrap(),
                ));
            }
        }
    }
    cells
}

#[test]
fn killed_at_any_moment_it_loses_no_finished_cell() {
    let world = World::default();
    let results = world.path().join("results");
    let mut finished = BTreeSet::new();
    for attempt in 0..20u64 {
        let mut command = world.command(&[&["run", "--budget", "0.02", "--quiet"], &QUICK[..]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Half of them whenever it comes, from before the first cell on; the others when a cell has been finished, however long
        // this machine takes for one.
        if attempt % 2 == 1 {
            while child.try_wait().unwrap().is_none() && (!results.is_dir() || journaled(&results) == finished) {
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_millis(attempt));
        } else {
            std::thread::sleep(Duration::from_millis(60 + attempt * attempt.wrapping_mul(2_654_435_761) % 1_500));
        }
        let _ = child.kill();
        child.wait().unwrap();
        if results.is_dir() {
            finished = journaled(&results);
        }
    }
    // A run that was killed before its first line has nothing to bring in, which is told.
    let imported = world.host(&["db", "import", "--format", "json"]);
    assert!(matches!(imported.code(), Some(0 | 1)), "{}", imported.stderr());
    let stored: BTreeSet<(String, i64)> = query(&world, "SELECT run, cell FROM benchmark_results")
        .iter()
        .map(|row| (row["run"].as_str().unwrap().to_string(), row["cell"].as_i64().unwrap()))
        .collect();
    assert!(!finished.is_empty(), "no cell was finished in any of the runs");
    assert_eq!(stored, finished);
    world.host(&["db", "check"]).exits_with(0);
    world.host(&["db", "import"]);
    assert_eq!(query(&world, "SELECT count(*) AS n FROM benchmark_results")[0]["n"], json!(finished.len()));
}

#[test]
fn several_runs_at_once_are_all_stored() {
    let world = World::default();
    let runs: Vec<_> = (0..3)
        .map(|_| {
            let asked = ["run", "--budget", "0.02", "--quiet", "--no-lock"];
            let mut command = world.command(&[&asked[..], &QUICK[..]].concat());
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for run in runs {
        Ran(run.wait_with_output().unwrap()).exits_with(0);
    }
    assert_eq!(query(&world, "SELECT count(*) AS n FROM runs")[0]["n"], 3);
}

#[test]
fn a_journal_that_is_broken_costs_the_others_nothing() {
    let world = World::default();
    world.run(&[&QUICK[..], &["--no-save"]].concat()).0.exits_with(0);
    world.write("results/broken/journal.ndjson", "{\"type\":\"run\"}\n[1,2]\n");
    world.write("results/cut/journal.ndjson", "{\"type\":\"run\",\"requ");
    let ran = world.host(&["db", "import"]);
    ran.exits_with(1).tells("broken/journal.ndjson, line 1").tells("the others are stored");
    assert_eq!(query(&world, "SELECT count(*) AS n FROM runs")[0]["n"], 1);
    world.host(&["db", "import", "nowhere"]).exits_with(2).tells("nowhere");
}

#[test]
fn a_run_whose_database_cannot_be_written_is_kept_in_its_folder() {
    let world = World::default();
    let file = world.write("a-file", "");
    let database = file.join("b.duckdb");
    let ran = world.host(&[&["run", "--budget", "0.05", "--db", database.to_str().unwrap()], &QUICK[..]].concat());
    ran.exits_with(1).tells("and not in the database");
    assert!(world.run_folder().join("run.json").is_file());
    world.host(&["db", "import"]).exits_with(0);
}

#[test]
fn sql_that_fails_says_why_and_changes_nothing() {
    let world = World::default();
    world.host(&["db", "init"]).exits_with(0);
    world.host(&["query", "SELEC 1"]).exits_with(1).tells("syntax error");
    world.host(&["query", "SELECT nothing FROM runs"]).exits_with(1).tells("nothing");
    world.host(&["query", "DROP TABLE runs"]).exits_with(1).tells("read-only");
    world.host(&["query", "--sql", "SELECT 7 AS n", "--format", "json", "--output", "deep/answer.json"]).exits_with(0);
    let text = std::fs::read_to_string(world.path().join("deep/answer.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!([{"n": 7}]));
}

#[test]
fn an_older_client_of_the_database_opens_the_file_and_every_view_answers() {
    let packages = std::env::var_os("SKILLBENCH_TEST_DUCKDB")
        .expect("SKILLBENCH_TEST_DUCKDB names the folder with Python's duckdb; scripts/test sets it");
    let world = World::default();
    world.run(&QUICK).0.exits_with(0);
    let script = "
import duckdb, sys
names = tuple(int(part) for part in duckdb.__version__.split('.')[:2])
assert names < (1, 5), duckdb.__version__
base = duckdb.connect('results/benchmarks.duckdb', read_only=True)
views = [name for (name,) in base.execute('SELECT view_name FROM duckdb_views() WHERE NOT internal').fetchall()]
for name in views:
    print(name, len(base.execute('SELECT * FROM ' + name).fetchall()))
print('cells', base.execute('SELECT count(*) FROM benchmark_results WHERE latency_median_ms > 0').fetchone()[0])
print('samples', base.execute('SELECT sum(len(samples)) > 0 FROM raw_samples').fetchone()[0])
";
    let ran = std::process::Command::new("python3")
        .args(["-c", script])
        .env("PYTHONPATH", packages)
        .current_dir(world.path())
        .output()
        .unwrap();
    let ran = Ran(ran);
    ran.exits_with(0).tells("cells 4").tells("samples True");
    for view in [
        "latest_benchmarks 4",
        "hardware_comparison 4",
        "throughput_by_architecture 1",
        "comprehensive_benchmarks 4",
        "hardware_compatibility 1",
    ] {
        ran.tells(view);
    }
}
