//! What runs where: the files beside the database, the command, and the forms that other tools read.

use serde_json::{Value, json};
use skillbench_tests::World;

/// A model that takes no time, on a backend that is there and on one that is not.
const QUICK: [&str; 8] =
    ["--plugin", "rten,mps", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1,2"];

fn file(world: &World, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(world.path().join(name)).expect(name)).expect("JSON")
}

#[test]
fn a_stored_run_brings_the_matrix_beside_the_database_up_to_date() {
    let world = World::default();
    let (_, document) = world.run(&QUICK);
    let matrix = file(&world, "results/compatibility_matrix.json");
    let found = &matrix["model_families"]["probe"]["hardware_compatibility"];
    assert_eq!((&found["rten"]["status"], &found["mps"]["status"]), (&json!("measured"), &json!("unavailable")));
    assert_eq!(found["rten"]["benchmark_results"][0]["run"], document["run_id"]);
    assert!(found["mps"]["benchmark_results"][0]["mean_latency"].is_null());
    world.host(&["matrix"]).exits_with(0).tells("unknown, unavailable");
    let shown = world.host(&["matrix", "results/compatibility_matrix.json", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown.exits_with(0).stdout()).unwrap(), matrix);
    world.host(&["matrix", "--hardware", "qualcomm"]).exits_with(2).tells("no hardware 'qnn'");
}

#[test]
fn the_matrix_alone_is_brought_up_to_date_without_measuring() {
    let world = World::default();
    world.host(&["run", "--update-matrix-only"]).exits_with(2).tells("there is no database");
    world.run(&QUICK);
    let name = world.path().join("results/compatibility_matrix.md");
    std::fs::remove_file(&name).unwrap();
    world.host(&["run", "--update-matrix-only"]).exits_with(0);
    assert!(std::fs::read_to_string(&name).unwrap().contains("| probe-mlp (12.4 k) |"));
    world.run_folder();
}

#[test]
fn a_suite_can_leave_the_matrix_as_it_is() {
    let world = World::default();
    let suite = |update: bool| {
        json!({"hardware_types": ["rten"], "model_families": {"probe": ["probe-mlp"]}, "batch_sizes": [1],
            "update_compatibility_matrix": update})
    };
    let matrix = world.path().join("results/compatibility_matrix.json");
    world.write("no.json", suite(false).to_string());
    world.host(&["suite", "run", "no.json"]).exits_with(0);
    assert!(!matrix.exists());
    world.write("yes.json", suite(true).to_string());
    world.host(&["suite", "run", "yes.json"]).exits_with(0);
    assert!(matrix.exists());
}

#[test]
fn every_form_that_other_tools_read_is_exported_from_the_database() {
    let world = World::default();
    let (_, document) = world.run(&QUICK);
    let run = document["run_id"].as_str().unwrap();
    for (form, ending) in [
        ("suite-json", "suite.json"),
        ("flat-json", "flat.json"),
        ("flat-csv", "flat.csv"),
        ("skillset-json", "skillset.json"),
        ("bencher-json", "bencher.json"),
        ("action-json", "smaller.json"),
        ("action-json", "bigger.json"),
        ("openmetrics", "openmetrics.txt"),
    ] {
        let name = format!("{run}.{ending}");
        world.host(&["db", "export", "--form", form, "--output", "forms"]).exits_with(0).tells(&name);
        assert!(world.path().join("forms").join(name).is_file());
    }
    world.host(&["db", "export", "--form", "matrix-json", "--output", "forms"]).exits_with(0);
    assert!(world.path().join("forms/compatibility_matrix.json").is_file());
    let suite = file(&world, &format!("forms/{run}.suite.json"));
    let point = &suite["benchmarks"]["probe"]["probe-mlp"]["rten"]["benchmark_results"]["batch_2"];
    let latency = document["cells"][1]["metrics"]["latency_ms"]["mean"].as_f64().unwrap();
    assert_eq!((&point["status"], &point["avg_latency"]), (&json!("success"), &json!(latency / 1000.0)));
    assert_eq!(file(&world, &format!("forms/{run}.skillset.json"))["success"], false, "mps is not there");
}
