//! What a graph asks to be computed in, read from its file: ONNX Runtime tells the types of a session's ports, but not those
//! of its weights. A walk over the protobuf message, field by field, that skips all data.

use skillbench_onnx::messages::*;
use skillbench_onnx::{messages_of as messages, numbers_of as numbers};

/// The arithmetic that a graph is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Float32,
    Float16,
    BFloat16,
    /// It multiplies integers.
    Int8,
    /// Floats with the points where to quantize them (QDQ): the engine decides whether to multiply integers.
    Quantizable,
}

impl Arithmetic {
    /// The name of the precision, where the graph leaves no choice.
    pub fn precision(self) -> Option<&'static str> {
        match self {
            Arithmetic::Float32 => Some("float32"),
            Arithmetic::Float16 => Some("float16"),
            Arithmetic::BFloat16 => Some("bfloat16"),
            Arithmetic::Int8 => Some("int8"),
            Arithmetic::Quantizable => None,
        }
    }

    /// Of the floating types, the one that most of the weights have; where there are none, that of the ports. `None` for
    /// a graph without floats, and for bytes that are no graph. Subgraphs are not looked into.
    pub(crate) fn of(model: &[u8]) -> Option<Arithmetic> {
        let graphs = || messages(model, MODEL_GRAPH);
        let operators =
            || graphs().flat_map(|graph| messages(graph, GRAPH_NODE)).flat_map(|node| messages(node, NODE_OPERATOR));
        if operators().any(multiplies_integers) {
            return Some(Arithmetic::Int8);
        }
        if operators().any(|operator| operator == b"QuantizeLinear") {
            return Some(Arithmetic::Quantizable);
        }
        let weights = graphs().flat_map(|graph| messages(graph, GRAPH_INITIALIZER)).filter_map(|tensor| {
            let size = numbers(tensor, TENSOR_DIMS).fold(1, u64::saturating_mul);
            numbers(tensor, TENSOR_TYPE).next().map(|data_type| (data_type, size))
        });
        let ports = graphs().flat_map(|graph| messages(graph, GRAPH_INPUT).chain(messages(graph, GRAPH_OUTPUT)));
        let types = ports.flat_map(|port| messages(port, PORT_TYPE)).flat_map(|of| messages(of, TENSOR));
        let ports = types.flat_map(|tensor| numbers(tensor, ELEMENT)).map(|data_type| (data_type, 1));
        most(weights).or_else(|| most(ports))
    }
}

