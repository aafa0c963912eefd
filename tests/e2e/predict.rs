//! What is told ahead of measuring, out of real runs: a ranking with its evidence, predictions where there is enough to stand on,
//! and "not enough data" where there is not.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World};

const QUICK: [&str; 6] = ["--plugin", "rten", "--bench", "inference", "--batch-sizes", "1,2"];

fn rows(ran: &Ran, code: i32) -> Vec<Value> {
    serde_json::from_str(&ran.exits_with(code).stdout()).expect("rows")
}

fn measured(models: &str) -> World {
    let world = World::default();
    world.run(&[&QUICK[..], &["--model", models, "--sequence-lengths", "8"]].concat()).0.exits_with(0);
    world
}

#[test]
fn two_models_are_not_enough_to_foretell_a_third_and_what_to_measure_is_told() {
    let world = measured("probe-mlp,bert-tiny");
    let asked = ["predict", "--model", "resnet-18", "--hardware", "rten", "--batch-size", "1"];
    let ran = world.host(&[&asked[..], &["--format", "json"]].concat());
    ran.tells("host run --plugin rten --bench inference --model ");
    for row in rows(&ran, 3) {
        assert!(row["predicted"].is_null() && row["measured"].is_null(), "{row}");
        assert!(row["why_not"].as_str().unwrap().contains("an interval needs 9"), "{row}");
    }
    world.host(&["predict", "--evaluate"]).exits_with(3).tells("too few models");
    let untold = ["predict", "--generate-matrix", "--model", "resnet-18"];
    world.host(&untold).exits_with(3);
    for file in ["untold.json", "untold.md"] {
        world.host(&[&untold[..], &["--output-file", file]].concat()).exits_with(3).tells("is not written");
        assert!(!world.path().join(file).exists(), "a file of gaps");
    }
}

#[test]
fn a_point_that_was_measured_is_told_as_it_was_measured() {
    let world = measured("bert-tiny");
    let told = rows(&world.host(&["predict", "--model", "bert-tiny", "--batch-size", "2", "--format", "json"]), 0);
    let latency = told.iter().find(|row| row["quantity"] == "latency").unwrap();
    let sql = "SELECT run, latency_median_ms AS ms FROM benchmark_results WHERE batch_size = 2";
    let stored = rows(&world.host(&["query", sql, "--format", "json"]), 0);
    assert_eq!((&latency["measured"], &latency["run"]), (&stored[0]["ms"], &stored[0]["run"]));
    assert_eq!((latency["axes"].as_str(), latency["trust"].as_str()), (Some("batch=2 sequence=8"), Some("hardware")));
}

#[test]
fn hardware_is_ranked_by_what_was_measured_and_a_limit_is_kept_or_broken() {
    let world = measured("bert-tiny");
    let asked = ["recommend", "--model", "bert-tiny", "--format", "json"];
    let told = rows(&world.host(&asked), 0);
    assert_eq!(told.len(), 2, "a row for each point: {told:?}");
    for row in &told {
        assert_eq!(
            (&row["rank"], row["evidence"].as_str(), row["hardware"].as_str()),
            (&json!(1), Some("measured"), Some("rten"))
        );
        assert!(row["run"].is_string() && row["date"].is_string() && row["figure"].as_f64() > Some(0.0), "{row}");
    }
    for (limit, code, within) in [("1000s", 0, "kept"), ("latency_ms<=0.000001", 1, "broken: latency_ms")] {
        let told = rows(&world.host(&[&asked[..], &["--within", limit]].concat()), code);
        assert!(told.iter().all(|row| row["within"].as_str().unwrap().starts_with(within)), "{told:?}");
    }
    let memory = rows(&world.host(&[&asked[..], &["--optimize", "memory", "--batch-size", "1"]].concat()), 0);
    assert_eq!((memory.len(), memory[0]["unit"].as_str()), (1, Some("MiB")));
    world.host(&[&asked[..], &["--within", "20"]].concat()).exits_with(2).tells("20ms");
}

#[test]
fn what_is_best_for_each_model_and_architecture_is_written_where_it_is_asked_for() {
    let world = measured("bert-tiny");
    world.host(&["recommend", "--optimal-hardware-analysis", "--output", "best.md"]).exits_with(0);
    let page = std::fs::read_to_string(world.path().join("best.md")).unwrap();
    for heading in ["each model", "each architecture", "What to change"] {
        assert!(page.contains(heading), "{page}");
    }
    assert!(page.contains("bert-tiny") && page.contains("encoder-only"), "{page}");
    let told = world.host(&["recommend", "--optimal-hardware-analysis", "--format", "json", "--quiet"]);
    let told: Value = serde_json::from_str(&told.exits_with(0).stdout()).unwrap();
    assert_eq!(told["per_model"][0]["best"], "rten");
}

