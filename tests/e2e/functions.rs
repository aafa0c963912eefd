//! Benchmarks that are plain functions, and suites.

use serde_json::Value;
use skillbench_tests::{Ran, World, build_folder, built_library, cells, workspace};
use std::process::Command;

#[test]
fn every_example_is_listed_run_and_told_in_the_flat_form() {
    let world = World::default();
    let ran = world.host(&["bench", "run", "--budget", "0.1", "--quiet", "--format", "json"]);
    let flat: Value = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    assert_eq!(flat["summary"]["total_benchmarks"], 3);
    assert_eq!(flat["summary"]["success_rate"], 1.0);
    for (name, result) in flat["results"].as_object().unwrap() {
        assert!(result["execution_time"].as_f64().unwrap() > 0.0, "{name}: {result}");
    }
    let csv = world.host(&["bench", "run", "--category", "unit", "--budget", "0.1", "--quiet", "--format", "csv"]);
    let csv = csv.exits_with(0).stdout();
    assert!(csv.starts_with("Model,Total Benchmarks,Successful Runs,Failed Runs,Success Rate,Timestamp\n"), "{csv}");
    assert_eq!(csv.lines().count(), 2);
}

#[test]
fn a_folder_by_category_is_found_and_what_is_no_plugin_is_told() {
    let world = World::default();
    std::fs::create_dir_all(world.path().join("own/unit")).unwrap();
    world.write("own/unit/libbroken.so", "no library");
    let name = built_library("skillbench_examples");
    let target = world.path().join("own/unit").join(name.file_name().unwrap());
    std::fs::copy(&name, target).unwrap();
    let ran = world.host(&["bench", "list", "--dir", "own"]);
    ran.exits_with(0).tells("run_hash_join").tells("libbroken");
}

#[test]
fn a_benchmark_that_measures_models_is_not_run_as_a_function_and_the_other_way_round() {
    let world = World::default();
    world.host(&["bench", "run", "inference"]).exits_with(2).tells("host run --bench inference");
    world
        .host(&["run", "--plugin", "rten", "--bench", "run_hash_join"])
        .exits_with(2)
        .tells("host bench run run_hash_join");
    world.host(&["bench", "run", "run_hash_joim"]).exits_with(2).tells("did you mean run_hash_join");
}

#[test]
fn a_suite_is_made_for_each_skill_of_a_folder_and_runs() {
    let world = World::default();
    let probe = std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    world.write("skills/mine.onnx", probe);
    let asked = ["suite", "generate", "--skillset-dir", "skills", "--output-dir", "suites"];
    world.host(&[&asked[..], &["--generate-only"]].concat()).exits_with(0).tells("1 suites");
    let suite: Value = serde_json::from_slice(&std::fs::read(world.path().join("suites/mine.json")).unwrap()).unwrap();
    assert_eq!(suite["batch_sizes"], serde_json::json!([1, 2, 4, 8]));
    let mut quick = suite.clone();
    (quick["batch_sizes"], quick["hardware_types"]) = (serde_json::json!([2]), serde_json::json!(["rten"]));
    world.write("suites/quick.json", quick.to_string());
    let ran = world.host(&["suite", "run", "suites/quick.json", "--format", "json", "--quiet"]);
    let document: Value = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    assert!(cells(&document).iter().all(|cell| cell["axes"]["batch"] == 2 && cell["outcome"] == "measured"));
}

#[test]
fn a_suite_with_a_slip_is_told_with_file_line_and_the_nearest_key() {
    let world = World::default();
    world.write("suite.json", "{\n  \"batch_sises\": [1]\n}\n");
    world.host(&["suite", "check", "suite.json"]).exits_with(2).tells("suite.json:2").tells("batch_sizes");
    world.host(&["suite", "init", "mine.toml"]).exits_with(0);
    world.host(&["suite", "check", "mine.toml"]).exits_with(0).tells("cells of bert-tiny, resnet-18");
    world.host(&["suite", "init", "mine.toml"]).exits_with(2).tells("is there already");
}

#[test]
fn a_profile_tells_where_the_time_went_and_leaves_a_trace() {
    let _ = build_folder();
    let world = World::default();
    let asked = ["--plugin", "rten,cpu,openvino", "--model", "bert-tiny", "--bench", "inference", "--batch-sizes", "1"];
    let (ran, document) = world.run(&[&asked[..], &["--sequence-lengths", "32", "--profile-detailed"]].concat());
    ran.exits_with(0);
    for (index, cell) in cells(&document).iter().enumerate() {
        let phases = &cell["phases"];
        let (total, other) = (phases["total_ms"].as_f64().unwrap(), phases["other_ms"].as_f64().unwrap());
        let parts: f64 = phases["parts"].as_array().unwrap().iter().map(|part| part["ms"].as_f64().unwrap()).sum();
        assert!((parts + other - total).abs() < 1e-3 * total && parts > 0.9 * total, "{phases:#}");
        let part = &cell["profile"]["parts"][0];
        let operators: Vec<&str> =
            part["by_type"].as_array().unwrap().iter().filter_map(|cost| cost["type"].as_str()).collect();
        let products = ["MatMul", "Gemm", "FullyConnected", "FusedMatMul"];
        assert!(operators.iter().any(|name| products.contains(name)), "{operators:?}");
        let trace = world.run_folder().join(format!("profiles/{index}.trace.json"));
        let trace: Value = serde_json::from_slice(&std::fs::read(trace).unwrap()).unwrap();
        assert!(trace["traceEvents"].as_array().unwrap().iter().any(|event| event["ph"] == "X"));
    }
}

