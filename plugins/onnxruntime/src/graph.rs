//! What a graph asks to be computed in, read from its file: ONNX Runtime tells the types of a session's ports, but not those
//! of its weights. A walk over the protobuf message, field by field, that skips all data.

use skillbench_onnx::messages::*;
use skillbench_onnx::{messages_of as messages, numbers_of as numbers};
use std::collections::HashSet;

/// The arithmetic that a graph is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Float32,
    Float16,
    BFloat16,
    /// Most of its products multiply integers.
    Int8,
    /// Most of its products stand between points where to quantize to 8 bits (QDQ): an engine that has integer products
    /// multiplies integers there.
    Quantized,
    /// Some products are of integers, or could be: the engine decides, and not for all alike.
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
            Arithmetic::Quantized | Arithmetic::Quantizable => None,
        }
    }

    /// Of the floating types, the one that most of the weights have; where there are none, that of the ports. `None` for
    /// a graph without floats, and for bytes that are no graph. Subgraphs are not looked into.
    pub(crate) fn of(model: &[u8]) -> Option<Arithmetic> {
        let graphs = || messages(model, MODEL_GRAPH);
        let products = graphs().map(Products::of).fold(Products::default(), Products::plus);
        match products {
            Products { all, integer, .. } if integer * 2 > all => return Some(Arithmetic::Int8),
            Products { all, quantized, .. } if quantized * 2 > all => return Some(Arithmetic::Quantized),
            Products { integer, points, .. } if integer + points > 0 => return Some(Arithmetic::Quantizable),
            _ => {}
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

/// The products of a graph: matrices, convolutions.
#[derive(Default)]
struct Products {
    all: usize,
    integer: usize,
    /// Of floats that were quantized to 8 bits just before.
    quantized: usize,
    /// Points where to quantize.
    points: usize,
}

/// The first text in the fields of one number.
fn first(message: &[u8], number: u64) -> &[u8] {
    messages(message, number).next().unwrap_or_default()
}

impl Products {
    fn of(graph: &[u8]) -> Products {
        const INPUT: u64 = 1;
        const OUTPUT: u64 = 2;
        let type_of = |name: &[u8]| {
            let named = messages(graph, GRAPH_INITIALIZER).find(|tensor| first(tensor, TENSOR_NAME) == name)?;
            numbers(named, TENSOR_TYPE).next()
        };
        // Without a zero point it is one of uint8.
        let eight_bits = |node: &[u8]| match messages(node, INPUT).nth(2).filter(|name| !name.is_empty()) {
            None => true,
            Some(zero) => matches!(type_of(zero), Some(2 | 3)),
        };
        let nodes = || messages(graph, GRAPH_NODE);
        let dequantizes = |node: &&[u8]| first(node, NODE_OPERATOR) == b"DequantizeLinear" && eight_bits(node);
        let dequantized: HashSet<&[u8]> = nodes().filter(dequantizes).map(|node| first(node, OUTPUT)).collect();
        let mut found = Products::default();
        for node in nodes() {
            match first(node, NODE_OPERATOR) {
                b"QLinearMatMul" | b"QLinearConv" | b"MatMulInteger" | b"ConvInteger" | b"QGemm" => {
                    (found.all, found.integer) = (found.all + 1, found.integer + 1);
                }
                b"MatMul" | b"Gemm" | b"Conv" | b"ConvTranspose" => {
                    let both = messages(node, INPUT).take(2).all(|input| dequantized.contains(input));
                    (found.all, found.quantized) = (found.all + 1, found.quantized + usize::from(both));
                }
                b"QuantizeLinear" | b"DequantizeLinear" => found.points += 1,
                _ => {}
            }
        }
        found
    }

    fn plus(self, other: Products) -> Products {
        Products {
            all: self.all + other.all,
            integer: self.integer + other.integer,
            quantized: self.quantized + other.quantized,
            points: self.points + other.points,
        }
    }
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
    fn most_of_the_products_have_to_be_quantized() {
        let node = |operator: &[u8], inputs: &[&[u8]], output: &[u8]| {
            let inputs: Vec<u8> = inputs.iter().flat_map(|name| field(1, name)).collect();
            field(1, &[inputs, field(2, output), field(4, operator)].concat())
        };
        let (a, b) = (node(b"DequantizeLinear", &[b"p", b"s"], b"a"), node(b"DequantizeLinear", &[b"q", b"s"], b"b"));
        let product = node(b"MatMul", &[b"a", b"b"], b"y");
        let float = node(b"MatMul", &[b"a", b"x"], b"z");
        let all = model(&[a.clone(), b.clone(), product.clone()]);
        assert_eq!(Arithmetic::of(&all), Some(Arithmetic::Quantized));
        assert_eq!(Arithmetic::of(&model(&[a, b, product, float])), Some(Arithmetic::Quantizable), "half of them");
        let wide = field(5, &[&[2 << 3, 5][..], &field(8, b"zero")].concat());
        let sixteen = |of: &[u8], into: &[u8]| node(b"DequantizeLinear", &[of, b"s", b"zero"], into);
        let wide = model(&[wide, sixteen(b"p", b"a"), sixteen(b"q", b"b"), node(b"MatMul", &[b"a", b"b"], b"y")]);
        assert_eq!(Arithmetic::of(&wide), Some(Arithmetic::Quantizable), "16 bits");
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
