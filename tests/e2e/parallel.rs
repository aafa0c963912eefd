//! `--parallel`: backends that share neither device nor cores run side by side, and the results say so.

use serde_json::Value;
use skillbench_engine::cores;
use skillbench_tests::{World, cells, outcomes, workspace};

const BOTH: [&str; 10] = [
    "--plugin",
    "rten,cpu",
    "--model",
    "bert-tiny",
    "--bench",
    "inference",
    "--batch-sizes",
    "1,2",
    "--sequence-lengths",
    "32",
];

/// Whether there are cores for two.
fn lanes() -> bool {
    cores::usable().is_some_and(|cores| cores.len() > 1)
}

fn with(more: &[&'static str]) -> Vec<&'static str> {
    BOTH.iter().chain(more).copied().collect()
}

#[test]
fn two_engines_with_a_thread_each_run_side_by_side_and_each_cell_names_its_cores_and_the_other() {
    if !lanes() {
        return;
    }
    let world = World::default();
    let (ran, document) = world.run(&with(&["--threads", "1", "--parallel"]));
    ran.exits_with(0).tells("side by side: rten on core").tells("memory bandwidth, caches and turbo are still shared");
    assert_eq!(outcomes(&document), ["measured"; 4]);
    let of = |plugin: &str| cells(&document).iter().filter(|cell| cell["plugin"] == plugin).collect::<Vec<&Value>>();
    let (rten, cpu) = (of("rten"), of("cpu"));
    let lane = |cells: &[&Value]| (cells[0]["parallel"]["lane"].clone(), cells[0]["parallel"]["cores"].clone());
    for (own, other) in [(&rten, "cpu"), (&cpu, "rten")] {
        assert!(own.iter().all(|cell| cell["threads"] == 1 && cell["verification"]["status"] == "passed"));
        assert_eq!(lane(own), lane(&own[1..]), "a backend stays in its lane");
        let beside: Vec<&Value> = own.iter().flat_map(|cell| cell["parallel"]["beside"].as_array().unwrap()).collect();
        assert!(!beside.is_empty() && beside.iter().all(|name| **name == other), "{beside:?}");
    }
    let cores = |cells: &[&Value]| lane(cells).1.as_array().unwrap().clone();
    assert!(cores(&rten).iter().all(|core| !cores(&cpu).contains(core)), "{:?} {:?}", lane(&rten), lane(&cpu));

    let schema = std::fs::read_to_string(workspace().join("docs/run.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    assert_eq!(validator.iter_errors(&document).map(|error| error.to_string()).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn engines_that_use_every_core_run_one_after_the_other_and_the_way_out_is_told() {
    if !lanes() {
        return;
    }
    let (ran, document) = World::default().run(&with(&["--parallel"]));
    ran.exits_with(0).tells("nothing runs side by side: rten and cpu would use all").tells("--threads");
    assert!(cells(&document).iter().all(|cell| cell.get("parallel").is_none()));
}

#[test]
fn a_benchmark_of_many_requests_at_once_runs_alone() {
    if !lanes() {
        return;
    }
    let arguments =
        ["--plugin", "rten,cpu", "--model", "probe-mlp", "--bench", "both", "--batch-sizes", "1", "--threads", "1"];
    let (ran, document) = World::default().run(&[&arguments[..], &["--parallel"]].concat());
    ran.exits_with(0).tells("runs alone, after the others: it measures what the whole machine does");
    let beside = |cell: &&Value| cell.get("parallel").is_some();
    for cell in cells(&document).iter().filter(|cell| cell["benchmark"] != "inference") {
        assert!(!beside(&cell), "{cell}");
    }
    assert_eq!(cells(&document).iter().filter(|cell| cell["benchmark"] == "inference").filter(beside).count(), 2);
}

#[test]
fn a_suite_may_ask_for_it() {
    if !lanes() {
        return;
    }
    let world = World::default();
    let suite = r#"{"hardware_types": ["rten", "cpu"], "parallel": true, "batch_sizes": [1], "sequence_lengths": [32],
        "benchmark_iterations": 20, "model_families": {"embedding": ["bert-tiny"]}}"#;
    let file = world.write("suite.json", suite);
    world.host(&["suite", "run", file.to_str().unwrap()]).exits_with(0).tells("nothing runs side by side");
}

#[test]
fn a_run_that_is_gone_on_with_is_as_it_was_asked_for() {
    World::default().host(&["run", "--resume", "it", "--parallel"]).exits_with(2).tells("--parallel");
}
