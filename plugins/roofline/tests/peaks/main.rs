//! The plugin as a host sees it, through its C tables, with real engines behind the target.

mod graphs;
mod measuring;
mod stand;

use skillbench_plugin_api::Code;
use stand::{build, built, skillset};

#[test]
fn the_skill_is_described_without_being_built() {
    let descriptions = skillset().descriptions();
    assert_eq!(descriptions.len(), 1);
    for key in ["\"id\":\"roofline-peaks\"", "\"axes\":{}", "\"content\":", "\"inputs\":"] {
        assert!(descriptions[0].contains(key), "no {key} in {}", descriptions[0]);
    }
}

#[test]
fn a_build_writes_a_graph_for_each_part_and_the_manifest() {
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(built().join("skill.json")).unwrap()).unwrap();
    let parts = manifest["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 4 * 5 + 3);
    for part in parts {
        let graph = built().join(part["graph"].as_str().unwrap());
        assert!(std::fs::metadata(&graph).unwrap().len() < 10_000, "{} holds weights", graph.display());
        let rules = manifest["inputs"].as_array().unwrap();
        assert_eq!(rules.iter().filter(|rule| rule["part"] == part["name"]).count(), 1);
    }
}

#[test]
fn an_unknown_skill_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(build("roofline-valleys", folder.path()).unwrap_err().code, Code::NotFound);
}
