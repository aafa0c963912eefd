//! A skeleton's way to a graph whose weights lie in a file beside it.
//!
//! Only the initializers to generate are decoded and written anew. Every other field of the protobuf is copied as it
//! stands, so that nothing is lost, not even what a later version of ONNX adds.

use crate::rule::{Element, Rule};
use crate::skills::renamed;
use crate::spread;
use crate::weights::Weights;
use skillbench_onnx::messages::*;
use skillbench_onnx::{Broken, edit};
use skillbench_plugin_api::{Error, Result};
use std::collections::BTreeMap;

/// A graph that is ready to be written, and the weights to write beside it.
pub struct Refilled {
    pub graph: Vec<u8>,
    pub weights: Weights,
}

/// The runnable graph of a skeleton. It finds its weights in `file`, and its axes have the names that `axes` gives them.
pub fn refill(skeleton: &[u8], file: &str, axes: Option<&BTreeMap<String, String>>) -> Result<Refilled> {
    let mut weights = Weights::default();
    let graph = replace(skeleton, MODEL_GRAPH, &mut |graph| {
        let layers = spread::deviations(graph)?;
        let mut graph =
            replace(graph, GRAPH_INITIALIZER, &mut |tensor| initializer(tensor, file, &layers, &mut weights))?;
        if let Some(axes) = axes.filter(|axes| !axes.is_empty()) {
            for ports in [GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE_INFO] {
                graph = replace(&graph, ports, &mut |port| rename(port, axes))?;
            }
        }
        Ok(Some(graph))
    })?;
    Ok(Refilled { graph, weights })
}

/// A port, or an inner value, whose dimensions go by other names.
fn rename(port: &[u8], axes: &BTreeMap<String, String>) -> Result<Option<Vec<u8>>> {
    const OF: u64 = 2;
    const TENSOR: u64 = 1;
    const SHAPE: u64 = 2;
    const DIM: u64 = 1;
    const NAMED: u64 = 2;
    let mut renamed = |name: &[u8]| Ok(Some(renamed(&String::from_utf8_lossy(name), axes).into_bytes()));
    descend(port, &[OF, TENSOR, SHAPE, DIM, NAMED], &mut renamed).map(Some)
}

/// A copy in which what lies at the end of a path of fields went through `change`.
fn descend(message: &[u8], path: &[u64], change: Change<'_>) -> Result<Vec<u8>> {
    match path {
        [] => Ok(change(message)?.unwrap_or_else(|| message.to_vec())),
        [field, rest @ ..] => replace(message, *field, &mut |inner| descend(inner, rest, change).map(Some)),
    }
}

/// `layers`: the deviations of weights of layers. `None`: the tensor stays as it is.
fn initializer(
    bytes: &[u8],
    file: &str,
    layers: &BTreeMap<String, f64>,
    weights: &mut Weights,
) -> Result<Option<Vec<u8>>> {
    let mut tensor = Tensor::decode(bytes).map_err(|error| broken(format!("in an initializer: {error}")))?;
    let Some(rule) = tensor.external_data.iter().find(|entry| entry.key == "gen") else { return Ok(None) };
    let element = match tensor.data_type {
        FLOAT => Element::Single,
        DOUBLE => Element::Double,
        other => {
            let text =
                format!("tensor '{}': only float32 and float64 are generated, not ONNX type {other}", tensor.name);
            return Err(Error::invalid(text));
        }
    };
    let rule = Rule::parse(&tensor.name, &rule.value, element)?;
    let rule = layers.get(&tensor.name).map_or(rule.clone(), |deviation| rule.spread(*deviation));
    let elements = tensor.dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(u64::try_from(*dim).ok()?));
    let place = elements.and_then(|elements| weights.add(rule, elements)).ok_or_else(|| {
        Error::invalid(format!("tensor '{}': the dimensions {:?} cannot be", tensor.name, tensor.dims))
    })?;
    let entry = |key: &str, value: String| Entry { key: key.into(), value };
    tensor.data_location = EXTERNAL;
    tensor.external_data = vec![
        entry("location", file.into()),
        entry("offset", place.start.to_string()),
        entry("length", (place.end - place.start).to_string()),
    ];
    Ok(Some(tensor.encode_to_vec()))
}

pub fn broken(what: impl std::fmt::Display) -> Error {
    Error::invalid(format!("the graph is not a valid protobuf: {what}"))
}

/// What a field becomes: new contents, or `None` where it stays.
type Change<'a> = &'a mut dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>>;

/// A copy of a message in which every field `number` went through `change`.
fn replace(message: &[u8], number: u64, change: Change<'_>) -> Result<Vec<u8>> {
    let copy = edit(message, number, |field| Ok(change(field).map_err(Failure::Change)?.map(|new| vec![new])));
    copy.map_err(|failure| match failure {
        Failure::Change(error) => error,
        Failure::Broken(broken) => Error::invalid(broken.to_string()),
    })
}

enum Failure {
    Change(Error),
    Broken(Broken),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure::Broken(broken)
    }
}

#[cfg(test)]
mod tests;
