//! Measuring: what a run prints, and what it leaves.

use serde_json::Value;
use skillbench_tests::{World, cells, outcomes, workspace};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_cell_waits_for_a_quiet_machine_as_long_as_it_is_told_and_says_so() {
    // Two cores of other work: no machine here is quiet.
    struct Ended(Arc<AtomicBool>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }
    let others = Ended(Arc::new(AtomicBool::new(true)));
    for _ in 0..2 {
        let goes_on = others.0.clone();
        std::thread::spawn(move || while goes_on.load(Ordering::Relaxed) {});
    }
    let asked = ["run", "--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];
    let more = ["--wait-quiet", "0.5", "--budget", "0.5", "--format", "json"];
    let ran = World::default().host(&[&asked[..], &more].concat());
    drop(others);
    let document: Value = serde_json::from_str(&ran.stdout()).expect("a document");
    ran.exits_with(0);
    assert!(ran.stderr().contains("did not become quiet in 0.5 s"), "{}", ran.stderr());
    let seen = &cells(&document)[0]["conditions"];
    assert!(seen["other_cores"].as_f64().is_some_and(|cores| cores > 0.3), "{seen:#}");
    assert!(seen["other_cores_of_the_other"].as_f64().is_some_and(|cores| cores > 0.2), "measured again: {seen:#}");
    assert!(ran.stderr().contains("it is measured again"), "{}", ran.stderr());
}

#[test]
fn every_cell_that_was_asked_for_is_measured_and_kept() {
    let world = World::default();
    let (ran, document) =
        world.run(&["--plugin", "rten", "--model", "bert-tiny", "--batch-sizes", "1,4", "--sequence-lengths", "32"]);
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"; 6]);

    let folder = world.run_folder();
    let journal = std::fs::read_to_string(folder.join("journal.ndjson")).unwrap();
    assert_eq!(journal.lines().count(), 7, "a head and a line for each cell");
    let summary = std::fs::read_to_string(folder.join("summary.csv")).unwrap();
    assert_eq!(summary.lines().count(), 7);
    let parquet = std::fs::read(folder.join("samples.parquet")).unwrap();
    assert_eq!((&parquet[..4], &parquet[parquet.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    let kept: Value = serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(kept, document, "run.json is what was printed");
}

#[test]
fn a_run_of_which_every_cell_is_skipped_has_measured_nothing_and_says_so() {
    let asked = ["--plugin", "rten", "--bench", "inference", "--model", "bert-tiny", "--sequence-lengths", "100000"];
    let (ran, document) = World::default().run(&asked);
    assert!(cells(&document).iter().all(|cell| cell["outcome"] == "skipped"), "{document}");
    assert_eq!(ran.code(), Some(4));
}

#[test]
fn the_document_is_valid_against_its_schema_and_alone_on_stdout() {
    let schema = std::fs::read_to_string(workspace().join("docs/run.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let world = World::default();
    let (_, document) =
        world.run(&["--plugin", "rten", "--model", "bert-tiny", "--batch-sizes", "1,4096", "--sequence-lengths", "16"]);
    assert!(outcomes(&document).contains(&"measured") && outcomes(&document).contains(&"skipped"));
    let errors: Vec<String> = validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");

    let mut invented = document.clone();
    invented["cells"][0]["outcome"] = "failed".into();
    assert!(!validator.is_valid(&invented), "a failed cell with figures is not valid");
}

#[test]
fn figures_are_consistent_with_each_other() {
    let (_, document) =
        World::default().run(&["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "8", "--bench", "both"]);
    let inference = &cells(&document)[0]["metrics"];
    let stats = &inference["latency_ms"];
    let figure = |name: &str| stats[name].as_f64().unwrap();
    assert!(figure("min") <= figure("median") && figure("median") <= figure("max"));
    let per_second = inference["throughput_per_s"].as_f64().unwrap();
    assert!(
        (per_second - 8.0 / (figure("mean") * 1e-3)).abs() < 1e-6 * per_second,
        "throughput is batch over mean time"
    );
    for part in ["import", "instantiate", "load", "first_inference"] {
        assert!(inference["init_ms"][part]["median"].as_f64().unwrap() > 0.0, "{part}");
    }
    assert_eq!(inference["energy_j_per_item"], Value::Null, "no sensor, no figure");
    assert_eq!(inference["init_ms"]["compile_warm"], Value::Null, "no cache, no warm compile");
    for cell in cells(&document).iter().filter(|cell| cell["benchmark"] != "inference") {
        let metrics = &cell["metrics"];
        assert!(metrics["sequential_per_s"].as_f64().unwrap() > 0.0);
        let figure = |name: &str| metrics[name].as_f64().unwrap();
        let quotient = figure("concurrent_per_s") / figure("sequential_per_s");
        assert!(
            (figure("speedup_over_sequential") / quotient - 1.0).abs() < 1e-9,
            "the quotient of the reported rates"
        );
        assert_eq!(metrics["concurrent_workers"], 4);
    }
}

#[test]
fn onnx_runtime_and_the_reference_agree_on_real_models() {
    let world = World::default();
    let (ran, document) = world.run(&[
        "--plugin",
        "cpu",
        "--model",
        "bert-tiny,resnet-18",
        "--bench",
        "inference",
        "--batch-sizes",
        "1,4",
        "--sequence-lengths",
        "32",
    ]);
    ran.exits_with(0);
    for cell in cells(&document) {
        assert_eq!(cell["verification"]["status"], "passed", "{cell:#}");
        assert_eq!(cell["verification"]["reference"], "rten 0.1.0");
        assert_eq!(cell["verification"]["same_engine"], false);
        assert!(cell["placement"]["engine"].as_str().unwrap().starts_with("ONNX Runtime"), "{cell:#}");
        assert_eq!(cell["placement"]["precision"], "float32");
    }
    let environment = &document["environment"];
    for (what, name) in [("plugin_sha256", "cpu"), ("runtime_sha256", "cpu"), ("models", "bert-tiny")] {
        assert_eq!(environment[what][name].as_str().map(str::len), Some(64), "{what} of {name}: {environment:#}");
    }
}

#[test]
fn a_models_own_file_is_a_model_too() {
    let world = World::default();
    let probe = std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    world.write("mine.onnx", probe);
    let (ran, document) =
        world.run(&["--plugin", "rten,cpu", "--model", "mine.onnx", "--bench", "inference", "--batch-sizes", "1,4"]);
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"; 4]);
    assert_eq!(cells(&document)[1]["axes"]["batch"], 4);
}

#[test]
fn a_batch_that_would_not_reach_a_fixed_graph_is_skipped_with_that_reason() {
    let world = World::default();
    let probe = std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    // The dynamic first dimension is called "batch"; under another name, `--batch-sizes` does not reach it, and --dim does.
    let at = |bytes: &[u8]| bytes.windows(5).position(|window| window == b"batch");
    let mut renamed = probe;
    while let Some(at) = at(&renamed) {
        renamed[at..at + 5].copy_from_slice(b"lines");
    }
    world.write("lines.onnx", renamed);
    let one = ["--plugin", "rten", "--model", "lines.onnx", "--bench", "inference", "--dim", "lines=3"];
    let (ran, document) = world.run(&[&one[..], &["--batch-sizes", "1,4"]].concat());
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured", "skipped"]);
    assert_eq!(cells(&document)[1]["reason"]["code"], "fixed-batch");
}

#[test]
fn a_truncated_model_fails_its_cells_and_nothing_else() {
    let world = World::default();
    let probe = std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    world.write("cut.onnx", &probe[..probe.len() / 2]);
    let (ran, document) =
        world.run(&["--plugin", "rten", "--model", "cut.onnx,probe-mlp", "--bench", "inference", "--batch-sizes", "1"]);
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["failed", "measured"]);
    assert_eq!(cells(&document)[0]["metrics"], Value::Null);
}

#[test]
fn cells_that_a_rule_forbids_are_skipped_with_that_rule() {
    let (ran, document) = World::default().run(&[
        "--plugin",
        "rten",
        "--model",
        "gpt2",
        "--bench",
        "inference",
        "--batch-sizes",
        "64",
        "--sequence-lengths",
        "512,2048",
    ]);
    ran.exits_with(4);
    let codes: Vec<&Value> = cells(&document).iter().map(|cell| &cell["reason"]["code"]).collect();
    assert_eq!(codes, ["token-limit", "out-of-range"]);
}

#[test]
fn a_precision_that_cannot_be_had_gives_way_and_says_so_unless_nothing_may() {
    let asked = ["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];
    let asked = [&asked[..], &["--precision", "int8"]].concat();
    let world = World::default();
    let (ran, document) = world.run(&[&asked[..], &["--no-fix"]].concat());
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["unsupported"]);
    let (ran, document) = world.run(&asked);
    ran.exits_with(0);
    let cell = &cells(&document)[0];
    assert_eq!((&cell["fixes"][0]["what"], &cell["fixes"][0]["from"]), (&"precision".into(), &"int8".into()));
    assert_eq!(cell["placement"]["precision"], "float32", "what ran is read back");
    assert_eq!(cell["precision_requested"], "int8");
}

#[test]
fn checking_only_measures_no_round_and_measuring_only_says_so() {
    let world = World::default();
    let one = ["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "1"];
    let (_, checked) = world.run(&[&one[..], &["--verify-only"]].concat());
    assert_eq!(cells(&checked)[0]["verification"]["status"], "passed");
    let reference = cells(&checked)[0]["verification"]["reference"].as_str().unwrap();
    assert!(reference.starts_with("cpu "), "the reference itself is held against another engine: {reference}");
    assert_eq!(cells(&checked)[0]["metrics"]["latency_ms"], Value::Null);
    let (_, unchecked) = world.run(&[&one[..], &["--no-verify"]].concat());
    assert_eq!(cells(&unchecked)[0]["verification"]["status"], "off");
    assert!(cells(&unchecked)[0]["metrics"]["latency_ms"]["median"].as_f64().unwrap() > 0.0);
}

#[test]
fn every_form_of_the_table_has_a_row_for_each_cell() {
    let world = World::default();
    let run = [
        "run",
        "--quiet",
        "--plugin",
        "rten",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--batch-sizes",
        "1,2",
        "--budget",
        "0.1",
    ];
    // In the table a heading, a rule and the model's name stand above the cells; elsewhere a heading, and what its form needs.
    for (format, lines) in [("table", 5), ("csv", 3), ("markdown", 4)] {
        let ran = world.host(&[&run[..], &["--format", format]].concat());
        ran.exits_with(0);
        assert_eq!(ran.stdout().lines().count(), lines, "{format}:\n{}", ran.stdout());
    }
}

#[test]
fn peaks_are_kept_with_the_device_and_later_cells_are_held_against_them() {
    let world = World::default();
    let data = world.path().join("data");
    let run = |arguments: &[&str]| {
        let mut command = world.command(&["run", "--plugin", "rten", "--format", "json", "--budget", "0.1"]);
        let output = command.args(arguments).env("SKILLBENCH_DATA", &data).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        cells(&document)[0]["metrics"].clone()
    };
    let model = ["--model", "bert-tiny", "--bench", "inference", "--batch-sizes", "1", "--sequence-lengths", "32"];
    let before = run(&model);
    assert!(before["efficiency"]["flops_per_s"].as_f64().unwrap() > 0.0);
    assert!(before["efficiency"]["share_of_peak_flops"].is_null(), "nobody has measured the peaks yet");

    let peaks = run(&["--bench", "roofline"]);
    let peak = |of: &str| peaks["series"][format!("peak.{of}")]["stats"]["max"].as_f64().unwrap();
    assert!(peak("float32") > 1e9 && peak("bandwidth") > 1e8, "{:#}", peaks["series"]);

    let after = run(&model)["efficiency"].clone();
    let share = after["share_of_peak_flops"].as_f64().unwrap();
    let expected = after["flops_per_s"].as_f64().unwrap() / peak("float32");
    assert!((share / expected - 1.0).abs() < 1e-6 && share > 0.0, "{after:#}");
}

#[test]
fn a_reference_that_was_damaged_is_made_again() {
    let world = World::default();
    let cache = world.path().join("cache");
    let run = || {
        let arguments = ["run", "--plugin", "rten", "--model", "probe-mlp", "--verify-only", "--batch-sizes", "1"];
        world.command(&arguments).env("SKILLBENCH_CACHE", &cache).output().unwrap().status.code()
    };
    assert_eq!(run(), Some(0));
    let references = || std::fs::read_dir(cache.join("references")).unwrap().flatten().map(|entry| entry.path());
    for file in references().collect::<Vec<_>>() {
        std::fs::write(&file, "").unwrap();
        assert_eq!(run(), Some(0), "{} was empty", file.display());
    }
    let outputs = references().find(|path| path.extension().is_some_and(|extension| extension == "bin")).unwrap();
    std::fs::remove_file(outputs).unwrap();
    assert_eq!(run(), Some(0), "the outputs were gone");
}
