//! Databases and records that somebody made to get at others: what they say is data, and reaches nothing.

use serde_json::json;
use skillbench_tests::{Ran, World, build_folder};
use std::path::{Path, PathBuf};
use std::process::Command;

const SECRET: &str = "what nobody else may read";

/// A run of a model that takes no time.
const QUICK: [&str; 8] = ["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1,2"];

/// A world with one run in its database, and a file that is none of its business.
fn measured() -> (World, PathBuf) {
    let world = World::default();
    world.run(&QUICK).0.exits_with(0);
    let secret = world.write("secret.txt", SECRET);
    (world, secret)
}

/// What another program does to the database.
fn changed(world: &World, sql: &str) {
    world.host(&["query", "--unsafe", sql]).exits_with(0).tells("--unsafe");
}

/// Everything that lies below a folder, but for what is of the database itself.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => found.extend(files(&entry)),
            false => found.push(entry),
        }
    }
    found.sort();
    found
}

fn has_secret(file: &Path) -> bool {
    let bytes = std::fs::read(file).unwrap();
    bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
}

/// Nothing that the host printed or wrote has the secret, but for the file that it is from.
#[track_caller]
fn keeps_the_secret(world: &World, ran: &Ran) {
    assert!(!ran.stdout().contains(SECRET) && !ran.stderr().contains(SECRET), "{}{}", ran.stdout(), ran.stderr());
    let found: Vec<PathBuf> = files(world.path()).into_iter().filter(|file| has_secret(file)).collect();
    assert_eq!(found, [world.path().join("secret.txt")]);
}

#[test]
fn a_question_only_reads_and_reaches_no_other_file() {
    let (world, secret) = measured();
    let before = files(world.path());
    let secret = secret.display();
    for sql in [
        format!("SELECT content FROM read_text('{secret}')"),
        format!("COPY (SELECT 1) TO '{secret}'"),
        "COPY runs TO 'out.csv'".into(),
        "ATTACH 'other.duckdb' AS other".into(),
        "DELETE FROM runs".into(),
        "SELECT 1; DROP TABLE runs".into(),
        "INSTALL httpfs".into(),
        "SET enable_external_access = true".into(),
        "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')".into(),
    ] {
        let ran = world.host(&["query", &sql]);
        ran.exits_with(1);
        assert_eq!(ran.stderr().trim_end().lines().count(), 1, "{sql}: {}", ran.stderr());
        keeps_the_secret(&world, &ran);
    }
    world.host(&["query", "DELETE FROM runs"]).tells("--unsafe").tells("read-only");
    assert_eq!(files(world.path()), before);
    world.host(&["query", "SELECT count(*) AS n FROM runs", "--format", "csv"]).exits_with(0).tells("n\n1\n");
}

#[test]
fn who_asks_for_the_whole_of_duckdb_gets_it_and_is_told() {
    let (world, secret) = measured();
    let sql = format!("SELECT content FROM read_text('{}')", secret.display());
    world.host(&["query", "--unsafe", &sql]).exits_with(0).tells(SECRET).tells("warning: --unsafe");
    changed(&world, "COPY (SELECT 7 AS n) TO 'out.csv'");
    assert_eq!(std::fs::read_to_string(world.path().join("out.csv")).unwrap(), "n\n7\n");
    changed(&world, "DELETE FROM benchmark_results");
    world.host(&["query", "SELECT count(*) AS n FROM benchmark_results", "--format", "csv"]).tells("n\n0\n");
}

#[test]
fn a_view_in_the_place_of_a_table_gets_into_no_page_and_no_file() {
    let (world, secret) = measured();
    changed(
        &world,
        &format!(
            "ALTER TABLE benchmark_results RENAME TO kept;
             CREATE VIEW benchmark_results AS SELECT * REPLACE ((SELECT content FROM read_text('{}')) AS model_id) FROM kept",
            secret.display()
        ),
    );
    for asked in [
        &["report", "--all", "--output", "page.html"][..],
        &["report", "--where", "true", "--output", "page.html"],
        &["db", "export", "--form", "csv"],
        &["db", "export", "--form", "parquet"],
        &["db", "export", "--form", "flat-csv"],
        &["db", "check"],
        &["query", "SELECT model_id FROM benchmark_results"],
        &["trend"],
        &["matrix"],
    ] {
        let ran = world.host(asked);
        assert_ne!(ran.code(), Some(0), "{asked:?}");
        ran.tells("views in their place");
        keeps_the_secret(&world, &ran);
    }
}

#[test]
fn a_view_of_another_file_is_told_and_shows_nothing() {
    let (world, secret) = measured();
    let view = format!("CREATE OR REPLACE VIEW latest_benchmarks AS SELECT * FROM read_text('{}')", secret.display());
    changed(&world, &view);
    let ran = world.host(&["query", "--report", "latest-benchmarks"]);
    ran.exits_with(1).tells("only read");
    keeps_the_secret(&world, &ran);
    keeps_the_secret(&world, world.host(&["report", "--all", "--output", "page.html"]).exits_with(0));
}

#[test]
fn a_condition_neither_ends_a_statement_nor_reads_a_file() {
    let (world, secret) = measured();
    let out = world.path().join("export");
    let reads = format!("(SELECT content FROM read_text('{}')) <> ''", secret.display());
    let ends = "true) TO 'stolen.csv' (FORMAT csv); COPY (SELECT 1";
    for condition in [&reads, ends, "true; DROP TABLE runs", "true) UNION ALL SELECT * FROM runs WHERE (true"] {
        for asked in [&["db", "export", "--form", "csv"][..], &["report", "--output", "page.html"], &["trend"]] {
            let ran = world.host(&[asked, &["--where", condition]].concat());
            assert_ne!(ran.code(), Some(0), "{asked:?} {condition}");
            keeps_the_secret(&world, &ran);
        }
    }
    assert!(!world.path().join("stolen.csv").exists() && !out.join("cells.csv").exists());
    world.host(&["db", "export", "--form", "csv", "--where", "plugin = 'rten' -- and no more"]).exits_with(0);
    assert!(out.join("cells.csv").is_file());
}

