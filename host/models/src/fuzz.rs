//! Models that somebody brings: the graph, and every text that may lie beside it.

use crate::user_models::{custom, local};
use crate::{Manifest, SkillDescription};
use skillbench_onnx::messages::{FLOAT, Message, Node, Size, ValueInfo};
use skillbench_onnx::{Graph, Model};
use std::path::Path;

fn graph() -> Vec<u8> {
    let size = |name: &str| vec![Size::Named(name.into()), Size::Fixed(4)];
    let graph = Graph {
        node: vec![Node::new("Relu", &["x"], "y")],
        input: vec![ValueInfo::of_tensor("x", FLOAT, size("batch"))],
        output: vec![ValueInfo::of_tensor("y", FLOAT, size("batch"))],
        ..Graph::default()
    };
    Model::new("fuzz", 17, graph).encode_to_vec()
}

/// A folder whose file of this name has whatever bytes, and how it is read.
fn with_file(target: &str, name: &str, read: impl Fn(&Path) -> bool) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("model.onnx"), graph()).expect("it can be written");
    skillbench_fuzz::fuzz(target, |bytes| {
        std::fs::write(folder.path().join(name), bytes).expect("it can be written");
        read(folder.path())
    });
}

/// Opens the model of a folder, and reads what was made of it.
fn opens(path: &Path) -> bool {
    let Ok(user_model) = local::open(path) else { return false };
    match user_model.description() {
        Ok(description) => {
            use_description(&description);
            true
        }
        Err(_) => false,
    }
}

fn use_description(description: &SkillDescription) {
    let axes = description.axes.iter().map(|(name, [least, _])| (name.clone(), *least));
    let point: skillbench_record::Axes = axes.collect();
    for rule in &description.inputs {
        rule.dims.iter().for_each(|dim| drop(crate::evaluate(dim, &point)));
    }
    std::hint::black_box((description.flops(&point), description.activation_bytes(&point, "float16")));
}

#[test]
fn model() {
    with_file("model", "model.onnx", |folder| opens(&folder.join("model.onnx")));
}

#[test]
fn sidecar() {
    with_file("sidecar", "model.skill.json", |folder| opens(&folder.join("model.onnx")));
}

#[test]
fn hub_config() {
    with_file("hub-config", "config.json", |folder| opens(&folder.join("model.onnx")));
}

#[test]
fn model_list() {
    with_file("model-list", "list", |folder| {
        let (json, lines) = (custom::read_json(&folder.join("list")), custom::read_lines(&folder.join("list")));
        json.is_ok() || lines.is_ok()
    });
}

#[test]
fn skill_json() {
    skillbench_fuzz::fuzz("skill-json", |bytes| {
        let Ok(manifest) = Manifest::parse(&String::from_utf8_lossy(bytes)) else { return false };
        use_description(&manifest.description);
        let written = serde_json::to_string(&manifest).expect("what was read can be written");
        let read = Manifest::parse(&written);
        assert!(read.is_ok(), "what was written can be read: {}", read.err().unwrap_or_default());
        true
    });
}
