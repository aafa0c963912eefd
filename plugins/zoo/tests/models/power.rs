//! How much a check of outputs proves: how far they move where one input is another, or one layer.
//!
//! An output that nothing moves is right whatever a plugin does. `scripts/zoo-power` writes what is measured here beside the skills.

use super::model::{Axes, Part, Skill, Tensors, by_rule, is_free, variant};
use serde_json::{Value, json};
use skillbench_onnx::messages::{FLOAT, GRAPH_INITIALIZER, GRAPH_NODE, MODEL_GRAPH, Message, Node, Tensor};
use skillbench_onnx::messages_of;
use skillbench_plugin_api::HostTensor;
use skillbench_plugin_api::client::Instance;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// So many layers of each graph are changed, from the first to the last, at even distances.
const LAYERS: usize = 8;

/// The least that anything moves, and what moves so little.
struct Least {
    moves: f64,
    name: String,
}

fn least(all: impl Iterator<Item = Result<Least, String>>) -> Result<Option<Least>, String> {
    all.reduce(|one, other| {
        let (one, other) = (one?, other?);
        Ok(if other.moves < one.moves { other } else { one })
    })
    .transpose()
}

/// How far outputs move where one input alone has other contents: of the input that moves them least. `None`: no input has a choice.
pub fn of_inputs(
    skill: &Skill,
    parts: &BTreeMap<&str, Part<'_>>,
    axes: &Axes,
) -> Result<Option<(f64, String)>, String> {
    let of_part = |(name, part): (&&str, &Part<'_>)| {
        let first = part.run(axes, Tensors::new())?;
        let of_input = |rule: &Value| {
            let port = super::model::string(&rule["name"]);
            let other = part.run(axes, [(port.clone(), variant(rule, axes))].into())?;
            Ok(Least { moves: apart(&first, &other), name: port })
        };
        // What a rule leaves no choice for, or what has no elements here, cannot be another.
        let has_choice = |rule: &&Value| is_free(rule) && !by_rule(rule, axes).bytes().is_empty();
        least(skill.inputs(name).filter(has_choice).map(of_input))
    };
    let all = parts.iter().map(of_part).collect::<Result<Vec<_>, String>>()?;
    Ok(least(all.into_iter().flatten().map(Ok))?.map(|least| (least.moves, least.name)))
}

/// How far outputs move where all inputs that have a choice have other contents, in the part that is moved least. `None`: none has one.
pub fn of_all_inputs(skill: &Skill, parts: &BTreeMap<&str, Part<'_>>, axes: &Axes) -> Result<Option<f64>, String> {
    let of_part = |(name, part): (&&str, &Part<'_>)| {
        let others = skill.inputs(name).filter(|rule| is_free(rule));
        let others: Tensors = others.map(|rule| (super::model::string(&rule["name"]), variant(rule, axes))).collect();
        match others.is_empty() {
            true => Ok(None),
            false => Ok(Some(apart(&part.run(axes, Tensors::new())?, &part.run(axes, others)?))),
        }
    };
    let all = parts.iter().map(of_part).collect::<Result<Vec<_>, String>>()?;
    Ok(all.into_iter().flatten().reduce(f64::min))
}

/// How far outputs move where the weights of one layer alone are in another order: of the layer that moves them least.
pub fn of_layers(
    engine: &Instance,
    skill: &Skill,
    folder: &Path,
    axes: &Axes,
) -> Result<Option<(f64, String)>, String> {
    let mut found = vec![];
    for part in &skill.parts {
        let first = Part::load(engine, skill, part, folder)?.run(axes, Tensors::new())?;
        for layer in layers(folder, part)? {
            reverse(folder, &layer)?;
            let ran = Part::load(engine, skill, part, folder).and_then(|part| part.run(axes, Tensors::new()));
            reverse(folder, &layer)?;
            found.push(Ok(Least { moves: apart(&first, &ran?), name: layer.name }));
        }
    }
    Ok(least(found.into_iter())?.map(|least| (least.moves, least.name)))
}