#[test]
fn a_run_whose_id_is_another_place_is_told_and_written_nowhere() {
    for id in ["../../x", "/x", "a/b"] {
        let (world, _) = measured();
        let inner = world.path().join("a/b/out");
        let tables = ["runs", "benchmark_runs", "benchmark_results", "raw_samples"];
        let sql: Vec<String> = tables.iter().map(|table| format!("UPDATE {table} SET run = '{id}'")).collect();
        changed(&world, &sql.join("; "));
        let before = files(world.path());
        for form in [
            "parquet",
            "csv",
            "suite-json",
            "flat-json",
            "flat-csv",
            "skillset-json",
            "bencher-json",
            "action-json",
            "openmetrics",
        ] {
            let ran = world.host(&["db", "export", "--form", form, "--output", inner.to_str().unwrap()]);
            ran.exits_with(1).tells("cannot be the id of a run");
        }
        assert_eq!(files(world.path()), before, "{id}");
    }
}

#[test]
fn a_database_is_a_file_whatever_its_name_begins_with() {
    let world = World::default();
    for name in ["sqlite:a.duckdb", ":memory:", "https://127.0.0.1:9/a.duckdb"] {
        world.host(&["db", "init", "--db", name]).exits_with(0);
        world.host(&["db", "check", "--db", name]).exits_with(0);
        assert!(world.path().join(name).is_file(), "{name}");
    }
}

/// A library that leaves a mark when it is loaded.
fn marking(world: &World) -> (PathBuf, PathBuf) {
    let mark = world.path().join("it-was-loaded");
    let source = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void mark(void) {{ FILE *f = fopen(\"{}\", \"w\"); if (f) fclose(f); }}\n",
        mark.display()
    );
    let (source, library) = (world.write("evil.c", source), world.path().join("libevil.so"));
    let done = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(done.is_ok_and(|status| status.success()), "a C compiler is needed");
    (library, mark)
}

/// A run of the backend that takes the option.
const ON_CPU: [&str; 8] = ["--plugin", "cpu", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];

#[test]
fn a_library_that_a_record_names_is_not_loaded_by_an_update() {
    let world = World::default();
    let (library, mark) = marking(&world);
    world.run(&ON_CPU).0.exits_with(0);
    let option = json!({"options": [{"plugin": "cpu", "key": "library", "value": library}]});
    changed(&world, &format!("UPDATE runs SET request = json_merge_patch(request, '{option}')"));
    let ran = world.host(&["update", "--older-than", "0", "--dry-run"]);
    ran.exits_with(0).tells("gone").tells("name it yourself: --option cpu:library=");
    world.host(&["update", "--older-than", "0"]).exits_with(0).tells("name it yourself");
    assert!(!mark.exists());
    let named = format!("cpu:library={}", library.display());
    let ran = world.host(&["update", "--older-than", "0", "--dry-run", "--option", &named, "--sandbox", "off"]);
    assert!(
        !ran.exits_with(0).stderr().contains("name it yourself") && mark.exists(),
        "who names it again may have it"
    );
    world.host(&["update", "--option", "cpu:library=/other.so"]).exits_with(2).tells("none of what was recorded");
}

#[test]
fn a_library_that_a_journal_names_is_not_loaded_by_going_on_with_it() {
    let world = World::default();
    let (library, mark) = marking(&world);
    let named = format!("cpu:library={}", library.display());
    world.run(&[&ON_CPU[..], &["--option", &named, "--sandbox", "off"]].concat());
    assert!(mark.exists(), "who types it means it");
    std::fs::remove_file(&mark).unwrap();
    let folder = world.run_folder();
    let run = folder.to_str().unwrap();
    world.host(&["run", "--resume", run]).exits_with(2).tells("name it yourself: --option cpu:library=");
    world.host(&["run", "--resume", run, "--option", "cpu:library=/other.so"]).exits_with(2).tells("--option");
    assert!(!mark.exists());
    let ran = world.host(&["run", "--resume", run, "--option", &named]);
    assert_ne!(ran.code(), Some(2), "{}", ran.stderr());
}

#[test]
#[cfg(target_os = "linux")]
fn without_memory_or_threads_there_is_an_error_and_nothing_is_lost() {
    let (world, _) = measured();
    std::fs::remove_file(world.path().join("results/benchmarks.duckdb")).unwrap();
    for limit in (170_000..260_000).step_by(5_000) {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &limit.to_string()]).arg(build_folder().join("host"));
        limited.args(["db", "import", "results"]).current_dir(world.path());
        let ran = Ran::of(limited);
        let told = ran.stderr();
        assert!(!told.contains("panicked") && !told.contains("damaged"), "at {limit} KiB: {told}");
        // What the library of the database aborts by itself has no exit code.
        let is_said = ran.code().is_none() || !told.trim().is_empty();
        assert!(ran.code() == Some(0) || is_said, "at {limit} KiB it ends without a word");
    }
    world.host(&["db", "import"]).exits_with(0);
    world.host(&["query", "SELECT count(*) AS n FROM benchmark_results", "--format", "csv"]).tells("n\n2\n");
    world.host(&["db", "check"]).exits_with(0);
}
