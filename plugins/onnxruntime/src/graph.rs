//! What a graph asks to be computed in, read from its file: ONNX Runtime tells the types of a session's ports, but not those
//! of its weights.

use crate::products::{Products, widened};
use skillbench_onnx::messages::{BFLOAT16, FLOAT, FLOAT16};
use skillbench_onnx::{Declared, Stored};

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
    /// Most of its products multiply weights in 4 bits.
    Int4,
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
            Arithmetic::Int4 => Some("int4"),
            Arithmetic::Quantized | Arithmetic::Quantizable => None,
        }
    }

    /// Of the floating types, the one in which most of the weights are computed with; where there are none, that of the ports. `None`
    /// for a graph without floats. Subgraphs are not looked into.
    pub(crate) fn of(model: &[u8], declared: &Declared) -> Option<Arithmetic> {
        let products = Products::of(model);
        match &products {
            Products { all, integer, .. } if integer * 2 > *all => return Some(Arithmetic::Int8),
            Products { all, int4, .. } if int4 * 2 > *all => return Some(Arithmetic::Int4),
            Products { all, quantized, .. } if quantized * 2 > *all => return Some(Arithmetic::Quantized),
            Products { integer, points, .. } if integer + points > 0 => return Some(Arithmetic::Quantizable),
            _ => {}
        }
        Arithmetic::of_floats(model, declared)
    }

    /// What a graph computes floats in, wherever integers are.
    pub(crate) fn of_floats(model: &[u8], declared: &Declared) -> Option<Arithmetic> {
        let widened = widened(model);
        let computed = |weight: &Stored| if widened.contains(weight.name.as_bytes()) { FLOAT } else { weight.element };
        let weights = declared.weights.iter().map(|weight| (computed(weight), weight.count));
        let ports = declared.inputs.iter().chain(&declared.outputs);
        most(weights).or_else(|| most(ports.filter_map(|port| port.element()).map(|element| (element, 1))))
    }
}

/// The names of the inputs' dynamic dimensions, once each; "?" for one without a name.
pub(crate) fn open_dimensions(declared: &Declared) -> Vec<&str> {
    let mut names = vec![];
    let dims = declared.inputs.iter().flat_map(|input| input.dims().unwrap_or_default());
    for name in dims.filter(|dim| dim.fixed().is_none()).map(|dim| dim.name().unwrap_or("?")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The floating type that most elements have, of pairs of a type and a number of elements.
fn most(counted: impl Iterator<Item = (i32, u64)>) -> Option<Arithmetic> {
    let floats = [(FLOAT, Arithmetic::Float32), (FLOAT16, Arithmetic::Float16), (BFLOAT16, Arithmetic::BFloat16)];
    let mut sums = floats.map(|(element, kind)| (element, kind, 0u64));
    for (element, count) in counted {
        sums.iter_mut().filter(|sum| sum.0 == element).for_each(|sum| sum.2 = sum.2.saturating_add(count));
    }
    sums.iter().filter(|sum| sum.2 > 0).max_by_key(|sum| sum.2).map(|sum| sum.1)
}

#[cfg(test)]
mod tests {
    use super::{Arithmetic, open_dimensions};
    use skillbench_onnx::messages::*;
    use skillbench_onnx::{Declared, Graph, Model};

    /// A tensor of so many elements.
    fn weights(element: i32, count: i64) -> Tensor {
        Tensor::of_bytes("w", element, &[count], vec![])
    }

    fn declared(graph: &[u8]) -> Declared {
        Declared::of(graph).unwrap()
    }

    fn model(graph: Graph) -> Vec<u8> {
        Model::new("test", 17, graph).encode_to_vec()
    }

    fn of(initializer: Vec<Tensor>, operators: &[&str], element: Option<i32>) -> Option<Arithmetic> {
        let node = operators.iter().map(|operator| Node::new(operator, &["x"], "y")).collect();
        let input = element.iter().map(|element| ValueInfo::of_tensor("x", *element, vec![])).collect();
        let model = model(Graph { node, initializer, input, ..Graph::default() });
        Arithmetic::of(&model, &declared(&model))
    }

    #[test]
    fn most_of_the_weights_decide() {
        let half = vec![weights(FLOAT, 2), weights(FLOAT16, 100), weights(INT64, 120)];
        assert_eq!(of(half, &[], None), Some(Arithmetic::Float16));
        let single = Tensor::of_bytes("w", FLOAT, &[100, 2], vec![]);
        assert_eq!(of(vec![single, weights(FLOAT16, 120)], &[], None), Some(Arithmetic::Float32), "all dimensions");
        assert_eq!(of(vec![weights(INT64, 9)], &[], None), None, "only integers");
    }

    #[test]
    fn weights_that_are_cast_to_float32_are_computed_with_in_float32() {
        let cast = |from: &str, to: &str| Node::new("Cast", &[from], to).with("to", i64::from(FLOAT));
        let node = vec![cast("w", "wide"), Node::new("MatMul", &["x", "wide"], "y")];
        let graph = Graph { node, initializer: vec![weights(FLOAT16, 100)], ..Graph::default() };
        let model = model(graph);
        assert_eq!(Arithmetic::of(&model, &declared(&model)), Some(Arithmetic::Float32));
    }

    #[test]
    fn integer_operators_and_quantization_points_are_seen() {
        assert_eq!(of(vec![weights(FLOAT, 9)], &["Relu", "QLinearConv"], None), Some(Arithmetic::Int8));
        let points = of(vec![weights(FLOAT, 9)], &["QuantizeLinear"], None);
        assert_eq!(points, Some(Arithmetic::Quantizable));
        assert_eq!(points.and_then(Arithmetic::precision), None);
    }

    #[test]
    fn dynamic_dimensions_of_inputs_are_named_once() {
        let named = |name: &str| Size::Named(name.into());
        let input = vec![
            ValueInfo::of_tensor("x", FLOAT, vec![named("batch"), Size::Fixed(7)]),
            ValueInfo::of_tensor("y", FLOAT, vec![named("batch"), named("")]),
            ValueInfo::of_tensor("w", FLOAT, vec![named("of a weight")]),
        ];
        let graph = Graph { initializer: vec![weights(FLOAT, 1)], input, ..Graph::default() };
        assert_eq!(open_dimensions(&declared(&model(graph))), ["batch", "?"]);
    }

    #[test]
    fn without_weights_the_ports_decide() {
        assert_eq!(of(vec![weights(INT64, 9)], &[], Some(FLOAT16)), Some(Arithmetic::Float16));
        assert_eq!(of(vec![weights(FLOAT, 9)], &[], Some(FLOAT16)), Some(Arithmetic::Float32));
    }
}
