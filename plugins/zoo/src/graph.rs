//! A skeleton's way to a graph whose weights lie in a file beside it.
//!
//! Only the initializers to generate are decoded and written anew. Every other field of the protobuf is copied as it
//! stands, so that nothing is lost, not even what a later version of ONNX adds.

use crate::form::Form;
use crate::integers::{Ranges, Values};
use crate::ranges;
use crate::rule::{Element, Rule};
use crate::skills::renamed;
use crate::spread;
use crate::stored::{self, Ruled, Stores};
use crate::weights::Weights;
use skillbench_onnx::fields::{put, put_number};
use skillbench_onnx::messages::*;
use skillbench_onnx::{Broken, edit, messages_of, numbers_of};
use skillbench_plugin_api::{Error, Result};
use std::collections::BTreeMap;

/// A graph that is ready to be written, and the weights to write beside it.
pub struct Refilled {
    pub graph: Vec<u8>,
    pub weights: Weights,
}

/// How a graph is to be.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Where it finds its weights.
    pub file: &'a str,
    /// Other names for its axes.
    pub axes: Option<&'a BTreeMap<String, String>>,
    pub form: Form,
    /// Between which numbers its values lie; the form int8 needs them.
    pub ranges: Option<&'a Ranges>,
}

/// The runnable graph of a skeleton.
///
/// # Errors
/// Bytes that are no graph, or what cannot be in this form.
pub fn refill(skeleton: &[u8], wanted: Wanted<'_>) -> Result<Refilled> {
    let Wanted { file, axes, form, .. } = wanted;
    let mut weights = Weights::default();
    let graph = replace(skeleton, MODEL_GRAPH, &mut |graph| {
        let layers = spread::deviations(graph)?;
        let stores = stores(graph, &layers, wanted)?;
        let mut graph =
            edited(graph, GRAPH_INITIALIZER, &mut |tensor| initializer(tensor, file, &layers, &stores, &mut weights))?;
        let mut index = 0..;
        graph = edited(&graph, GRAPH_NODE, &mut |node| match index.next() {
            Some(index) => nodes(node, index, &stores),
            None => Ok(None),
        })?;
        stores.constants.iter().for_each(|tensor| put(&mut graph, GRAPH_INITIALIZER, &tensor.encode_to_vec()));
        if let Some(axes) = axes.filter(|axes| !axes.is_empty()) {
            for ports in [GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE_INFO] {
                graph = replace(&graph, ports, &mut |port| rename(port, axes))?;
            }
        }
        Ok(Some(graph))
    })?;
    let graph = match stored::operators(form) {
        Some((domain, least)) => with_operators(&graph, domain, least)?,
        None => graph,
    };
    Ok(Refilled { graph, weights })
}

/// How the weights of a graph are stored in a form.
fn stores(graph: &[u8], layers: &BTreeMap<String, f64>, wanted: Wanted<'_>) -> Result<Stores> {
    let nodes = spread::decoded::<Node>(graph, GRAPH_NODE)?;
    let tensors = spread::decoded::<Tensor>(graph, GRAPH_INITIALIZER)?;
    let (mut ruled, mut vectors) = (BTreeMap::new(), BTreeMap::new());
    for tensor in tensors.into_iter().filter(|tensor| tensor.data_type == FLOAT) {
        let rule = rule_of(&tensor).map(|rule| Rule::parse(&tensor.name, rule, Element::Single)).transpose()?;
        if let ([count], true) = (&tensor.dims[..], wanted.form.is_int8()) {
            vectors.extend(numbers(&tensor, rule.as_ref(), *count).map(|numbers| (tensor.name.clone(), numbers)));
        }
        if let Some(rule) = rule {
            let rule = spread_as(rule, &tensor.name, layers);
            ruled.insert(tensor.name, Ruled { dims: tensor.dims, rule });
        }
    }
    let none = Ranges::new();
    let outputs = ranges::outputs(graph)?;
    let values = Values { ranges: wanted.ranges.unwrap_or(&none), vectors: &vectors, outputs: &outputs };
    Stores::of(&nodes, &ruled, &values, wanted.form)
}

