//! The layers of a graph, made to multiply integers: weights in int8 behind a `DequantizeLinear`, and points at which data is quantized to
//! uint8 and back (QDQ), the pattern that engines put together to integer kernels.
//!
//! - A layer is a `MatMul`, `Gemm` or `Conv` with weights. Its data goes through a point first.
//! - Behind a convolution is a point too, behind the `Relu` that follows it if one does: ONNX Runtime multiplies integers in a convolution
//!   only where it gives 8 bits. A `Clip` stays behind the point, since its limit is no multiple of the scale.
//! - A bias is in int32, in units of the product, so that an engine can add it to the sum; also the one that is added behind a `MatMul`:
//!   of the two ONNX Runtime makes a `Gemm` where sizes are fixed, and multiplies integers in that only with such a bias.
//! - Products of data with data (attention) stay in float32.

use crate::eight::{Eight, Point, Scale};
use crate::form::Form;
use crate::rule::Element;
use crate::stored::{Graph, Ruled, SMALLEST, Stored, Stores, flag, is_plain};
use skillbench_onnx::messages::*;
use skillbench_plugin_api::Result;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Least and greatest number of each value, as they were measured.
pub type Ranges = BTreeMap<String, [f32; 2]>;

/// What is known of a graph besides its nodes and weights.
pub struct Values<'a> {
    pub ranges: &'a Ranges,
    /// Constants of one dimension.
    pub vectors: &'a BTreeMap<String, Vec<f32>>,
    /// The outputs of the graph.
    pub outputs: &'a HashSet<String>,
}

/// A product of data with weights.
#[derive(Clone, Copy)]
struct Layer<'a> {
    node: usize,
    weight: &'a str,
    by: Channels,
}

/// Where the output channels of weights are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Channels {
    axis: usize,
    count: i64,
    /// A `Transpose` stands between, and goes.
    turned: Option<usize>,
}

/// The layers of a graph, in its order.
fn layers<'a>(
    graph: &Graph<'_>,
    outputs: &HashSet<String>,
    weights: impl Iterator<Item = (&'a str, &'a [i64])>,
) -> Vec<Layer<'a>> {
    let mut found = vec![];
    for (weight, dims) in weights {
        let mut of_weight: Vec<Layer<'a>> = vec![];
        let users = graph.users(weight);
        for (index, place) in &users {
            let channels = |axis: usize| Channels { axis, count: dims[axis], turned: None };
            let node = &graph.nodes[*index];
            let (by, nodes) = match (node.op_type.as_str(), place, dims.len()) {
                ("MatMul", 1, 2) => (channels(1), vec![*index]),
                ("Gemm", 1, 2) if is_plain(node) => (channels(usize::from(!flag(node, "transB"))), vec![*index]),
                ("Conv", 1, 3..) => (channels(0), vec![*index]),
                ("Transpose", 0, 2) => match behind_transpose(graph, outputs, node) {
                    Some(nodes) => (Channels { axis: 1, count: dims[0], turned: Some(*index) }, nodes),
                    None => continue,
                },
                _ => continue,
            };
            // What lies in two ways is quantized in the first of them.
            if of_weight.first().is_none_or(|first| first.by == by) {
                of_weight.extend(nodes.into_iter().map(|node| Layer { node, weight, by }));
            }
        }
        let large = dims.iter().product::<i64>() >= SMALLEST;
        if large || of_weight.len() == users.len() {
            found.extend(of_weight);
        }
    }
    found.sort_by_key(|layer| layer.node);
    found
}

/// The products that read a transposed matrix; `None`: something else does too.
fn behind_transpose(graph: &Graph<'_>, outputs: &HashSet<String>, node: &Node) -> Option<Vec<usize>> {
    let turned = node.output.first().filter(|turned| !outputs.contains(*turned))?;
    let readers = graph.users(turned);
    let all = readers.iter().all(|(user, place)| graph.nodes[*user].op_type == "MatMul" && *place == 1);
    (all && !readers.is_empty()).then(|| readers.into_iter().map(|(user, _)| user).collect())
}

/// Where the point behind a convolution is: the value, and the node that makes it.
fn settled<'g>(graph: &'g Graph<'_>, outputs: &HashSet<String>, node: usize) -> Option<(&'g str, usize)> {
    let of = |index: usize| graph.nodes[index].output.first().map(String::as_str);
    let value = of(node)?;
    let users = graph.users(value);
    let place = match users[..] {
        [] => return None,
        [(next, _)] if graph.nodes[next].op_type == "Relu" && !outputs.contains(value) => next,
        _ => node,
    };
    let value = of(place)?;
    (!graph.users(value).is_empty()).then_some((value, place))
}

