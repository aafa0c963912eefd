//! Which nodes of a graph compute with shapes alone. ONNX Runtime has the shape of a tensor on the processor, whatever holds the tensor, and
//! so leaves arithmetic of shapes there. What follows from the elements of an input or a weight is none of it.

use crate::products::first;
use skillbench_onnx::messages::*;
use skillbench_onnx::{messages_of as messages, numbers_of as numbers};
use std::collections::HashSet;

/// Operators of the standard domain that make few numbers of few. `Range` and `Expand`, which make as many as a shape says, are work.
const OF_FEW: [&[u8]; 21] = [
    b"Add",
    b"Cast",
    b"Concat",
    b"Constant",
    b"Div",
    b"Equal",
    b"Gather",
    b"Identity",
    b"Max",
    b"Min",
    b"Mod",
    b"Mul",
    b"Neg",
    b"ReduceProd",
    b"Reshape",
    b"Slice",
    b"Squeeze",
    b"Sub",
    b"Transpose",
    b"Unsqueeze",
    b"Where",
];
/// These tell the shape of any tensor.
const TELL: [&[u8]; 2] = [b"Shape", b"Size"];
/// A constant with more elements is no shape.
const MOST: u64 = 64;

/// The nodes whose inputs follow from shapes and small constants, and from nothing else, each by its name and operator. A node without a name
/// is not among them, nor is one in a subgraph, nor one whose name another has.
pub(crate) fn of_shapes(model: &[u8]) -> HashSet<(String, String)> {
    let (mut found, mut named, mut twice) = (HashSet::new(), HashSet::new(), HashSet::new());
    for graph in messages(model, MODEL_GRAPH) {
        // Old files list constants among the inputs, where others may take their place.
        let inputs: HashSet<&[u8]> = messages(graph, GRAPH_INPUT).map(|input| first(input, VALUE_NAME)).collect();
        let constants = messages(graph, GRAPH_INITIALIZER).filter(|constant| is_small(constant));
        let mut known: HashSet<&[u8]> = constants.map(name).filter(|name| !inputs.contains(name)).collect();
        // Nodes stand after those whose outputs they take.
        for node in messages(graph, GRAPH_NODE) {
            let follows = || messages(node, NODE_INPUT).all(|input| input.is_empty() || known.contains(input));
            let operator = first(node, NODE_OPERATOR);
            let standard = matches!(first(node, NODE_DOMAIN), b"" | b"ai.onnx");
            let text = |number| String::from_utf8_lossy(first(node, number)).into_owned();
            let name = text(NODE_NAME);
            if !named.insert(name.clone()) {
                twice.insert(name.clone());
            }
            if standard
                && (TELL.contains(&operator) || (OF_FEW.contains(&operator) && is_small_constant(node) && follows()))
            {
                known.extend(messages(node, NODE_OUTPUT));
                found.insert((name, text(NODE_OPERATOR)));
            }
        }
    }
    found.retain(|(name, _)| !name.is_empty() && !twice.contains(name));
    found
}

/// Whether a node holds no tensor that is more than a shape.
fn is_small_constant(node: &[u8]) -> bool {
    let attributes = || messages(node, NODE_ATTRIBUTE);
    let tensors = || attributes().flat_map(|attribute| messages(attribute, ATTRIBUTE_TENSOR));
    first(node, NODE_OPERATOR) != b"Constant"
        || (attributes().count() == 1 && tensors().count() == 1 && tensors().all(is_small))
}

/// The name of a port, in its message.
const VALUE_NAME: u64 = 1;

fn name(tensor: &[u8]) -> &[u8] {
    first(tensor, TENSOR_NAME)
}

fn is_small(tensor: &[u8]) -> bool {
    numbers(tensor, TENSOR_DIMS)
        .try_fold(1u64, |all, dim| all.checked_mul(dim))
        .is_some_and(|elements| elements <= MOST)
}

#[cfg(test)]
mod tests {
    use super::of_shapes;
    use skillbench_onnx::messages::*;
    use skillbench_onnx::{Graph, Model};

    fn named(name: &str, operator: &str, inputs: &[&str]) -> Node {
        Node { name: name.into(), ..Node::new(operator, inputs, name) }
    }

    fn found(node: Vec<Node>, initializer: Vec<Tensor>) -> Vec<String> {
        let model = Model::new("test", 17, Graph { node, initializer, ..Graph::default() }).encode_to_vec();
        let mut names: Vec<String> = of_shapes(&model).into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }

    #[test]
    fn arithmetic_of_shapes_is_told_from_that_of_tensors() {
        let nodes = vec![
            named("shape", "Shape", &["x"]),
            named("one", "Gather", &["shape", "small"]),
            named("target", "Concat", &["one", "small"]),
            named("reshaped", "Reshape", &["x", "target"]),
            named("sum", "Add", &["x", "one"]),
            named("weights", "Gather", &["large", "one"]),
            named("", "Neg", &["one"]),
            named("of two", "Neg", &["one"]),
            Node { output: vec!["again".into()], ..named("of two", "Add", &["x", "x"]) },
            named("positions", "Range", &["one", "one", "small"]),
        ];
        let constants = vec![Tensor::of_int64("small", &[1], &[0]), Tensor::of_int64("large", &[65], &[0; 65])];
        assert_eq!(found(nodes, constants), ["one", "shape", "target"]);
    }

    #[test]
    fn what_makes_tensors_of_shapes_or_is_of_another_domain_is_none_of_it() {
        let random = named("random", "RandomNormal", &[]);
        let expanded = named("expanded", "Expand", &["small", "small"]);
        let own = Node { domain: "vendor".into(), ..named("own", "Add", &["small", "small"]) };
        assert!(found(vec![random, expanded, own], vec![Tensor::of_int64("small", &[1], &[0])]).is_empty());
        assert!(of_shapes(b"no model").is_empty());
    }
}
