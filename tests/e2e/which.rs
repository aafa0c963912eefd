//! Which results are meant: what is named, or an error; else the newest run with a measured cell.

use serde_json::Value;
use skillbench_tests::{Ran, World};
use std::sync::LazyLock;

const QUICK: [&str; 6] = ["--plugin", "rten", "--bench", "inference", "--batch-sizes", "1"];

/// Two places: `apart` with a run of probe-mlp and a database of its own, and `results` with a run of bert-tiny and a newer one in which
/// nothing was measured.
struct Places {
    world: World,
    apart: String,
    measured: String,
    unmeasured: String,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let world = World::default();
    let id = |code: i32, more: &[&str]| {
        let (ran, document) = world.run(&[&QUICK[..], more].concat());
        ran.exits_with(code);
        document["run_id"].as_str().unwrap().to_string()
    };
    let apart = id(0, &["--model", "probe-mlp", "--output-dir", "apart", "--db", "apart/all.duckdb"]);
    let measured = id(0, &["--model", "bert-tiny", "--sequence-lengths", "8"]);
    let unmeasured = id(4, &["--model", "bert-tiny", "--sequence-lengths", "8", "--timeout", "0.001"]);
    for database in ["none.duckdb", "results-none/benchmarks.duckdb"] {
        world.host(&["db", "init", "--db", database]).exits_with(0);
    }
    Places { world, apart, measured, unmeasured }
});

impl Places {
    fn host(&self, arguments: &[&str]) -> Ran {
        self.world.host(arguments)
    }

    /// The runs that a report is about.
    #[track_caller]
    fn reported(&self, arguments: &[&str]) -> Vec<String> {
        runs_of(&self.host(&[&["report", "--format", "csv"], arguments].concat()))
    }
}

/// The runs in a table of cells, each once.
#[track_caller]
fn runs_of(ran: &Ran) -> Vec<String> {
    let text = ran.exits_with(0).stdout();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a table has a head");
    let at = head.iter().position(|column| *column == "run").unwrap_or_else(|| panic!("no column of runs in {head:?}"));
    let mut runs: Vec<String> = lines.map(|row| row[at].to_string()).collect();
    runs.dedup();
    runs
}

#[test]
fn a_database_that_is_named_is_the_one_that_is_reported_and_drawn() {
    let places = &*PLACES;
    for flag in ["--db", "--db-path"] {
        assert_eq!(places.reported(&[flag, "apart/all.duckdb"]), std::slice::from_ref(&places.apart));
    }
    assert_eq!(
        places.reported(&["--db-path", "apart/all.duckdb", "--model-id", "probe-mlp"]),
        std::slice::from_ref(&places.apart)
    );
    assert_eq!(places.reported(&["--input-dir", "apart"]), std::slice::from_ref(&places.apart));
    let asked = ["plot", "--db-path", "apart/all.duckdb", "--output-dir", "drawn", "--image", "svg", "--format", "csv"];
    let files = places.host(&asked).exits_with(0).stdout();
    let drawn: String = files.lines().skip(1).map(|name| read(&places.world, name)).collect();
    assert!(drawn.contains("probe-mlp") && !drawn.contains("bert-tiny"), "{files}");
}

fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_run_without_a_measured_cell_is_reported_where_it_is_named_and_is_never_the_latest() {
    let places = &*PLACES;
    assert_eq!(places.reported(&[]), std::slice::from_ref(&places.measured));
    assert_eq!(places.reported(&["latest"]), std::slice::from_ref(&places.measured));
    assert_eq!(places.reported(&["--db", "results/benchmarks.duckdb"]), std::slice::from_ref(&places.measured));
    assert_eq!(places.reported(&[&places.unmeasured]), std::slice::from_ref(&places.unmeasured));
    assert_eq!(
        places.reported(&["--db", "results/benchmarks.duckdb", &places.unmeasured]),
        std::slice::from_ref(&places.unmeasured)
    );
    let both = places.reported(&["--all"]);
    assert!(both.contains(&places.measured) && both.contains(&places.unmeasured), "{both:?}");
    let alone = World::default();
    let (_, failed) = alone.run(&[&QUICK[..], &["--model", "probe-mlp", "--timeout", "0.001"]].concat());
    for place in [&["--db", "results/benchmarks.duckdb"][..], &["--results-dir", "results"], &[]] {
        let refused = alone.host(&[&["report"], place].concat());
        refused.exits_with(2).tells("has a measured cell").tells(failed["run_id"].as_str().unwrap());
    }
}

