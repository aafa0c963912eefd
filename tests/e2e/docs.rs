//! What the documents say is true: their commands run, and lists in them are those of the host.

use skillbench_tests::{Ran, World, workspace};
use std::path::Path;
use std::process::Command;

#[test]
fn the_rules_in_the_docs_are_those_of_the_check() {
    let printed = World::default().host(&["plugin", "check", "--list", "--format", "markdown"]).stdout();
    let page = std::fs::read_to_string(workspace().join("docs/rules.md")).unwrap();
    assert!(
        page.contains(&printed),
        "docs/rules.md is out of date; its table is: host plugin check --list --format markdown\n{printed}"
    );
}

#[test]
fn the_slots_in_the_docs_are_those_of_the_contract() {
    let printed = World::default().host(&["plugin", "slots", "--format", "markdown"]).stdout();
    let page = std::fs::read_to_string(workspace().join("docs/contract.md")).unwrap();
    assert!(
        page.ends_with(&printed),
        "docs/contract.md is out of date; its table is: host plugin slots --format markdown\n{printed}"
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

/// The commands of a page: lines that begin with `$ host`, after variables where it sets some.
pub fn commands(page: &str) -> Vec<String> {
    let variable = |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let host = |line: &&str| line.split_whitespace().find(|word| !variable(word)) == Some("host");
    page.lines().filter_map(|line| line.strip_prefix("$ ")).filter(host).map(String::from).collect()
}

pub fn page(name: &str) -> String {
    std::fs::read_to_string(workspace().join(name)).unwrap()
}

/// Runs a page's commands one after the other, as a shell does that finds the host: each stands on what those before did.
pub fn every_command_runs(page: &str, world: &World) {
    let all = commands(page);
    assert!(!all.is_empty(), "the page has no command");
    for command in all {
        let ran = shell_in(world, &command);
        assert_eq!(ran.code(), Some(0), "$ {command}\n{}\n{}", ran.stdout(), ran.stderr());
    }
}

/// What a shell does that finds the host on its path, in a world's folder.
pub fn shell_in(world: &World, command: &str) -> Ran {
    let host = world.command(&[]);
    let folder = Path::new(host.get_program()).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(world.path()).env("PATH", &path);
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    Ran::of(shell)
}

#[test]
fn every_page_of_the_documents_has_a_chapter_on_the_site() {
    let world = World::default();
    let script = workspace().join("scripts/packaging/site.py");
    world.shell(&format!("python3 '{}' book", script.display())).exits_with(0);
    let summary = std::fs::read_to_string(world.path().join("book/src/SUMMARY.md")).unwrap();
    assert!(summary.contains("- [Glossary](docs/glossary.md)"), "{summary}");
}

#[test]
fn every_command_of_the_documents_runs() {
    for name in
        ["README.md", "docs/running.md", "docs/plugins.md", "docs/results.md", "docs/reports.md", "docs/prediction.md"]
    {
        every_command_runs(&page(name), &World::default());
    }
}

#[test]
fn every_command_of_the_page_about_machines_without_a_network_runs() {
    let world = World::default();
    every_command_runs(&page("docs/offline.md"), &world);
}

#[test]
fn every_command_of_the_page_about_schedules_runs() {
    let world = World::default();
    let suite =
        r#"{"batch_sizes": [1, 2], "hardware_types": ["rten"], "model_families": {"embedding": ["probe-mlp"]}}"#;
    world.write("nightly.json", suite);
    every_command_runs(&page("docs/schedules.md"), &world);
}

#[test]
fn the_shipped_registry_names_every_plugin_that_is_built() {
    let ran = World::default().host(&["plugin", "list", "--format", "json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    let found: Vec<&str> =
        rows.iter().filter(|row| row["status"] == "found").filter_map(|row| row["id"].as_str()).collect();
    let backends =
        ["rten", "cpu", "openvino", "cuda", "rocm", "mps", "qnn", "webgpu", "webnn", "vendor-ep", "endpoint"];
    assert_eq!(
        found,
        [&backends[..], &["zoo", "inference", "throughput", "serving", "generation", "roofline", "examples"]].concat()
    );
}
