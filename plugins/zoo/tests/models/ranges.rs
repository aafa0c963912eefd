//! Between which numbers the values of a graph lie, and how far the graph in int8 is from that in float32. `scripts/zoo-ranges` writes what
//! is measured here beside the skills, in two turns: the form int8 needs the ranges.

use super::model::{Axes, Part, Skill, Tensors, is_free, string, variant};
use serde_json::{Value, json};
use skillbench_onnx::fields::put;
use skillbench_onnx::messages::{FLOAT, GRAPH_OUTPUT, MODEL_GRAPH, Message, TensorType, Type, ValueInfo};
use skillbench_onnx::{Broken, edit};
use skillbench_plugin_api::HostTensor;
use skillbench_plugin_api::client::Instance;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A row's own magnitude counts, but at least this part of the output's: as where the host holds outputs against a reference.
const LEAST_SCALE: f32 = 0.1;

/// The record of one part of a skill: its values at two inputs, at the shortest lengths.
pub fn of_part(engine: &Instance, skill: &Skill, part: &str, folder: &Path) -> Result<Value, String> {
    let file = if part.is_empty() { "model.onnx".into() } else { format!("{part}.onnx") };
    let told = |error: &dyn std::fmt::Display| format!("{part}: {error}");
    let graph = std::fs::read(folder.join(&file)).map_err(|error| told(&error))?;
    let wanted = skillbench_zoo::ranges::wanted(&graph).map_err(|error| told(&error))?;
    let own = skillbench_zoo::ranges::outputs_of(&graph).map_err(|error| told(&error))?;
    let shown =
        with_outputs(&graph, wanted.iter().filter(|name| !own.contains(*name))).map_err(|error| told(&error))?;
    std::fs::write(folder.join(&file), shown).map_err(|error| told(&error))?;
    let ran = Part::load(engine, skill, part, folder).and_then(|loaded| {
        let axes = skill.smallest();
        Ok([loaded.run(&axes, Tensors::new())?, loaded.run(&axes, others(skill, part, &axes))?])
    });
    std::fs::write(folder.join(&file), graph).map_err(|error| told(&error))?;
    let mut ranges = BTreeMap::new();
    for (name, tensor) in ran?.iter().flatten().filter(|(name, _)| wanted.contains(*name)) {
        let Some(values) = tensor.as_slice::<f32>().filter(|values| !values.is_empty()) else { continue };
        let [least, most] = ranges.entry(name.clone()).or_insert([f32::INFINITY, f32::NEG_INFINITY]);
        (*least, *most) =
            values.iter().fold((*least, *most), |(least, most), value| (value.min(least), value.max(most)));
    }
    let finite = |range: &[f32; 2]| range.iter().all(|value| value.is_finite());
    let ranges: BTreeMap<String, [f64; 2]> =
        ranges.into_iter().filter(|(_, range)| finite(range)).map(|(name, range)| (name, range.map(rounded))).collect();
    Ok(json!({"ranges": ranges}))
}

/// Three digits are enough of a range.
fn rounded(value: f32) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(f64::from(value))
}

fn others(skill: &Skill, part: &str, axes: &Axes) -> Tensors {
    let free = skill.inputs(part).filter(|rule| is_free(rule));
    free.map(|rule| (string(&rule["name"]), variant(rule, axes))).collect()
}

/// A copy of a model that gives these values as well.
fn with_outputs<'a>(model: &[u8], names: impl Iterator<Item = &'a String>) -> Result<Vec<u8>, Broken> {
    let of = Type { tensor: Some(TensorType { element: FLOAT, shape: None }) };
    let port = |name: &String| ValueInfo { name: name.clone(), of: Some(of.clone()) }.encode_to_vec();
    let ports: Vec<Vec<u8>> = names.map(port).collect();
    edit(model, MODEL_GRAPH, |graph| {
        let mut graph = graph.to_vec();
        ports.iter().for_each(|port| put(&mut graph, GRAPH_OUTPUT, port));
        Ok::<_, Broken>(Some(vec![graph]))
    })
}

/// How far the outputs of a skill in int8 are from those in float32, of the part that is furthest.
pub fn error(engine: &Instance, skill: &Skill, float: &Path, int8: &Path) -> Result<f64, String> {
    let axes = skill.smallest();
    let mut most = 0.0_f64;
    for part in &skill.parts {
        for inputs in [Tensors::new(), others(skill, part, &axes)] {
            let exact = Part::load(engine, skill, part, float)?.run(&axes, inputs.clone())?;
            let found = Part::load(engine, skill, part, int8)?.run(&axes, inputs)?;
            for (name, exact) in &exact {
                most = most.max(found.get(name).map_or(1.0, |found| apart(exact, found)));
            }
        }
    }
    Ok(most)
}

/// The largest difference of any element, in the scale of a comparison; whole numbers that differ by a decision say nothing of rounding.
fn apart(one: &Arc<HostTensor>, other: &HostTensor) -> f64 {
    let (Some(a), Some(b)) = (one.as_slice::<f32>(), other.as_slice::<f32>()) else { return 0.0 };
    if a.len() != b.len() {
        return 1.0;
    }
    let largest = |values: &[f32]| values.iter().fold(0f32, |most, value| most.max(value.abs()));
    let (row, least) = (one.shape().last().copied().unwrap_or(1).max(1), LEAST_SCALE * largest(a));
    let of_row = |(a, b): (&[f32], &[f32])| {
        let differs = a.iter().zip(b).fold(0f32, |most, (a, b)| most.max((a - b).abs()));
        f64::from(differs / largest(a).max(least).max(1e-30))
    };
    a.chunks(row).zip(b.chunks(row)).map(of_row).fold(0.0, f64::max)
}