/// The record of one skill in power.json.
pub fn record(engine: &Instance, skill: &Skill, folder: &Path) -> Result<Value, String> {
    let axes = skill.smallest();
    let mut parts = BTreeMap::new();
    for name in &skill.parts {
        parts.insert(name.as_str(), Part::load(engine, skill, name, folder)?);
    }
    let inputs = of_inputs(skill, &parts, &axes)?;
    drop(parts);
    let layers = of_layers(engine, skill, folder, &axes)?;
    let rounded = |moves: f64| format!("{moves:.1e}").parse::<f64>().unwrap_or(moves);
    let told =
        |least: Option<(f64, String)>| least.map(|(moves, name)| json!({"moves": rounded(moves), "least": name}));
    Ok(json!({"id": skill.id, "inputs": told(inputs), "layers": told(layers)}))
}

/// The weights of a layer in their file.
struct Layer {
    name: String,
    file: String,
    offset: u64,
    length: u64,
}

fn layers(folder: &Path, part: &str) -> Result<Vec<Layer>, String> {
    let file = if part.is_empty() { "model.onnx".into() } else { format!("{part}.onnx") };
    let bytes = std::fs::read(folder.join(file)).map_err(|error| error.to_string())?;
    let graphs = || messages_of(&bytes, MODEL_GRAPH);
    let nodes = graphs().flat_map(|graph| messages_of(graph, GRAPH_NODE)).filter_map(|node| Node::decode(node).ok());
    let is_layer = |node: &Node| ["Conv", "ConvTranspose", "MatMul", "Gemm"].contains(&node.op_type.as_str());
    let weights: BTreeSet<String> = nodes.filter(is_layer).flat_map(|node| node.input).collect();
    let tensors = graphs().flat_map(|graph| messages_of(graph, GRAPH_INITIALIZER));
    let layer = |bytes: &[u8]| {
        let of_layer = |tensor: &Tensor| tensor.dims.len() > 1 && weights.contains(&tensor.name);
        let tensor = Tensor::decode(bytes).ok().filter(|tensor| tensor.data_type == FLOAT && of_layer(tensor))?;
        let entry = |key: &str| tensor.external_data.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        let (offset, length) = (entry("offset")?.parse().ok()?, entry("length")?.parse().ok()?);
        Some(Layer { file: entry("location")?.clone(), offset, length, name: tensor.name.clone() })
    };
    let all: Vec<Layer> = tensors.filter_map(layer).collect();
    let step = all.len() as f64 / LAYERS as f64;
    let chosen: BTreeSet<usize> = (0..LAYERS).map(|index| (index as f64 * step) as usize).collect();
    Ok(all.into_iter().enumerate().filter(|(index, _)| chosen.contains(index)).map(|(_, layer)| layer).collect())
}

/// The elements in the opposite order: the same numbers, another layer.
fn reverse(folder: &Path, layer: &Layer) -> Result<(), String> {
    let told = |error: std::io::Error| error.to_string();
    let path = folder.join(&layer.file);
    let mut bytes = vec![0; layer.length as usize];
    let mut file = File::open(&path).map_err(told)?;
    file.seek(SeekFrom::Start(layer.offset)).and_then(|_| file.read_exact(&mut bytes)).map_err(told)?;
    let (elements, _) = bytes.as_chunks_mut::<4>();
    elements.reverse();
    let mut file = OpenOptions::new().write(true).open(&path).map_err(told)?;
    file.seek(SeekFrom::Start(layer.offset)).and_then(|_| file.write_all(&bytes)).map_err(told)
}

/// The largest difference of any element, over the largest magnitude of its output; 1 for whole numbers that differ, and other shapes.
fn apart(one: &Tensors, other: &Tensors) -> f64 {
    let of_output = |(name, one): (&String, &std::sync::Arc<HostTensor>)| {
        let Some(other) = other.get(name).filter(|other| other.shape() == one.shape()) else { return 1.0 };
        let (Some(a), Some(b)) = (one.as_slice::<f32>(), other.as_slice::<f32>()) else {
            return f64::from(u8::from(one.bytes() != other.bytes()));
        };
        let largest = a.iter().fold(0f32, |most, value| most.max(value.abs()));
        let differs = a.iter().zip(b).fold(0f32, |most, (a, b)| most.max((a - b).abs()));
        f64::from(differs) / f64::from(largest.max(1e-30))
    };
    one.iter().map(of_output).fold(0.0, f64::max)
}
