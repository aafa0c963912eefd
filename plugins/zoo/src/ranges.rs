//! Between which numbers the values of a graph lie, and how far its outputs are from those in float32 where they are quantized to these:
//! `data/ranges.json`, measured by `scripts/zoo-ranges`.

use crate::integers::{Ranges, values};
use crate::spread::decoded;
use serde::Deserialize;
use skillbench_onnx::messages::*;
use skillbench_onnx::messages_of;
use skillbench_plugin_api::Result;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

/// What was measured of one skeleton.
#[derive(Debug, Deserialize)]
struct Measured {
    id: String,
    ranges: Ranges,
}

/// How far the outputs of a skill in int8 are from those in float32, in the scale of a comparison.
#[derive(Debug, Deserialize)]
struct Apart {
    id: String,
    error: f64,
}

#[derive(Debug, Deserialize)]
struct File {
    skeletons: Vec<Measured>,
    skills: Vec<Apart>,
}

fn file() -> &'static (BTreeMap<String, Ranges>, BTreeMap<String, f64>) {
    static FILE: LazyLock<(BTreeMap<String, Ranges>, BTreeMap<String, f64>)> = LazyLock::new(|| {
        let file: File =
            serde_json::from_str(include_str!("../data/ranges.json")).expect("the tests read the same ranges.json");
        let ranges = file.skeletons.into_iter().map(|one| (one.id, one.ranges)).collect();
        (ranges, file.skills.into_iter().map(|one| (one.id, one.error)).collect())
    });
    &FILE
}

/// Of a skeleton; `None`: nobody measured.
pub(crate) fn of(skeleton: &str) -> Option<&'static Ranges> {
    file().0.get(skeleton)
}

/// How far a skill in int8 is from the same in float32; `None`: nobody measured.
pub(crate) fn error(skill: &str) -> Option<f64> {
    file().1.get(skill).copied()
}

/// The skeletons of a skill, in the order of its parts.
pub fn skeletons(skill: &str) -> Vec<&'static str> {
    crate::skills::find(skill).map(|skill| skill.parts().iter().map(|part| part.skeleton).collect()).unwrap_or_default()
}

/// The values of a built graph whose ranges are to be measured.
///
/// # Errors
/// Bytes that are no model.
pub fn wanted(model: &[u8]) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for graph in messages_of(model, MODEL_GRAPH) {
        let nodes = decoded::<Node>(graph, GRAPH_NODE)?;
        let tensors = decoded::<Tensor>(graph, GRAPH_INITIALIZER)?;
        let generated = |tensor: &&Tensor| tensor.data_type == FLOAT && !tensor.external_data.is_empty();
        let weights = tensors.iter().filter(generated).map(|tensor| (tensor.name.as_str(), tensor.dims.as_slice()));
        found.extend(values(&nodes, &outputs(graph)?, weights));
    }
    Ok(found)
}

/// The names of the outputs of a model.
///
/// # Errors
/// Bytes that are no model.
pub fn outputs_of(model: &[u8]) -> Result<HashSet<String>> {
    messages_of(model, MODEL_GRAPH).map(outputs).try_fold(HashSet::new(), |all, found| Ok(&all | &found?))
}

/// The names of the outputs of a graph.
///
/// # Errors
/// Bytes that are no graph.
pub(crate) fn outputs(graph: &[u8]) -> Result<HashSet<String>> {
    Ok(decoded::<ValueInfo>(graph, GRAPH_OUTPUT)?.into_iter().map(|output| output.name).collect())
}