#[test]
fn what_is_named_and_not_there_is_an_error_in_every_command() {
    let places = &*PLACES;
    let commands: [&[&str]; 12] = [
        &["report"],
        &["report", "--all"],
        &["plot"],
        &["matrix"],
        &["query", "SELECT 1"],
        &["recommend", "--model", "probe-mlp"],
        &["predict", "--model", "probe-mlp"],
        &["trend"],
        &["compare", &places.apart, "latest"],
        &["baseline", "save", "night"],
        &["db", "check"],
        &["db", "export"],
    ];
    for command in commands {
        for flag in ["--db", "--db-path"] {
            let ran = places.host(&[command, &[flag, "nowhere.duckdb"]].concat());
            assert_eq!(ran.code(), Some(2), "{command:?}\n{}\n{}", ran.stdout(), ran.stderr());
            ran.tells("nowhere.duckdb: there is no database").tells("host db import");
        }
        let mut named = places.world.command(command);
        let ran = Ran(named.env("BENCHMARK_DB_PATH", "nowhere.duckdb").output().unwrap());
        ran.exits_with(2).tells("nowhere.duckdb");
    }
    assert!(!places.world.path().join("nowhere.duckdb").exists());
    places.host(&["report", "--results-dir", "nowhere"]).exits_with(2).tells("there is no run in nowhere yet");
    places.host(&["run", "--plot-only", "nowhere"]).exits_with(2).tells("nowhere");
    places.host(&["run", "--update-matrix-only", "nowhere"]).exits_with(2).tells("nowhere");
    let elsewhere = format!("results/{}", places.measured);
    places.host(&["report", &places.measured, "--db", "apart/all.duckdb"]).exits_with(2).tells(&elsewhere);
    let export = ["db", "export", "--db", "apart/all.duckdb", "--run", &places.apart, &places.measured];
    places.host(&export).exits_with(2).tells(&places.measured);
}

#[test]
fn an_empty_database_is_an_error_that_says_what_fills_it() {
    let places = &*PLACES;
    for command in
        [&["report"][..], &["report", "--all"], &["plot"], &["matrix"], &["compare", "latest", &places.apart]]
    {
        places.host(&[command, &["--db", "none.duckdb"]].concat()).exits_with(2).tells("none.duckdb").tells("host run");
    }
    for command in [&["recommend", "--model", "probe-mlp"][..], &["predict", "--model", "probe-mlp"], &["trend"]] {
        places.host(&[command, &["--db", "none.duckdb"]].concat()).exits_with(3).tells("host run");
    }
}

#[test]
fn two_places_for_one_run_are_refused_and_the_environment_gives_way_to_what_is_typed() {
    let places = &*PLACES;
    let both = ["--db", "apart/all.duckdb", "--results-dir", "results"];
    for command in [&["report"][..], &["plot"], &["trend"], &["query", "SELECT 1"], &["matrix"]] {
        places.host(&[command, &both].concat()).exits_with(2).tells("name one of them");
    }
    assert_eq!(places.reported(&[&both[..], &[&places.apart]].concat()), std::slice::from_ref(&places.apart));
    let with_variable = |arguments: &[&str]| {
        let mut command = places.world.command(&[&["report", "--format", "csv"], arguments].concat());
        runs_of(&Ran(command.env("BENCHMARK_DB_PATH", "apart/all.duckdb").output().unwrap()))
    };
    assert_eq!(with_variable(&[]), std::slice::from_ref(&places.apart));
    assert_eq!(with_variable(&["--results-dir", "results"]), std::slice::from_ref(&places.measured));
    assert_eq!(with_variable(&["--db", "results/benchmarks.duckdb"]), std::slice::from_ref(&places.measured));
    let folder = format!("results/{}", places.measured);
    assert_eq!(with_variable(&[&folder]), std::slice::from_ref(&places.measured));
    let told = places.host(&["report", &folder, "--db", "apart/all.duckdb"]);
    told.exits_with(0).tells("apart/all.duckdb is not looked at");
}

#[test]
fn drawings_and_the_matrix_are_of_the_folder_that_is_named() {
    let world = World::default();
    let made = |model: &str, folder: &str| {
        let asked = ["--model", model, "--sequence-lengths", "8", "--output-dir", folder];
        let (ran, document) = world.run(&[&QUICK[..], &asked].concat());
        ran.exits_with(0);
        document["run_id"].as_str().unwrap().to_string()
    };
    let (named, other) = (made("probe-mlp", "apart"), made("bert-tiny", "results"));
    let folder = format!("apart/{named}");
    for command in ["run", "suite"] {
        world.host(&[command, "--plot-only", &folder]).exits_with(0).tells(&format!("{folder}/plots"));
        assert!(world.path().join(&folder).join("plots").is_dir());
        assert!(!world.path().join("results").join(&other).join("plots").exists());
        std::fs::remove_dir_all(world.path().join(&folder).join("plots")).unwrap();
        for matrix in ["apart/compatibility_matrix.md", "apart/benchmarks.duckdb"] {
            std::fs::remove_file(world.path().join(matrix)).unwrap();
        }
        world.host(&[command, "--update-matrix-only", &folder]).exits_with(0).tells("apart/compatibility_matrix.md");
        let matrix = read(&world, "apart/compatibility_matrix.md");
        assert!(matrix.contains("probe-mlp") && !matrix.contains("bert-tiny"), "{matrix}");
    }
    let latest: Value = serde_json::from_str(
        &world.host(&["query", "SELECT run FROM runs", "--results-dir", "apart", "--format", "json"]).stdout(),
    )
    .unwrap();
    assert_eq!(latest[0]["run"], named.as_str());
}