/// The numbers of a small tensor, by its rule or as they stand; `None`: they are elsewhere, or many.
fn numbers(tensor: &Tensor, rule: Option<&Rule>, count: i64) -> Option<Vec<f32>> {
    const MANY: usize = 1 << 20;
    let count = usize::try_from(count).ok().filter(|count| *count <= MANY)?;
    let mut bytes = tensor.raw_data.clone();
    if let Some(rule) = rule {
        bytes.resize(count * size_of::<f32>(), 0);
        rule.write(0, &mut bytes);
    }
    let (numbers, rest) = bytes.as_chunks::<4>();
    (numbers.len() == count && rest.is_empty()).then(|| numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
}

fn spread_as(rule: Rule, name: &str, layers: &BTreeMap<String, f64>) -> Rule {
    layers.get(name).map_or(rule.clone(), |deviation| rule.spread(*deviation))
}

/// What stands in the place of a node; `None`: it stays.
fn nodes(node: &[u8], index: usize, stores: &Stores) -> Result<Option<Vec<Vec<u8>>>> {
    let (before, after) = (stores.before.get(&index), stores.after.get(&index));
    let (instead, inputs) = (stores.nodes.get(&index), stores.inputs.get(&index));
    if before.is_none() && after.is_none() && instead.is_none() && inputs.is_none() {
        return Ok(None);
    }
    let mut all: Vec<Vec<u8>> = before.into_iter().flatten().map(Message::encode_to_vec).collect();
    match (instead, inputs) {
        (Some(nodes), _) => all.extend(nodes.iter().map(Message::encode_to_vec)),
        (None, Some(inputs)) => all.push(reading(node, inputs)?),
        (None, None) => all.push(node.to_vec()),
    }
    all.extend(after.into_iter().flatten().map(Message::encode_to_vec));
    Ok(Some(all))
}

/// A node that reads other values; the rest of it stays as it stands, attributes of any kind included.
fn reading(node: &[u8], inputs: &BTreeMap<usize, String>) -> Result<Vec<u8>> {
    let mut place = 0..;
    replace(node, NODE_INPUT, &mut |_| {
        Ok(place.next().and_then(|place: usize| inputs.get(&place)).map(|value| value.clone().into_bytes()))
    })
}

/// A model that says it needs at least this version of an operator set.
fn with_operators(model: &[u8], domain: &str, least: u64) -> Result<Vec<u8>> {
    let is_it = |set: &[u8]| messages_of(set, OPERATORS_DOMAIN).next().unwrap_or_default() == domain.as_bytes();
    let set = |version: u64| {
        let mut set = vec![];
        put(&mut set, OPERATORS_DOMAIN, domain.as_bytes());
        put_number(&mut set, OPERATORS_VERSION, version);
        set
    };
    if !messages_of(model, MODEL_OPERATORS).any(is_it) {
        let mut model = model.to_vec();
        put(&mut model, MODEL_OPERATORS, &set(least));
        return Ok(model);
    }
    let version = |known: &[u8]| numbers_of(known, OPERATORS_VERSION).next().unwrap_or_default().max(least);
    replace(model, MODEL_OPERATORS, &mut |known| Ok(is_it(known).then(|| set(version(known)))))
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

/// The rule of a tensor that is to be generated.
fn rule_of(tensor: &Tensor) -> Option<&str> {
    tensor.external_data.iter().find(|entry| entry.key == "gen").map(|entry| entry.value.as_str())
}

/// `layers`: the deviations of weights of layers. `None`: the tensor stays as it is.
fn initializer(
    bytes: &[u8],
    file: &str,
    layers: &BTreeMap<String, f64>,
    stores: &Stores,
    weights: &mut Weights,
) -> Result<Option<Vec<Vec<u8>>>> {
    let tensor = Tensor::decode(bytes).map_err(|error| broken(format!("in an initializer: {error}")))?;
    let Some(rule) = rule_of(&tensor) else {
        // It goes where nothing reads it any more.
        return Ok(stores.tensors.get(&tensor.name).filter(|stored| stored.is_empty()).map(|_| vec![]));
    };
    let element = match tensor.data_type {
        FLOAT => Element::Single,
        DOUBLE => Element::Double,
        other => {
            let text =
                format!("tensor '{}': only float32 and float64 are generated, not ONNX type {other}", tensor.name);
            return Err(Error::invalid(text));
        }
    };
    let rule = Rule::parse(&tensor.name, rule, element)?;
    let rule = spread_as(rule, &tensor.name, layers);
    let numbers = tensor.dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(u64::try_from(*dim).ok()?));
    let mut placed = |name: &str, data_type: i32, dims: &[i64], rule: Rule| {
        let place = numbers.and_then(|numbers| weights.add(rule, numbers)).ok_or_else(|| {
            Error::invalid(format!("tensor '{}': the dimensions {:?} cannot be", tensor.name, tensor.dims))
        })?;
        Ok(Tensor::in_file(name, data_type, dims, file, place).encode_to_vec())
    };
    let new = match stores.tensors.get(&tensor.name) {
        None => vec![placed(&tensor.name, tensor.data_type, &tensor.dims, rule)?],
        Some(stored) => {
            let each =
                stored.iter().map(|new| placed(&new.name, new.data_type, &new.dims, rule.stored_as(new.element)));
            each.collect::<Result<_>>()?
        }
    };
    Ok(Some(new))
}

pub fn broken(what: impl std::fmt::Display) -> Error {
    Error::invalid(format!("the graph is not a valid protobuf: {what}"))
}

/// What a field becomes: new contents, or `None` where it stays.
type Change<'a> = &'a mut dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>>;

/// A copy of a message in which every field `number` went through `change`.
fn replace(message: &[u8], number: u64, change: Change<'_>) -> Result<Vec<u8>> {
    edited(message, number, &mut |field| Ok(change(field)?.map(|new| vec![new])))
}

/// What fields a field becomes; `None` where it stays.
type Edit<'a> = &'a mut dyn FnMut(&[u8]) -> Result<Option<Vec<Vec<u8>>>>;

/// As `replace`, where one field becomes several or none.
fn edited(message: &[u8], number: u64, change: Edit<'_>) -> Result<Vec<u8>> {
    edit(message, number, |field| change(field).map_err(Failure::Change)).map_err(|failure| match failure {
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
