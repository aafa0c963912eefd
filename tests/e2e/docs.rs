//! What the documents say is true: their commands run, and lists in them are those of the host.

use skillbench_tests::{World, workspace};

#[test]
fn the_rules_in_the_docs_are_those_of_the_check() {
    let printed = World::default().host(&["plugin", "check", "--list", "--format", "markdown"]).stdout();
    let page = std::fs::read_to_string(workspace().join("docs/rules.md")).unwrap();
    assert!(
        page.ends_with(&printed),
        "docs/rules.md is out of date; its table is: host plugin check --list --format markdown\n{printed}"
    );
}

#[test]
fn the_tables_in_the_docs_are_those_of_the_database() {
    let world = World::default();
    world.host(&["db", "init"]).exits_with(0);
    let printed = world.host(&["db", "describe", "--format", "markdown"]).stdout();
    let page = std::fs::read_to_string(workspace().join("docs/results.md")).unwrap();
    assert!(
        page.ends_with(&printed),
        "docs/results.md is out of date; its table is: host db describe --format markdown\n{printed}"
    );
}

/// The commands of a page: lines that begin with `$ host `.
fn commands(page: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("$ host ")).map(words).collect()
}

/// A command's arguments: words, and what stands between double quotes.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(place, part)| match place % 2 {
            0 => part.split_whitespace().map(String::from).collect(),
            _ => vec![part.to_string()],
        })
        .collect()
}

#[test]
fn every_command_of_the_documents_runs() {
    for page in ["README.md", "docs/running.md", "docs/plugins.md", "docs/results.md", "docs/reports.md"] {
        let all = commands(page);
        assert!(!all.is_empty(), "{page} has no command");
        // What a page does stands on what it did before.
        let world = World::default();
        for command in all {
            let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            world.host(&arguments).exits_with(0);
        }
    }
}

#[test]
fn the_shipped_registry_names_every_plugin_that_is_built() {
    let ran = World::default().host(&["plugin", "list", "--format", "json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    let found: Vec<&str> =
        rows.iter().filter(|row| row["status"] == "found").filter_map(|row| row["id"].as_str()).collect();
    let backends = ["rten", "cpu", "openvino", "cuda", "rocm", "mps", "qnn", "webgpu", "webnn", "vendor-ep"];
    assert_eq!(
        found,
        [&backends[..], &["zoo", "inference", "throughput", "generation", "roofline", "examples"]].concat()
    );
}
