//! One language for what is asked of a run: flags, suites and schedules say the same.

use serde_json::Value;
use skillbench_tests::{World, cells, workspace};

fn document(world: &World, arguments: &[&str]) -> Value {
    let ran = world.host(&[arguments, &["--format", "json", "--quiet"]].concat());
    serde_json::from_str(&ran.exits_with(0).stdout()).unwrap_or_else(|error| panic!("{error}\n{}", ran.stderr()))
}

const SUITE: &str = r#"
benchmarks = ["inference"]
hardware_types = ["rten"]
models = ["probe-mlp"]
batch_sizes = [2]
threads = 1
precision = "fp32"
budget = 0.02
seed = 7
"#;

#[test]
fn a_suite_says_all_that_flags_say_and_flags_count_in_its_place() {
    let world = World::default();
    world.write("nightly.toml", SUITE);
    let run = document(&world, &["suite", "run", "nightly.toml"]);
    let [cell] = cells(&run).as_slice() else { panic!("{run:#}") };
    assert_eq!(
        (&cell["benchmark"], &cell["axes"]["batch"], &cell["threads"]),
        (&"inference".into(), &2.into(), &1.into())
    );
    assert_eq!((&cell["precision_requested"], &run["seed"]), (&"float32".into(), &7.into()));
    let other = document(
        &world,
        &["suite", "run", "nightly.toml", "--type", "throughput", "--batch-sizes", "1", "--concurrent-workers", "2"],
    );
    let told = |cell: &Value| {
        (cell["benchmark"].as_str().unwrap().to_string(), cell["axes"]["batch"].as_i64(), cell["threads"].as_i64())
    };
    assert!(!cells(&other).is_empty());
    for (benchmark, batch, threads) in cells(&other).iter().map(told) {
        assert!(benchmark.starts_with("throughput") && batch == Some(1) && threads == Some(1), "{other:#}");
    }
}

#[test]
fn a_key_of_tomorrow_is_refused_with_the_nearest_of_today() {
    let world = World::default();
    world.write("tomorrow.toml", format!("{SUITE}prompt_length = [1]\n"));
    for command in ["run", "check"] {
        world
            .host(&["suite", command, "tomorrow.toml"])
            .exits_with(2)
            .tells("tomorrow.toml:10: key 'prompt_length'")
            .tells("did you mean prompt_lengths");
    }
}

#[test]
fn a_folder_of_several_models_is_a_list_of_them() {
    let world = World::default();
    let probe = std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    for name in ["models/one.onnx", "models/two.onnx", "models/other/model.onnx"] {
        world.write(name, &probe);
    }
    let asked = [
        "run",
        "--model",
        "models",
        "--plugin",
        "rten",
        "--bench",
        "inference",
        "--batch-sizes",
        "1",
        "--budget",
        "0.02",
    ];
    let run = document(&world, &asked);
    let mut names: Vec<&str> = cells(&run).iter().filter_map(|cell| cell["skill"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["model", "one", "two"]);
    assert!(cells(&run).iter().all(|cell| cell["outcome"] == "measured"), "{run:#}");
    // A library next to models is code, and is opened from a search path alone.
    world.write("models/libskills.so", "no library");
    world.host(&asked).exits_with(0).tells("host --search-path models");
}

#[test]
fn a_schedule_takes_what_a_run_takes() {
    let world = World::default();
    let scheduled =
        |arguments: &[&str]| world.host(&[&["schedule", "--frequency", "daily", "--cron"], arguments].concat());
    let line = scheduled(&[
        "--name",
        "tokens",
        "--bench",
        "generation",
        "--model",
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        "--new-tokens",
        "16,32",
    ]);
    line.exits_with(0)
        .tells(" run --model=TinyLlama/TinyLlama-1.1B-Chat-v1.0 --bench=generation --new-tokens=16 --new-tokens=32")
        .tells("skillbench-tokens");
    scheduled(&["--precision", "float32", "--db", "all.duckdb", "--incremental"])
        .exits_with(0)
        .tells(" run --precision=float32 --db=all.duckdb --incremental");
    scheduled(&["--alert-webhook", "https://x/secret"]).exits_with(2).tells("SKILLBENCH_ALERT_WEBHOOK");
    world.write("suite.json", r#"{"benchmarks": ["inference"], "schedule": {"enabled": true, "time": "03:30"}}"#);
    let line = scheduled(&["--threads", "2"]).exits_with(0).stdout();
    assert!(line.starts_with("30 3 * * *") && line.contains("suite run") && line.contains("--threads=2"), "{line}");
}

#[test]
fn what_is_stale_is_measured_again_in_the_way_that_is_asked_for() {
    let world = World::default();
    world.write("nightly.toml", SUITE);
    document(&world, &["suite", "run", "nightly.toml"]);
    let again = document(&world, &["update", "--older-than", "0", "--iterations", "3", "--no-verify"]);
    let [cell] = cells(&again).as_slice() else { panic!("{again:#}") };
    assert_eq!((&cell["outcome"], &cell["axes"]["batch"]), (&"measured".into(), &2.into()));
    let config = std::fs::read_dir(world.path().join("results"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path().join("config.json"));
    let asked: Vec<Value> = config.filter_map(|file| serde_json::from_slice(&std::fs::read(file).ok()?).ok()).collect();
    assert!(asked.iter().any(|request| request["iterations"] == 3 && request["no_verify"] == true), "{asked:#?}");
}
