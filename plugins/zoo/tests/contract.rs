//! The plugin as a host sees it: through the C table alone.

use skillbench_plugin_api::client::{Plugin, SkillsetRef};
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Options, Result, raw};
use skillbench_zoo as _;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

unsafe extern "C" {
    static skillbench_plugin: raw::sb_plugin;
}

fn zoo() -> SkillsetRef {
    // SAFETY: the table of the crate this test is linked with.
    let plugin = unsafe { Plugin::new(&raw const skillbench_plugin) }.unwrap();
    assert_eq!((plugin.id().as_str(), plugin.vendor().as_str()), ("zoo", "skillbench"));
    plugin.skillset().unwrap().unwrap()
}

#[derive(Default)]
struct Worker {
    stopping: bool,
    phases: Mutex<Vec<f64>>,
}

impl HostServices for Worker {
    fn log(&self, _level: i32, _target: &str, _message: &str) {}
    fn phase(&self, name: &str, fraction: f64) {
        assert_eq!(name, "build");
        self.phases.lock().unwrap().push(fraction);
    }
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        self.stopping
    }
}

fn build(worker: Worker, skill: &str, directory: &Path) -> (&'static Worker, Result<()>) {
    let worker: &'static Worker = Box::leak(Box::new(worker));
    let outcome = zoo().build(HostTable::leak(worker), skill, &Options::default(), directory);
    (worker, outcome)
}

fn files(directory: &Path) -> BTreeSet<String> {
    directory.read_dir().unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_skill_is_described_and_every_other_name_has_a_reason() {
    let descriptions = zoo().descriptions();
    let (names, skills): (Vec<&String>, Vec<&String>) =
        descriptions.iter().partition(|description| description.contains("\"unavailable\":"));
    assert!(skills.len() > 275 && !names.is_empty());
    for description in skills {
        for key in ["id", "aliases", "architecture", "category", "task", "axes", "inputs", "flops", "parts", "content"]
        {
            assert!(description.contains(&format!("\"{key}\":")), "no {key} in {description}");
        }
    }
}

#[test]
fn a_build_writes_graph_weights_and_manifest_and_tells_how_far_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let (worker, outcome) = build(Worker::default(), "bert-tiny", directory.path());
    outcome.unwrap();
    let expected = ["model.onnx", "model.onnx.data", "skill.json"].map(str::to_owned);
    assert_eq!(files(directory.path()), BTreeSet::from(expected));
    let weights = std::fs::metadata(directory.path().join("model.onnx.data")).unwrap().len();
    assert!((17_000_000..18_000_000).contains(&weights), "{weights} bytes for 4.4 million parameters");
    let phases = worker.phases.lock().unwrap();
    assert_eq!((phases.first(), phases.last()), (Some(&0.0), Some(&1.0)));
    assert!(phases.len() > 10, "{phases:?}");
}

#[test]
fn a_model_is_the_same_each_time() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for directory in [&one, &two] {
        build(Worker::default(), "mobilenet-v2", directory.path()).1.unwrap();
    }
    for file in files(one.path()) {
        let read = |directory: &Path| std::fs::read(directory.join(&file)).unwrap();
        assert!(read(one.path()) == read(two.path()), "{file} differs");
    }
}

#[test]
fn a_complete_graph_needs_no_file_of_weights() {
    let directory = tempfile::tempdir().unwrap();
    build(Worker::default(), "probe-mlp", directory.path()).1.unwrap();
    assert_eq!(files(directory.path()), BTreeSet::from(["model.onnx", "skill.json"].map(str::to_owned)));
}

#[test]
fn an_unknown_skill_is_not_found_and_the_known_ones_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let error = build(Worker::default(), "bert-huge", directory.path()).1.unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("bert-huge") && error.message.contains("bert-tiny"), "{error}");
}

#[test]
fn a_run_that_is_being_stopped_stops_the_build() {
    let directory = tempfile::tempdir().unwrap();
    let stopping = Worker { stopping: true, ..Worker::default() };
    assert_eq!(build(stopping, "bert-tiny", directory.path()).1.unwrap_err().code, Code::Cancelled);
    assert!(files(directory.path()).is_empty(), "nothing is left of it");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let nowhere = directory.path().join("nowhere");
    let error = build(Worker::default(), "bert-tiny", &nowhere).1.unwrap_err();
    assert!(error.message.contains(&*nowhere.join("model.onnx.data").to_string_lossy()), "{error}");
}

#[test]
fn a_model_of_several_graphs_has_weights_for_each() {
    let directory = tempfile::tempdir().unwrap();
    let (worker, outcome) = build(Worker::default(), "t5-efficient-tiny-generate", directory.path());
    outcome.unwrap();
    let expected =
        ["encoder.onnx", "encoder.onnx.data", "decoder.onnx", "decoder.onnx.data", "skill.json"].map(str::to_owned);
    assert_eq!(files(directory.path()), BTreeSet::from(expected));
    let phases = worker.phases.lock().unwrap();
    assert_eq!((phases.first(), phases.last()), (Some(&0.0), Some(&1.0)));
}
