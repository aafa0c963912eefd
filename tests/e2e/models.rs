//! Models: which there are, how they are chosen, kept and judged.

use serde_json::Value;
use skillbench_tests::{World, cells, outcomes};
use std::collections::BTreeSet;

fn listed(arguments: &[&str]) -> Vec<Value> {
    let ran = World::default().host(&[&["models", "--quiet", "--format", "json"], arguments].concat());
    serde_json::from_str(&ran.exits_with(0).stdout()).unwrap()
}

fn column<'a>(models: &'a [Value], name: &str) -> BTreeSet<&'a str> {
    models.iter().filter_map(|model| model[name].as_str()).collect()
}

#[test]
fn every_category_and_architecture_is_among_at_least_275_models() {
    let models = listed(&[]);
    let real: Vec<Value> = models
        .into_iter()
        .filter(|model| !["probe", "roofline"].contains(&model["family"].as_str().unwrap()))
        .collect();
    assert!(real.len() >= 275, "{}", real.len());
    assert_eq!(column(&real, "category").len(), 10, "{:?}", column(&real, "category"));
    assert_eq!(column(&real, "architecture").len(), 11, "{:?}", column(&real, "architecture"));
    assert_eq!(column(&real, "family").len(), 5, "{:?}", column(&real, "family"));
}

#[test]
fn models_are_filtered_by_what_they_are_and_how_large() {
    let small = listed(&["--family", "vision", "--category", "video"]);
    assert!(!small.is_empty() && small.iter().all(|model| model["category"] == "video"));
    let sized = listed(&["--min-size", "100M", "--max-size", "0.2B"]);
    let within = |model: &Value| (100_000_000..=200_000_000).contains(&model["parameters"].as_u64().unwrap());
    assert!(!sized.is_empty() && sized.iter().all(within));
}

#[test]
fn a_name_is_found_with_any_dash_and_by_its_published_id() {
    for name in ["bert_tiny", "BERT-Tiny", "prajjwal1/bert-tiny"] {
        assert_eq!(column(&listed(&[name]), "id"), BTreeSet::from(["bert-tiny"]), "{name}");
    }
}

#[test]
fn a_model_that_a_cell_loaded_serves_the_next_and_is_told_as_no_load() {
    let asked =
        ["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "1", "--bench", "inference,throughput-inference"];
    let world = World::default();
    let (ran, document) = world.run(&asked);
    ran.exits_with(0).tells("resource pool: 1 of 2 models");
    let [first, second] = cells(&document).as_slice() else { panic!("{document}") };
    assert_eq!((&first["pool"]["model_hits"], &second["pool"]["model_hits"]), (&0.into(), &1.into()));
    assert!(first["metrics"]["init_ms"]["load"]["median"].as_f64().unwrap() > 0.0);
    assert_eq!(second["metrics"]["init_ms"]["load"], Value::Null, "what was there is not loaded");
    assert_eq!(second["metrics"]["memory_mb"]["before"], Value::Null, "and was there before the cell");

    let (_, document) = world.run(&[&asked[..], &["--no-resource-pool"]].concat());
    for cell in cells(&document) {
        assert_eq!(cell["pool"], Value::Null);
        assert!(cell["metrics"]["init_ms"]["load"]["median"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn an_engine_that_two_others_outvote_is_named_with_what_it_differs_by() {
    // rten's cubic resizing is not that of the others.
    let (ran, document) = World::default().run(&[
        "--plugin",
        "rten,cpu",
        "--model",
        "depth-anything-small",
        "--batch-sizes",
        "1",
        "--verify-only",
    ]);
    ran.exits_with(6);
    assert_eq!(outcomes(&document), ["wrong", "measured"]);
    let [rten, cpu] = cells(&document).as_slice() else { panic!("{document}") };
    let message = rten["reason"]["message"].as_str().unwrap();
    assert!(message.contains("cpu") && message.contains("openvino") && message.contains("agree within"), "{message}");
    let dissent = &cpu["verification"]["dissent"][0];
    assert!(dissent["reference"].as_str().unwrap().starts_with("rten"));
    assert!(dissent["max_relative_difference"].as_f64().unwrap() > 1e-3);
}

#[test]
fn a_kind_or_a_plugin_that_nobody_knows_is_refused_with_those_that_there_are() {
    let world = World::default();
    for (asked, hint) in [
        (["models", "--family", "visoin"], "did you mean vision?"),
        (["models", "--task", "zzzz"], "there are: "),
        (["run", "--plugin", "accelerator"], "there are: "),
    ] {
        let ran = world.host(&asked);
        assert_eq!(ran.code(), Some(2), "{asked:?}");
        assert!(ran.stderr().contains(hint), "{asked:?}: {}", ran.stderr());
    }
}

#[test]
fn an_image_size_that_the_graph_does_not_take_is_skipped_and_a_useless_flag_is_told() {
    let asked =
        ["--plugin", "rten", "--model", "deit-tiny", "--bench", "inference", "--batch-sizes", "1", "--verify-only"];
    let asked: Vec<&str> = asked.iter().filter(|word| !["--bench", "inference"].contains(word)).copied().collect();
    let (ran, document) =
        World::default().run(&[&asked[..], &["--image-sizes", "224,384x320", "--prompt-lengths", "8"]].concat());
    ran.exits_with(0).tells("--prompt-lengths changes nothing");
    assert_eq!(outcomes(&document), ["measured", "skipped"]);
    assert_eq!(cells(&document)[1]["reason"]["code"], "fixed-image-size");
}

#[test]
fn a_list_file_has_one_model_a_line() {
    let world = World::default();
    world.write("models.txt", "# two small ones\nprobe-mlp\n\nbert-tiny  # and this\n");
    let asked = [
        "--plugin",
        "rten",
        "--model-list",
        "models.txt",
        "--batch-sizes",
        "1",
        "--sequence-lengths",
        "8",
        "--verify-only",
    ];
    let (ran, document) = world.run(&asked);
    ran.exits_with(0);
    let models: Vec<&str> = cells(&document).iter().filter_map(|cell| cell["skill"].as_str()).collect();
    assert_eq!(models, ["probe-mlp", "bert-tiny"]);
}

#[test]
fn built_models_are_cleaned_away_and_built_again() {
    let world = World::default();
    let host = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("SKILLBENCH_CACHE", world.path().join("cache"));
        skillbench_tests::Ran::of(command)
    };
    let verify = [
        "run",
        "--plugin",
        "rten",
        "--model",
        "bert-tiny",
        "--batch-sizes",
        "1",
        "--sequence-lengths",
        "8",
        "--verify-only",
    ];
    host(&verify).exits_with(0);
    host(&["models", "clean"]).exits_with(0).tells("1 models given up");
    host(&["models", "clean"]).exits_with(0).tells("0 models given up");
    host(&verify).exits_with(0);
}