/// The names of the inputs' dynamic dimensions, once each; "?" for one without a name. Initializers are no inputs.
pub(crate) fn open_dimensions(model: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for graph in messages(model, MODEL_GRAPH) {
        let named = |message, number| messages(message, number).next().unwrap_or_default();
        let weights: Vec<&[u8]> = messages(graph, GRAPH_INITIALIZER).map(|tensor| named(tensor, TENSOR_NAME)).collect();
        let inputs = messages(graph, GRAPH_INPUT).filter(|port| !weights.contains(&named(port, PORT_NAME)));
        let types = inputs.flat_map(|port| messages(port, PORT_TYPE)).flat_map(|of| messages(of, TENSOR));
        let dims = types.flat_map(|tensor| messages(tensor, SHAPE)).flat_map(|shape| messages(shape, DIM));
        for dim in dims.filter(|dim| numbers(dim, DIM_VALUE).next().is_none()) {
            let name = match named(dim, DIM_NAME) {
                b"" => "?".into(),
                name => String::from_utf8_lossy(name).into_owned(),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

// The numbers of fields that nobody else asks for.
const PORT_TYPE: u64 = 2;
const TENSOR: u64 = 1;
const ELEMENT: u64 = 1;
const SHAPE: u64 = 2;
const DIM: u64 = 1;
const DIM_VALUE: u64 = 1;
const DIM_NAME: u64 = 2;
const PORT_NAME: u64 = 1;

fn multiplies_integers(operator: &[u8]) -> bool {
    let starts = [&b"QLinear"[..], b"DynamicQuantize", b"MatMulInteger", b"ConvInteger"];
    starts.iter().any(|start| operator.starts_with(start))
}

/// The floating type that most elements have, of pairs of a type and a number of elements.
fn most(counted: impl Iterator<Item = (u64, u64)>) -> Option<Arithmetic> {
    let floats = [(FLOAT, Arithmetic::Float32), (FLOAT16, Arithmetic::Float16), (BFLOAT16, Arithmetic::BFloat16)];
    let mut sums = floats.map(|(data_type, kind)| (data_type as u64, kind, 0u64));
    for (data_type, size) in counted {
        sums.iter_mut().filter(|sum| sum.0 == data_type).for_each(|sum| sum.2 = sum.2.saturating_add(size));
    }
    sums.iter().filter(|sum| sum.2 > 0).max_by_key(|sum| sum.2).map(|sum| sum.1)
}

#[cfg(test)]
mod tests {
    use super::Arithmetic;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    /// A tensor of `size` elements; its dimension packed, as most writers do it.
    fn weights(data_type: u8, size: u8) -> Vec<u8> {
        field(5, &[&field(1, &[size])[..], &[2 << 3, data_type]].concat())
    }

    fn model(graph: &[Vec<u8>]) -> Vec<u8> {
        field(7, &graph.concat())
    }

    #[test]
    fn most_of_the_weights_decide() {
        let half = model(&[weights(1, 2), weights(10, 100), weights(7, 120)]);
        assert_eq!(Arithmetic::of(&half), Some(Arithmetic::Float16));
        let single = model(&[field(5, &[1 << 3, 100, 1 << 3, 2, 2 << 3, 1]), weights(10, 120)]);
        assert_eq!(Arithmetic::of(&single), Some(Arithmetic::Float32), "dimensions one by one");
    }

    #[test]
    fn integer_operators_and_quantization_points_are_seen() {
        let node = |name: &[u8]| field(1, &field(4, name));
        let integers = model(&[weights(1, 9), node(b"Relu"), node(b"QLinearConv")]);
        assert_eq!(Arithmetic::of(&integers), Some(Arithmetic::Int8));
        let points = model(&[weights(1, 9), node(b"QuantizeLinear")]);
        assert_eq!(Arithmetic::of(&points).and_then(Arithmetic::precision), None);
    }

    #[test]
    fn what_is_no_graph_says_nothing() {
        let whole = model(&[weights(1, 9)]);
        for broken in [&[][..], b"no protobuf at all", &whole[..whole.len() - 1], &[0xff; 30]] {
            assert_eq!(Arithmetic::of(broken), None);
        }
        assert_eq!(Arithmetic::of(&model(&[weights(7, 9)])), None, "only integers");
    }

    #[test]
    fn dynamic_dimensions_of_inputs_are_named_once() {
        let input = |name: &[u8], dims: &[Vec<u8>]| {
            let shape = field(2, &dims.iter().flat_map(|dim| field(1, dim)).collect::<Vec<u8>>());
            field(11, &[field(1, name), field(2, &field(1, &[&[1 << 3, 1][..], &shape].concat()))].concat())
        };
        let (batch, fixed, unnamed) = (field(2, b"batch"), vec![1 << 3, 7], vec![]);
        let weight = field(5, &field(8, b"w"));
        let model = model(&[
            weight,
            input(b"x", &[batch.clone(), fixed]),
            input(b"y", &[batch, unnamed.clone()]),
            input(b"w", &[unnamed]),
        ]);
        assert_eq!(super::open_dimensions(&model), ["batch", "?"]);
    }

    #[test]
    fn without_weights_the_ports_decide() {
        let port = field(11, &field(2, &field(1, &[1 << 3, 10])));
        assert_eq!(Arithmetic::of(&model(&[weights(7, 9), port.clone()])), Some(Arithmetic::Float16));
        assert_eq!(Arithmetic::of(&model(&[weights(1, 9), port])), Some(Arithmetic::Float32));
    }
}