/// Where the bias of a layer is read: by itself, or by the one addition behind a product.
fn place_of_bias(graph: &Graph<'_>, values: &Values<'_>, layer: usize) -> Option<(usize, usize)> {
    let node = &graph.nodes[layer];
    if node.op_type != "MatMul" {
        return (node.input.len() > 2).then_some((layer, 2));
    }
    let output = node.output.first().filter(|output| !values.outputs.contains(*output))?;
    match graph.users(output)[..] {
        [(add, place)] if graph.nodes[add].op_type == "Add" && place < 2 => Some((add, 1 - place)),
        _ => None,
    }
}

/// The values that go through a point in the form int8: those whose ranges are measured.
pub fn values<'a>(
    nodes: &[Node],
    outputs: &HashSet<String>,
    weights: impl Iterator<Item = (&'a str, &'a [i64])>,
) -> BTreeSet<String> {
    let graph = Graph::new(nodes);
    let mut found = BTreeSet::new();
    for layer in layers(&graph, outputs, weights) {
        let node = &nodes[layer.node];
        found.extend(node.input.first().cloned());
        if node.op_type == "Conv" {
            found.extend(settled(&graph, outputs, layer.node).map(|(value, _)| value.to_string()));
        }
    }
    found
}

/// What becomes of the layers of a graph.
#[derive(Default)]
pub struct Integers {
    tensors: BTreeMap<String, Vec<Stored>>,
    removed: BTreeSet<usize>,
    before: BTreeMap<usize, Vec<Node>>,
    after: BTreeMap<usize, Vec<Node>>,
    inputs: BTreeMap<usize, BTreeMap<usize, String>>,
    constants: Vec<Tensor>,
    /// Values with a point.
    points: BTreeMap<String, Point>,
    scales: BTreeMap<String, Scale>,
}

impl Integers {
    /// # Errors
    /// A bias that does not fit 32 bits.
    pub fn of(
        graph: &Graph<'_>,
        weights: &BTreeMap<String, Ruled>,
        values: &Values<'_>,
        form: Form,
    ) -> Result<Integers> {
        let mut made = Integers::default();
        let of_weights = weights.iter().map(|(name, ruled)| (name.as_str(), ruled.dims.as_slice()));
        let layers = layers(graph, values.outputs, of_weights.filter(|(_, dims)| dims.len() >= 2));
        for layer in &layers {
            made.weights(layer, &weights[layer.weight]);
        }
        if form == Form::Int8 {
            for layer in layers.iter().filter(|layer| graph.nodes[layer.node].op_type == "Conv") {
                made.behind(graph, values, layer.node);
            }
            for layer in &layers {
                made.data(graph, values, layer);
                made.bias(graph, values, layer)?;
            }
        }
        Ok(made)
    }

    pub fn put(self, stores: &mut Stores) {
        let Integers { tensors, removed, before, after, inputs, constants, .. } = self;
        stores.nodes.extend(removed.into_iter().map(|node| (node, vec![])));
        (stores.tensors, stores.before, stores.after) = (tensors, before, after);
        (stores.inputs, stores.constants) = (inputs, constants);
    }

    fn read(&mut self, node: usize, place: usize, value: String) {
        self.inputs.entry(node).or_default().insert(place, value);
    }

    /// The weights of a layer, in int8 with a scale for each channel.
    fn weights(&mut self, layer: &Layer<'_>, ruled: &Ruled) {
        let Layer { node, weight: name, by } = *layer;
        let [whole, stored, scales, zeros] = ["float", "int8", "scales", "zeros"].map(|what| format!("{name}.{what}"));
        if !self.tensors.contains_key(name) {
            let scale = Scale::of_weights(ruled.rule.source());
            let (dims, transposed) = match (by.turned, &ruled.dims[..]) {
                (Some(_), [rows, columns]) => (vec![*columns, *rows], Some((*columns as u64, *rows as u64))),
                _ => (ruled.dims.clone(), None),
            };
            let element = Element::Eight(Eight { scale, transposed });
            self.tensors.insert(name.into(), vec![Stored { name: stored.clone(), data_type: INT8, dims, element }]);
            self.scales.insert(name.into(), scale);
            let count = by.count.max(0) as usize;
            self.constants.push(floats(&scales, &vec![scale.value(); count]));
            self.constants.push(Tensor::of_bytes(&zeros, INT8, &[by.count], vec![0; count]));
            let read = Node::new("DequantizeLinear", &[&stored, &scales, &zeros], &whole).with("axis", by.axis as i64);
            self.before.entry(node).or_default().push(read);
        }
        self.removed.extend(by.turned);
        self.read(node, 1, whole);
    }

