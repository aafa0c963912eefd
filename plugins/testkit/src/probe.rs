//! The two-layer model that comes with the host, and its answer as float64 arithmetic has it.

use crate::{floats, taken};
use serde_json::Value;
use skillbench_plugin_api::Direction;
use skillbench_plugin_api::client::{Model, Request};
use std::path::{Path, PathBuf};

/// Numbers in a row of its input, and of its output.
pub const INPUT: usize = 64;
pub const OUTPUT: usize = 32;

pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/worker/data/probe.onnx")
}

/// Input and output for a batch of two.
pub fn expected() -> (Vec<f32>, Vec<f32>) {
    let text = std::fs::read_to_string(path().with_extension("json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let number = |value: &Value| value.as_f64().unwrap() as f32;
    let data = |port: &Value| port["data"].as_array().unwrap().iter().map(number).collect();
    (data(&file["inputs"]["x"]), data(&file["outputs"]["y"]))
}

/// A request with these rows bound as its input.
pub fn bound<'m>(model: &'m Model, x: &[f32]) -> Request<'m> {
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[x.len() / INPUT, INPUT], x)).unwrap();
    request
}

/// The answer to these rows, in a request of their own.
pub fn run(model: &Model, x: &[f32]) -> Vec<f32> {
    let mut request = bound(model, x);
    request.run().unwrap();
    taken(&mut request, 0)
}
