//! What those type who come from other tools: docs/coming-from.md runs, and its flags do what they say.

use crate::docs::{commands, every_command_runs, page};
use serde_json::Value;
use skillbench_tests::{World, cells, workspace};
use std::collections::BTreeSet;

const PAGE: &str = "docs/coming-from.md";

/// A world with the files that the page writes out, and the model that it speaks of.
fn world(page: &str) -> World {
    let world = World::default();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("```json ") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            world.write(name, text.join("\n"));
        }
    }
    world.write("skills/mine.onnx", std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap());
    world
}

/// What stands in backticks and is a flag or a variable.
fn names(text: &str) -> BTreeSet<&str> {
    let variable = |name: &str| name.contains('_') && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    text.split('`').skip(1).step_by(2).filter(|name| name.starts_with("--") || variable(name)).collect()
}

#[test]
fn every_command_for_those_coming_from_other_tools_runs() {
    let page = page(PAGE);
    every_command_runs(&page, &world(&page));
}

#[test]
fn every_flag_that_those_coming_from_other_tools_typed_is_in_an_example_or_told_as_not_taken_over() {
    let page = page(PAGE);
    let typed: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .flat_map(|(typed, _)| names(typed))
        .collect();
    assert!(typed.len() > 60, "the table has lost its flags: {typed:?}");
    let commands = commands(&page);
    let mut shown: BTreeSet<&str> =
        commands.iter().flat_map(|line| line.split_whitespace()).map(|word| word.split('=').next().unwrap()).collect();
    shown.extend(page.split_once("## Not taken over").map(|(_, told)| names(told)).unwrap());
    let lost: Vec<&&str> = typed.difference(&shown).collect();
    assert!(lost.is_empty(), "no example has {lost:?}");
}

#[test]
fn what_is_named_beside_a_suite_counts_in_place_of_what_it_says() {
    let world = world(&page(PAGE));
    let asked = ["--models", "probe-mlp", "--hardware", "rten", "--format", "json", "--quiet"];
    world.host(&["suite", "check", "suite.json"]).exits_with(0).tells("bert-tiny");
    for way in [&["suite", "run", "suite.json"][..], &["suite", "--config", "suite.json"]] {
        let ran = world.host(&[way, &asked[..]].concat());
        let document: Value = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
        assert!(!cells(&document).is_empty());
        assert!(cells(&document).iter().all(|cell| cell["skill"] == "probe-mlp" && cell["axes"]["batch"] == 1));
    }
    world
        .host(&["suite", "--config", "suite.json", "--check", "--models", "probe-mlpp"])
        .exits_with(2)
        .tells("probe-mlp");
    world.host(&["suite", "--create-config", "suite.json"]).exits_with(2).tells("is there already");
    world.host(&["suite", "--create-config", "--plots"]).exits_with(2).tells("cannot be used with");
}

#[test]
fn suites_lie_where_the_benchmark_folder_is_named() {
    let world = world(&page(PAGE));
    let asked = ["suite", "generate", "--skillset-dir", "skills", "--output-dir", "results", "--generate-only"];
    world.host(&[&asked[..], &["--benchmark-dir", "suites"]].concat()).exits_with(0);
    assert!(world.path().join("suites/mine.json").is_file());
    assert!(!world.path().join("results").exists());
}

#[test]
fn a_report_by_name_is_the_view_of_that_name_and_an_unknown_one_is_told_with_the_nearest() {
    let world = World::default();
    world.host(&["db", "init"]).exits_with(0);
    for name in ["comprehensive-benchmarks", "comprehensive_benchmarks"] {
        let header = world.host(&["query", "--report", name, "--format", "csv"]).exits_with(0).stdout();
        assert!(header.starts_with("benchmark_id,architecture_id,hardware_id,batch_size,throughput,"), "{header}");
    }
    let by_architecture = world.host(&["query", "--architecture-performance-comparison", "--format", "csv"]);
    assert!(by_architecture.exits_with(0).stdout().starts_with("hostname,architecture_type,device,"));
    world.host(&["query", "--report", "comprehensive"]).exits_with(2).tells("did you mean comprehensive-benchmarks");
    world.host(&["query", "--report", "runs; SELECT 1"]).exits_with(2).tells("no table or view");
}

#[test]
fn a_short_name_of_a_precision_is_the_precision() {
    let world = World::default();
    let asked = ["--device", "rten", "--model-id", "probe-mlp", "--verify-only", "--batch-sizes", "1"];
    let (_, document) = world.run(&[&asked[..], &["--precision", "fp32"]].concat());
    assert_eq!(document["cells"][0]["precision_requested"], "float32", "{}", document["cells"][0]);
    world.host(&["run", "--precision", "fp64"]).exits_with(2).tells("float16");
}
