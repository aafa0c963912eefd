//! Plugins behind the `abi_stable` door alone: measured like any other, and refused where they do not fit.

use serde_json::Value;
use skillbench_tests::{World, built_library, cells, outcomes, workspace};
use std::process::Command;

fn installed(library: &str) -> World {
    let world = World::default();
    let path = built_library(library);
    world.write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"behind\"\nlibrary = {path:?}\n"));
    world
}

#[test]
fn a_plugin_without_the_c_symbol_is_measured() {
    let bytes = std::fs::read(built_library("stable_example")).unwrap();
    let symbol = b"skillbench_plugin\0";
    assert!(!bytes.windows(symbol.len()).any(|window| window == symbol), "it has no second door");

    let world = installed("stable_example");
    world.host(&["plugin", "info", "behind"]).exits_with(0).tells("abi_stable root module");
    world.host(&["plugin", "list"]).exits_with(0).tells("abi_stable").tells("C table");
    let models = ["--model", "stable-mlp,probe-mlp", "--batch-sizes", "1,4"];
    let (ran, document) =
        world.run(&[&["--plugin", "behind", "--bench", "inference,throughput"], &models[..]].concat());
    ran.exits_with(0);
    assert!(outcomes(&document).iter().all(|outcome| *outcome == "measured"), "{document:#}");
    for cell in cells(&document) {
        assert_eq!(cell["verification"]["status"], "passed");
        let figure = match cell["benchmark"].as_str() {
            Some("inference") => &cell["metrics"]["latency_ms"]["median"],
            _ => &cell["metrics"]["concurrent_per_s"],
        };
        assert!(figure.as_f64().is_some_and(|figure| figure > 0.0), "{cell:#}");
    }

    let (ran, document) =
        world.run(&["--plugin", "rten", "--model", "stable-mlp", "--bench", "stable-latency", "--batch-sizes", "2"]);
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"], "its benchmark measures another backend: {document:#}");
}

#[test]
fn a_function_behind_the_door_is_a_benchmark() {
    let world = installed("stable_example");
    world.host(&["bench", "list"]).exits_with(0).tells("run_sum");
}

#[test]
fn both_doors_are_held_to_the_same_rules() {
    let library = built_library("stable_example");
    let world = World::default();
    let checked = world.host(&["plugin", "check", library.to_str().unwrap(), "--format", "json"]);
    checked.exits_with(0);
    let rules: Value = serde_json::from_str(&checked.stdout()).unwrap();
    let broken: Vec<&Value> =
        rules.as_array().unwrap().iter().filter(|rule| rule["verdict"].as_str() == Some("broken")).collect();
    assert!(broken.is_empty() && rules.as_array().unwrap().len() > 20, "{rules:#}");
}

#[test]
fn a_root_of_another_version_is_refused_with_both() {
    let world = World::default();
    let library = built_library("later_root_fixture");
    world.write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"later\"\nlibrary = {library:?}\n"));
    world.host(&["why", "later"]).exits_with(5).tells("of version 2.0.0, this host takes 1.0.0");
}

/// The foreign crates that a crate of this workspace brings to whoever builds on it.
fn foreign(package: &str) -> Vec<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--offline", "--locked", "-e", "normal", "--prefix", "none", "--format", "{p}", "-p", package]);
    let output = tree.current_dir(workspace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ours = |line: &&str| line.contains(&*workspace().to_string_lossy());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !ours(line));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_sdk_brings_no_foreign_crate_and_the_door_is_what_does() {
    assert_eq!(foreign("skillbench-plugin-api"), Vec::<String>::new());
    assert!(foreign("skillbench-plugin-stable").iter().any(|line| line.starts_with("abi_stable ")));
}
