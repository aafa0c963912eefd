//! A skeleton's way to a graph whose weights lie in a file beside it.
//!
//! Only the initializers to generate are decoded and written anew. Every other field of the protobuf is copied as it
//! stands, so that nothing is lost, not even what a later version of ONNX adds.

use crate::form::Form;
use crate::rule::{Element, Rule};
use crate::skills::renamed;
use crate::spread;
use crate::stored::{self, Stores};
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

/// The runnable graph of a skeleton. It finds its weights in `file`, in this form, and its axes have the names that `axes` gives them.
pub fn refill(skeleton: &[u8], file: &str, axes: Option<&BTreeMap<String, String>>, form: Form) -> Result<Refilled> {
    let mut weights = Weights::default();
    let graph = replace(skeleton, MODEL_GRAPH, &mut |graph| {
        let layers = spread::deviations(graph)?;
        let stores = stores(graph, form)?;
        let mut graph =
            edited(graph, GRAPH_INITIALIZER, &mut |tensor| initializer(tensor, file, &layers, &stores, &mut weights))?;
        let mut index = 0..;
        graph = edited(&graph, GRAPH_NODE, &mut |node| Ok(index.next().and_then(|index| nodes(node, index, &stores))))?;
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
fn stores(graph: &[u8], form: Form) -> Result<Stores> {
    let nodes = spread::decoded::<Node>(graph, GRAPH_NODE)?;
    let tensors = spread::decoded::<Tensor>(graph, GRAPH_INITIALIZER)?;
    let of_rule = tensors.into_iter().filter(|tensor| tensor.data_type == FLOAT && rule_of(tensor).is_some());
    Ok(Stores::of(&nodes, &of_rule.map(|tensor| (tensor.name, tensor.dims)).collect(), form))
}

/// What stands in the place of a node; `None`: it stays.
fn nodes(node: &[u8], index: usize, stores: &Stores) -> Option<Vec<Vec<u8>>> {
    let (before, instead) = (stores.before.get(&index), stores.nodes.get(&index));
    if before.is_none() && instead.is_none() {
        return None;
    }
    let mut all: Vec<Vec<u8>> = before.into_iter().flatten().map(Message::encode_to_vec).collect();
    match instead {
        Some(nodes) => all.extend(nodes.iter().map(Message::encode_to_vec)),
        None => all.push(node.to_vec()),
    }
    Some(all)
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
    let Some(rule) = rule_of(&tensor) else { return Ok(None) };
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
    let rule = layers.get(&tensor.name).map_or(rule.clone(), |deviation| rule.spread(*deviation));
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
