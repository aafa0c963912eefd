//! Counts the work of one inference in a graph that nobody counted before: operations, what operators read and write, kernels, and the
//! weights that every inference reads. The rules are those of scripts/zoo-flops and scripts/zoo-traffic, which counted the graphs of the
//! zoo with another shape inference; a test of the zoo holds both against each other.
//!
//! - `shapes`: the shape of every value at given sizes of the inputs;
//! - `values`: the elements of small vectors, which become shapes;
//! - `operators`: which rule of shape inference an operator follows;
//! - `products`: the operations of one operator;
//! - `weights`: the weights that every inference reads;
//! - `lines`: at which sizes a model is counted.
//!
//! Not here: files, and what is done with a count.

mod lines;
mod operators;
mod products;
mod shapes;
mod values;
mod weights;

pub use lines::{Counted, counted};
pub(crate) use weights::is_trained;
pub use weights::read_by_each;

use shapes::{Shapes, Value};
use skillbench_onnx::{Outline, OutlinedGraph};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Why a graph's work is not counted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Uncounted {
    #[error("nobody knows how many operations {0} is")]
    Operator(String),
    #[error("the shape of '{0}' depends on data")]
    Shape(String),
    #[error("it has {0} operators")]
    Large(usize),
    #[error("its shapes do not fit each other")]
    Contradiction,
    #[error("{0}")]
    Sizes(String),
}

/// The work of one inference at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// A multiplication and an addition are two.
    pub operations: f64,
    /// Values of floating point that kernels read and write, weights not counted, each kernel by itself.
    pub elements: f64,
    /// Operators that make values of floating point out of the inputs; views are none.
    pub kernels: u64,
}

/// More is no graph whose shapes are worked out while somebody waits.
const MOST_OPERATORS: usize = 100_000;

/// Views: they make no new values.
const VIEWS: [&str; 8] =
    ["Constant", "ConstantOfShape", "Flatten", "Identity", "Reshape", "Shape", "Squeeze", "Unsqueeze"];

/// The work of a graph whose inputs have these sizes.
///
/// # Errors
/// What is not known.
pub fn work(outline: &Outline, sizes: &BTreeMap<String, Vec<usize>>) -> Result<Work, Uncounted> {
    let graph = &outline.graph;
    if graph.nodes.len() > MOST_OPERATORS {
        return Err(Uncounted::Large(graph.nodes.len()));
    }
    // Rules of another crate meet whatever a file says; a sum that overflows there is no reason to end.
    let count = || {
        let shapes = Shapes::of(outline, sizes)?;
        of_graph(graph, &shapes)
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(count)).unwrap_or(Err(Uncounted::Contradiction))
}

fn of_graph(graph: &OutlinedGraph, shapes: &Shapes) -> Result<Work, Uncounted> {
    let weights: BTreeSet<&str> = graph.weights.iter().map(|weight| weight.name.as_str()).collect();
    let mut made: HashSet<&str> = graph.ports().iter().map(|port| port.name.as_str()).collect();
    let mut work = Work::default();
    for node in &graph.nodes {
        work.operations += products::operations(node, shapes)?;
        if !node.inputs.iter().any(|name| made.contains(name.as_str())) {
            continue;
        }
        made.extend(node.outputs.iter().map(String::as_str).filter(|name| !name.is_empty()));
        let floats = |name: &&String| shapes.value(name).is_some_and(Value::is_float);
        let written: Vec<&String> = node.outputs.iter().filter(floats).collect();
        if written.is_empty() || VIEWS.contains(&node.operator.as_str()) {
            continue;
        }
        work.kernels += 1;
        let read = node.inputs.iter().filter(floats);
        let read = read.filter(|name| made.contains(name.as_str()) && !weights.contains(name.as_str()));
        for name in read.chain(written) {
            work.elements += shapes.elements(name)?;
        }
    }
    Ok(work)
}
