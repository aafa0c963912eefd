//! The products of a graph, and how many of them are of integers: most of the work is in them.

use skillbench_onnx::messages::*;
use skillbench_onnx::{messages_of as messages, numbers_of as numbers};
use std::collections::HashSet;

/// The products of a graph: matrices, convolutions.
#[derive(Default)]
pub(crate) struct Products {
    pub all: usize,
    pub integer: usize,
    /// Of floats that were quantized to 8 bits just before.
    pub quantized: usize,
    /// Of weights in 4 bits.
    pub int4: usize,
    /// Of weights in another number of bits, in blocks.
    pub narrow: usize,
    /// Of those two, the ones that are asked to compute in float32.
    pub in_float32: usize,
    /// Points where to quantize.
    pub points: usize,
}

/// The first text in the fields of one number.
pub(crate) fn first(message: &[u8], number: u64) -> &[u8] {
    messages(message, number).next().unwrap_or_default()
}

/// The weights that are cast to float32 before anything is computed with them: they are stored in less.
pub(crate) fn widened(model: &[u8]) -> HashSet<Vec<u8>> {
    let mut found: HashSet<Vec<u8>> = HashSet::new();
    for graph in messages(model, MODEL_GRAPH) {
        let nodes = || messages(graph, GRAPH_NODE);
        let is = |node: &&[u8], operator: &[u8]| first(node, NODE_OPERATOR) == operator;
        let to_float32 = |node: &&[u8]| number_of(node, b"to") == Some(FLOAT as u64);
        let data = |node: &[u8]| first(node, NODE_INPUT).to_vec();
        found.extend(nodes().filter(|node| is(node, b"Cast") && to_float32(node)).map(data));
        // A table, of which the rows that are looked up are cast.
        let rows = nodes().filter(|node| is(node, b"Gather") && found.contains(first(node, NODE_OUTPUT)));
        found.extend(rows.map(data).collect::<Vec<_>>());
    }
    found
}

/// An attribute of a node that is a whole number.
fn number_of(node: &[u8], name: &[u8]) -> Option<u64> {
    let named = messages(node, NODE_ATTRIBUTE).find(|attribute| first(attribute, ATTRIBUTE_NAME) == name)?;
    numbers(named, ATTRIBUTE_NUMBER).next()
}

impl Products {
    /// Those of a model's graph; none in bytes that are no model.
    pub fn of(model: &[u8]) -> Products {
        messages(model, MODEL_GRAPH).map(Products::of_graph).fold(Products::default(), Products::plus)
    }

    fn of_graph(graph: &[u8]) -> Products {
        let type_of = |name: &[u8]| {
            let named = messages(graph, GRAPH_INITIALIZER).find(|tensor| first(tensor, TENSOR_NAME) == name)?;
            numbers(named, TENSOR_TYPE).next()
        };
        // Without a zero point it is one of uint8.
        let eight_bits = |node: &[u8]| match messages(node, NODE_INPUT).nth(2).filter(|name| !name.is_empty()) {
            None => true,
            Some(zero) => matches!(type_of(zero), Some(2 | 3)),
        };
        let nodes = || messages(graph, GRAPH_NODE);
        let dequantizes = |node: &&[u8]| first(node, NODE_OPERATOR) == b"DequantizeLinear" && eight_bits(node);
        let dequantized: HashSet<&[u8]> = nodes().filter(dequantizes).map(|node| first(node, NODE_OUTPUT)).collect();
        let mut found = Products::default();
        for node in nodes() {
            match first(node, NODE_OPERATOR) {
                b"QLinearMatMul"
                | b"QLinearConv"
                | b"MatMulInteger"
                | b"ConvInteger"
                | b"QGemm"
                | b"QAttention"
                | b"MatMulIntegerToFloat"
                | b"DynamicQuantizeMatMul" => {
                    (found.all, found.integer) = (found.all + 1, found.integer + 1);
                }
                b"MatMulNBits" => {
                    let four = usize::from(number_of(node, b"bits").is_none_or(|bits| bits == 4));
                    (found.all, found.int4, found.narrow) = (found.all + 1, found.int4 + four, found.narrow + 1 - four);
                    found.in_float32 += usize::from(number_of(node, b"accuracy_level") == Some(1));
                }
                // As the optimizer writes them.
                b"FusedMatMul"
                | b"FusedGemm"
                | b"FusedConv"
                | b"NhwcFusedConv"
                | b"TransposeMatMul"
                | b"Attention"
                | b"MultiHeadAttention"
                | b"GroupQueryAttention" => found.all += 1,
                b"MatMul" | b"Gemm" | b"Conv" | b"ConvTranspose" => {
                    let both = messages(node, NODE_INPUT).take(2).all(|input| dequantized.contains(input));
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
            int4: self.int4 + other.int4,
            narrow: self.narrow + other.narrow,
            in_float32: self.in_float32 + other.in_float32,
            points: self.points + other.points,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    fn model(graph: &[Vec<u8>]) -> Vec<u8> {
        let mut model = vec![];
        skillbench_onnx::fields::put(&mut model, MODEL_GRAPH, &graph.concat());
        model
    }

    /// All, those of integers, and those that are quantized.
    fn count(model: &[u8]) -> (usize, usize, usize) {
        let Products { all, integer, quantized, .. } = Products::of(model);
        (all, integer, quantized)
    }

    #[test]
    fn products_count_by_what_they_multiply() {
        let node = |operator: &[u8], inputs: &[&[u8]], output: &[u8]| {
            let inputs: Vec<u8> = inputs.iter().flat_map(|name| field(1, name)).collect();
            field(1, &[inputs, field(2, output), field(4, operator)].concat())
        };
        let (a, b) = (node(b"DequantizeLinear", &[b"p", b"s"], b"a"), node(b"DequantizeLinear", &[b"q", b"s"], b"b"));
        let product = node(b"MatMul", &[b"a", b"b"], b"y");
        let float = node(b"MatMul", &[b"a", b"x"], b"z");
        let all = model(&[a.clone(), b.clone(), product.clone()]);
        assert_eq!(count(&all), (1, 0, 1));
        assert_eq!(count(&model(&[a, b, product, float])), (2, 0, 1), "half of them");
        let wide = field(5, &[&[2 << 3, 5][..], &field(8, b"zero")].concat());
        let sixteen = |of: &[u8], into: &[u8]| node(b"DequantizeLinear", &[of, b"s", b"zero"], into);
        let wide = model(&[wide, sixteen(b"p", b"a"), sixteen(b"q", b"b"), node(b"MatMul", &[b"a", b"b"], b"y")]);
        assert_eq!(count(&wide), (1, 0, 0), "16 bits");
        let integers = model(&[node(b"Relu", &[], b"r"), node(b"QLinearConv", &[], b"c")]);
        assert_eq!(count(&integers), (1, 1, 0));
    }
}