/// Outputs that nobody checked rank nothing and teach nothing.
#[test]
fn what_is_unverified_has_no_rank() {
    let world = World::default();
    let asked = [&QUICK[..], &["--model", "probe-mlp", "--no-verify"]].concat();
    world.run(&asked).0.exits_with(0);
    let told = rows(&world.host(&["recommend", "--model", "probe-mlp", "--format", "json"]), 3);
    assert!(told.iter().all(|row| row["rank"].is_null() && row["evidence"] == "unverified"), "{told:?}");
    world
        .host(&["recommend", "--model", "probe-mlp"])
        .exits_with(3)
        .tells("not ranked, being emulated, unverified or remote: rten");
    world.host(&["predict", "--model", "bert-tiny"]).exits_with(3).tells("unverified");
}

#[test]
fn slips_are_told_with_what_was_meant() {
    let world = measured("probe-mlp");
    world.host(&["predict", "--model", "bert-tinny"]).exits_with(2).tells("did you mean bert");
    world.host(&["predict", "--model", "bert-tiny", "--hardware", "rtem"]).exits_with(2).tells("did you mean rten");
    world.host(&["recommend", "--model", "bert-tinny"]).exits_with(2).tells("did you mean bert");
    world.host(&["predict", "--model", "bert-tiny", "--batch-size", "0"]).exits_with(2).tells("--batch-size");
    world.host(&["predict", "--model", "bert-tiny", "--machine", "mars"]).exits_with(2).tells("no machine 'mars'");
    world.host(&["predict"]).exits_with(2).tells("--model");
    let never = world.host(&["predict", "--model", "bert-tiny", "--hardware", "cuda"]);
    never.exits_with(3).tells("nothing is measured on it").tells("host run --plugin cuda");
}

#[test]
fn without_results_there_is_nothing_to_tell_and_what_to_run_is_told() {
    let world = World::default();
    for command in ["predict", "recommend"] {
        world.host(&[command, "--model", "bert-tiny"]).exits_with(2).tells("host run");
    }
    world.host(&["db", "init"]).exits_with(0);
    for command in ["predict", "recommend"] {
        world.host(&[command, "--model", "bert-tiny"]).exits_with(3).tells("not enough data").tells("host run");
    }
    world.host(&["predict", "--generate-matrix"]).exits_with(3).tells("not enough data");
}

#[test]
fn the_work_of_a_model_of_ones_own_is_counted_so_that_only_measurements_are_missing() {
    let world = measured("probe-mlp");
    world.write("mine.onnx", std::fs::read(skillbench_tests::workspace().join("host/worker/data/probe.onnx")).unwrap());
    let told = rows(&world.host(&["predict", "--model", "mine.onnx", "--format", "json"]), 3);
    assert!(told.iter().all(|row| row["why_not"].as_str().unwrap().contains("an interval needs 9")), "{told:?}");
}

/// Four machines of other speeds, out of what is shipped.
fn other_machines() -> String {
    let shipped =
        std::fs::read_to_string(skillbench_tests::workspace().join("host/predict/data/measured.csv")).unwrap();
    let mut lines = shipped.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let mut text = columns.join(",") + "\n";
    for (machine, speed) in [("slow", 0.5), ("middle", 1.0), ("fast", 2.0), ("faster", 4.0)] {
        for row in rows.iter().filter(|row| row[at("plugin")] == "rten" && row[at("quantity")] == "latency") {
            let mut row: Vec<String> = row.iter().map(|value| value.to_string()).collect();
            row[at("machine")] = machine.into();
            for (name, times) in [("peak_flops_per_s", speed), ("peak_bytes_per_s", speed), ("value", 1.0 / speed)] {
                row[at(name)] = (row[at(name)].parse::<f64>().unwrap() * times).to_string();
            }
            text += &(row.join(",") + "\n");
        }
    }
    text
}

#[test]
fn hardware_of_which_the_peaks_alone_are_measured_is_predicted_from_other_machines_and_says_so() {
    let world = World::apart();
    world.write("machines.csv", other_machines());
    let told = |code: i32| {
        let asked = ["predict", "--model", "bert-tiny", "--sequence-length", "64", "--hardware", "rten"];
        let told = rows(&world.host(&[&asked[..], &["--from", "machines.csv", "--format", "json"]].concat()), code);
        told.into_iter().find(|row| row["quantity"] == "latency").unwrap()
    };
    assert_eq!(world.run(&["--plugin", "rten", "--bench", "inference", "--model", "probe-mlp"]).0.code(), Some(0));
    let without_peaks = told(3);
    assert!(without_peaks["why_not"].as_str().unwrap().contains("host run --bench roofline"), "{without_peaks}");
    assert_eq!(world.run(&["--plugin", "rten", "--bench", "roofline"]).0.code(), Some(0));
    let with_peaks = told(0);
    assert_eq!(
        (&with_peaks["stands_on"], &with_peaks["level"]),
        (&"other machines".into(), &0.8.into()),
        "{with_peaks}"
    );
    assert!(with_peaks["low"].as_f64() < with_peaks["predicted"].as_f64(), "{with_peaks}");
}