    /// The two nodes of a point, which read a value and give what it is in 8 bits.
    fn point(&mut self, value: &str, values: &Values<'_>) -> Option<[Node; 2]> {
        let [least, most] = *values.ranges.get(value)?;
        let point = Point::between(least, most);
        let [scale, zero, eight] = ["scale", "zero", "uint8"].map(|what| format!("{value}.{what}"));
        self.constants.push(Tensor { dims: vec![], ..floats(&scale, &[point.scale.value()]) });
        self.constants.push(Tensor::of_bytes(&zero, UINT8, &[], vec![point.zero]));
        self.points.insert(value.into(), point);
        Some([
            Node::new("QuantizeLinear", &[value, &scale, &zero], &eight),
            Node::new("DequantizeLinear", &[&eight, &scale, &zero], &pointed(value)),
        ])
    }

    /// The point behind a convolution: whoever reads its value reads it behind the point.
    fn behind(&mut self, graph: &Graph<'_>, values: &Values<'_>, node: usize) {
        let Some((value, maker)) = settled(graph, values.outputs, node) else { return };
        if self.points.contains_key(value) {
            return;
        }
        let Some(nodes) = self.point(value, values) else { return };
        self.after.entry(maker).or_default().extend(nodes);
        for (user, place) in graph.users(value) {
            self.read(user, place, pointed(value));
        }
    }

    /// The point before a layer.
    fn data(&mut self, graph: &Graph<'_>, values: &Values<'_>, layer: &Layer<'_>) {
        let Some(value) = graph.nodes[layer.node].input.first() else { return };
        if !self.points.contains_key(value) {
            let Some(nodes) = self.point(value, values) else { return };
            self.before.entry(layer.node).or_default().extend(nodes);
        }
        self.read(layer.node, 0, pointed(value));
    }

    fn bias(&mut self, graph: &Graph<'_>, values: &Values<'_>, layer: &Layer<'_>) -> Result<()> {
        let node = &graph.nodes[layer.node];
        let Some((reader, place)) = place_of_bias(graph, values, layer.node) else { return Ok(()) };
        let bias = &graph.nodes[reader].input[place];
        let numbers = values.vectors.get(bias).filter(|numbers| numbers.len() as i64 == layer.by.count);
        let point = node.input.first().and_then(|data| self.points.get(data));
        let (Some(numbers), Some(point), Some(output)) = (numbers, point, node.output.first()) else {
            return Ok(());
        };
        let weights = self.scales[layer.weight];
        let units = numbers.iter().map(|number| point.bias(weights, *number)).collect::<Result<Vec<i32>>>()?;
        let scales = vec![point.product(weights); units.len()];
        let [whole, stored, scale, zeros] =
            ["bias", "bias.int32", "bias.scales", "bias.zeros"].map(|what| format!("{output}.{what}"));
        let bytes = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        self.constants.push(Tensor::of_bytes(&stored, INT32, &[layer.by.count], bytes(&units)));
        self.constants.push(floats(&scale, &scales));
        self.constants.push(Tensor::of_bytes(&zeros, INT32, &[layer.by.count], bytes(&vec![0; units.len()])));
        let read = Node::new("DequantizeLinear", &[&stored, &scale, &zeros], &whole).with("axis", 0);
        self.before.entry(reader).or_default().push(read);
        self.read(reader, place, whole);
        let read_elsewhere =
            |(user, place): &(usize, usize)| self.inputs.get(user).is_some_and(|places| places.contains_key(place));
        if graph.users(bias).iter().all(read_elsewhere) {
            self.tensors.insert(bias.clone(), vec![]);
        }
        Ok(())
    }
}

/// A value behind its point.
fn pointed(value: &str) -> String {
    format!("{value}.eight")
}

fn floats(name: &str, numbers: &[f32]) -> Tensor {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Tensor::of_bytes(name, FLOAT, &[numbers.len() as i64], bytes)
}

#[cfg(test)]
mod tests;