/// Builds the plugin in C of the engine's tests, whose `run_steps` pauses for so many microseconds, in place of what there is of it.
pub fn pausing(world: &World, microseconds: u32) {
    let library = world.path().join("own/unit").join(format!("libin_c.{}", std::env::consts::DLL_EXTENSION));
    std::fs::create_dir_all(library.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&library);
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu99", "-fvisibility=hidden", "-fPIC", "-O1", "-shared"]);
    cc.arg(format!("-DPAUSE_US={microseconds}")).arg("-I").arg(workspace().join("plugin-api/include"));
    cc.arg("-o").arg(library).arg(workspace().join("host/engine/tests/functions/plugin.c"));
    assert!(cc.status().unwrap().success());
}

const STEPS: [&str; 7] = ["bench", "run", "run_steps", "--dir", "own", "--budget", "0.4"];

fn steps(world: &World, more: &[&str]) -> Ran {
    world.host(&[&STEPS[..], more].concat())
}

#[test]
fn functions_are_kept_and_asked_as_any_result() {
    let world = World::apart();
    pausing(&world, 1000);
    let asked = ["bench", "run", "run_steps", "run_failing", "--dir", "own", "--budget", "0.1"];
    world.host(&asked).exits_with(4).tells("1 of 2 measured");
    let folder = world.run_folder();
    for file in ["journal.ndjson", "run.json", "samples.parquet", "summary.csv", "success-rates.csv", "results.json"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let row = "SELECT family, benchmark, category, about, outcome, latency_median_ms > 1 AS slept FROM benchmark_results ORDER BY outcome";
    world
        .host(&["query", row, "--format", "csv"])
        .tells("function,run_failing,unit,bert-tiny,failed,\n")
        .tells("function,run_steps,unit,,measured,true\n");
    let rates = ["query", "--report", "success-rates", "--format", "csv"];
    world.host(&rates).exits_with(0).tells(",function,unit,2,1,0.5,");
    world.host(&["report", "latest"]).exits_with(0).tells("1 of 2 cells measured, 1 function").tells("run_steps");
    world.host(&["query", "SELECT count(*) AS n FROM model_architecture_coverage", "--format", "csv"]).tells("n\n0\n");
    // What runs models has nothing to do with them.
    world.host(&["update", "--older-than", "0", "--dry-run"]).exits_with(0).tells("0 measured cells");
    let run = folder.to_str().unwrap();
    world.host(&["run", "--resume", run]).exits_with(2).tells("host bench run run_steps run_failing");
    steps(&world, &["--limit", "run_steps:latency_ms.median<=0.001", "--alert-file", "alerts.ndjson"])
        .exits_with(1)
        .tells("is broken");
    let alert = std::fs::read_to_string(world.path().join("alerts.ndjson")).unwrap();
    let alert: Value = serde_json::from_str(alert.lines().next().unwrap()).unwrap();
    assert_eq!((&alert["kind"], &alert["cell"]["benchmark"]), (&"limit".into(), &"run_steps".into()));
}

#[test]
fn a_nightly_function_that_became_slower_alerts() {
    let world = World::apart();
    pausing(&world, 1000);
    steps(&world, &["--save-baseline", "nightly"]).exits_with(0).tells("is the baseline 'nightly'");
    let asked =
        ["schedule", "--functions", "--bench", "run_steps", "--name", "steps", "--frequency", "daily", "--cron"];
    let held =
        ["--baseline", "nightly", "--fail-on-regression", "60", "--alert-file", "alerts.ndjson", "--budget", "0.4"];
    let scheduled = world.host(&[&asked[..], &held, &["--quiet", "--", "--dir", "own"]].concat());
    let line = scheduled.exits_with(0).stdout();
    assert!(line.contains(" bench run run_steps ") && line.contains("--dir own"), "{line}");
    world.as_cron_runs(&line);
    assert!(!world.path().join("alerts.ndjson").exists(), "the same is no regression");
    pausing(&world, 5000);
    let slower = world.as_cron_runs(&line);
    let log = std::fs::read_to_string(world.path().join("skillbench-steps.log")).unwrap();
    assert_eq!(slower.code(), Some(1), "{log}");
    let alert = std::fs::read_to_string(world.path().join("alerts.ndjson")).unwrap();
    let alert: Value = serde_json::from_str(alert.lines().next().unwrap()).unwrap();
    let text = alert["message"].as_str().unwrap();
    assert!(text.starts_with("run_steps of in-c: latency_ms is slower than in nightly"), "{text}");
}

#[test]
fn since_when_a_function_is_slower_is_found() {
    let world = World::apart();
    for pause in [1000, 5000] {
        pausing(&world, pause);
        for _ in 0..9 {
            steps(&world, &["--iterations", "3", "--quiet"]).exits_with(0);
        }
    }
    let ran = world.host(&["trend", "--bench", "run_steps", "--fail-on-change"]);
    ran.exits_with(1).tells("run_steps").tells("slower").tells("plugin file");
}