#[test]
fn a_file_of_other_machines_that_is_none_is_refused() {
    let world = measured("probe-mlp");
    world.write("machines.csv", "a,b\n1,2\n");
    let ran = world.host(&["predict", "--model", "bert-tiny", "--from", "machines.csv"]);
    assert!(ran.code() == Some(2) && ran.stderr().contains("host predict --training"), "{}", ran.stderr());
}

/// A history with a known law, imported as runs are: 2 ms, and a millisecond for each hundred million operations.
fn history(world: &World) {
    let (_, mut document) = world.run(&[&QUICK[..], &["--model", "bert-tiny", "--sequence-lengths", "128"]].concat());
    let listed = world.host(&["models", "--family", "embedding", "--max-size", "100M", "--format", "json", "--quiet"]);
    let skills: Vec<Value> = rows(&listed, 0);
    let counted = |skill: &&Value| skill["gflops_at"] == "batch=1 sequence=32" && skill["id"] != "all-minilm-l6";
    let cell = skillbench_tests::cells(&document)[0].clone();
    let mut cells = vec![];
    for skill in skills.iter().filter(counted) {
        for batch in [1, 2, 4] {
            let mut cell = cell.clone();
            let ms = 2.0 + 10.0 * batch as f64 * skill["gflops"].as_f64().unwrap();
            cell["index"] = json!(cells.len());
            cell["skill"] = skill["id"].clone();
            cell["batch_size"] = json!(batch);
            cell["sequence_length"] = json!(32);
            cell["axes"] = json!({"batch": batch, "sequence": 32});
            for figure in ["min", "mean", "median", "max"] {
                cell["metrics"]["latency_ms"][figure] = json!(ms);
            }
            cell["metrics"]["latency_ms"]["ci95"] = json!([0.99 * ms, 1.01 * ms]);
            cell["metrics"]["throughput_per_s"] = json!(1e3 * batch as f64 / ms);
            cells.push(cell);
        }
    }
    assert!(cells.len() >= 3 * 12, "{}", cells.len());
    document["cells"] = json!(cells);
    document["run_id"] = json!("20260101-000000-00001");
    world.write("known/run.json", document.to_string());
    world.host(&["db", "import", "known"]).exits_with(0);
}

#[test]
fn with_enough_models_a_new_one_is_foretold_with_its_interval_drawn_and_put_into_a_matrix() {
    let world = World::default();
    history(&world);
    let asked = ["predict", "--hardware", "rten", "--batch-size", "1,2,4", "--sequence-length", "32"];
    let ran =
        world.host(&[&asked[..], &["--model", "all-minilm-l6", "--format", "json", "--plot", "curve.svg"]].concat());
    let told = rows(&ran, 0);
    let latencies: Vec<&Value> = told.iter().filter(|row| row["quantity"] == "latency").collect();
    assert_eq!(latencies.len(), 3);
    for row in latencies {
        assert!(row["measured"].is_null(), "{row}");
        let of = |name: &str| row[name].as_f64().unwrap();
        assert!(of("low") < of("predicted") && of("predicted") < of("high") && of("models") >= 9.0, "{row}");
    }
    let drawn = std::fs::read_to_string(world.path().join("curve.svg")).unwrap();
    assert!(drawn.contains("data-state=\"predicted\"") && !drawn.contains("data-state=\"measured\""));
    for (file, told) in [
        ("m.md", "predicted "),
        ("m.csv", ",latency,ms,"),
        ("m.json", "\"predicted\": "),
        ("m.html", "<!doctype html>"),
    ] {
        let ran = world.host(&["predict", "--generate-matrix", "--sequence-length", "32", "--output-file", file]);
        ran.exits_with(0);
        let text = std::fs::read_to_string(world.path().join(file)).unwrap();
        assert!(text.contains(told), "{file}: {text}");
    }
    let evaluated = rows(&world.host(&["predict", "--evaluate", "--format", "json", "--quiet"]), 0);
    let latency = evaluated.iter().find(|row| row["quantity"] == "latency").unwrap();
    assert!(latency["median_error_percent"].as_f64() < Some(20.0), "{latency}");
    world.host(&[&asked[..], &["--model", "vit-base"]].concat()).exits_with(3).tells("no model of the family vision");
}
