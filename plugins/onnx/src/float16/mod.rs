//! A graph in float32 put in float16, for engines that compute a graph as it is written.
//!
//! - `read`: the graph, with the element type of every value;
//! - `operators`: what ONNX and ONNX Runtime's kernels say about operators;
//! - `single`: which nodes stay in float32, because of their kernels or for the sake of their numbers;
//! - `plan`: in which forms each value is there, and under which names;
//! - `write`: the graph with the casts that it needs;
//! - `numbers`: constants.
//!
//! Ports stay in float32, with casts behind the inputs and before the outputs. Weights that lie in other files stay there: a cast
//! stands behind each, which an engine computes once, when it makes a session. Constants in the graph itself are converted here.
//! What ONNX, or the kernels for NVIDIA's GPUs, have only for float32 stays in it, and so does arithmetic of positions, indices
//! and squares, which float16 would spoil: it counts whole numbers up to 2048, and ends at 65504.

mod numbers;
mod operators;
mod plan;
mod read;
mod single;
#[cfg(test)]
mod tests;
mod write;

pub use numbers::half;

use crate::messages::*;
use crate::{Broken, edit, messages_of, numbers_of};
use plan::Plan;
use read::Graph;
use std::fmt;

/// Why a graph was not put in float16.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotConverted {
    Broken(Broken),
    /// A clause that follows "the graph cannot be put in float16: ".
    Refused(String),
}

impl fmt::Display for NotConverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotConverted::Broken(broken) => broken.fmt(f),
            NotConverted::Refused(reason) => {
                write!(f, "the graph cannot be put in float16, since {reason}: load an export in float16")
            }
        }
    }
}

impl std::error::Error for NotConverted {}

impl From<Broken> for NotConverted {
    fn from(broken: Broken) -> NotConverted {
        NotConverted::Broken(broken)
    }
}

fn refused(reason: impl Into<String>) -> NotConverted {
    NotConverted::Refused(reason.into())
}

/// The same graph in float16, with its ports in float32 and its weights where they are. The same bytes give the same graph.
///
/// # Errors
/// [`NotConverted::Refused`] for a graph that holds other graphs, functions or sequences, that is quantized, has operators
/// that are not standard, whose weights are mostly of another type, or that would stay in float32 for the most part: half its
/// products, or, in a graph without any, half its nodes; [`NotConverted::Broken`] for bytes that are no model.
pub fn to_float16(model: &[u8]) -> Result<Vec<u8>, NotConverted> {
    match convert(model)? {
        (_, true) => Err(refused("most of what it computes would stay in float32")),
        (converted, false) => Ok(converted),
    }
}

/// The graph, and whether most of it stayed as it was.
fn convert(model: &[u8]) -> Result<(Vec<u8>, bool), NotConverted> {
    if messages_of(model, MODEL_FUNCTION).next().is_some() {
        return Err(refused("it has functions of its own"));
    }
    let opset = messages_of(model, MODEL_OPERATORS)
        .find(|set| read::is_standard(messages_of(set, OPERATORS_DOMAIN).next().unwrap_or_default()))
        .and_then(|set| numbers_of(set, OPERATORS_VERSION).next())
        .unwrap_or_default();
    let mut stayed = false;
    let converted = edit(model, MODEL_GRAPH, |bytes| {
        let graph = Graph::read(bytes)?;
        check(&graph, bytes)?;
        let single = single::find(&graph, opset);
        stayed = single::is_most(&graph, &single);
        let plan = Plan::of(&graph, &single, opset);
        Ok::<_, NotConverted>(Some(vec![write::write(bytes, &graph, &single, &plan)?]))
    })?;
    Ok((converted, stayed))
}

/// Refuses what this code could only guess at.
fn check(graph: &Graph<'_>, bytes: &[u8]) -> Result<(), NotConverted> {
    for node in &graph.nodes {
        let operator = node.operator;
        let mut attributes = messages_of(node.bytes, NODE_ATTRIBUTE);
        if operators::is_quantized(operator) {
            return Err(refused(format!("it is quantized ({operator})")));
        }
        let domain = messages_of(node.bytes, NODE_DOMAIN).next().unwrap_or_default();
        if !read::is_standard(domain) {
            let domain = String::from_utf8_lossy(domain);
            return Err(refused(format!("its operator {operator} is one of {domain}, not of ONNX")));
        }
        let graphs = [ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS];
        if attributes.any(|attribute| graphs.iter().any(|number| messages_of(attribute, *number).next().is_some())) {
            return Err(refused(format!("its {operator} holds a graph of its own")));
        }
        if operators::is_of_sequences(operator) {
            return Err(refused(format!("its {operator} does not work on plain tensors")));
        }
        if node.attribute("sparse_value").is_some() {
            return Err(refused("it has sparse constants"));
        }
    }
    if messages_of(bytes, GRAPH_SPARSE).next().is_some() {
        return Err(refused("it has sparse weights"));
    }
    let count = |elements: &[i32]| -> u64 {
        let some = graph.weights.iter().filter(|weight| elements.contains(&weight.element));
        some.fold(0, |sum, weight| sum.saturating_add(weight.count))
    };
    let others = count(&[FLOAT16, BFLOAT16, DOUBLE]);
    if others > 0 && others >= count(&[FLOAT]) {
        return Err(refused("most of its weights are not in float32"));
    }
    Ok(())
}
