//! Which nodes of a graph compute with shapes alone. ONNX Runtime has the shape of a tensor on the processor, whatever holds the tensor, and
//! so leaves arithmetic of shapes there: no element of a tensor is computed beside the device.

use skillbench_onnx::messages::*;
use skillbench_onnx::{messages_of as messages, numbers_of as numbers};
use std::collections::HashSet;

/// Operators that make a few numbers of a few others, and are in the standard domain.
const OF_FEW: [&[u8]; 22] = [
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
    b"Range",
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

/// The names of the nodes whose inputs follow from shapes and small constants, and from nothing else. A node without a name is not among
/// them, nor is one in a subgraph.
pub(crate) fn of_shapes(model: &[u8]) -> HashSet<String> {
    let mut names = HashSet::new();
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
            let mut held = messages(node, NODE_ATTRIBUTE).flat_map(|attribute| messages(attribute, ATTRIBUTE_TENSOR));
            if standard && held.all(is_small) && (TELL.contains(&operator) || (OF_FEW.contains(&operator) && follows()))
            {
                known.extend(messages(node, NODE_OUTPUT));
                names.extend(
                    std::str::from_utf8(first(node, NODE_NAME)).ok().filter(|name| !name.is_empty()).map(String::from),
                );
            }
        }
    }
    names
}

/// The name of a port, in its message.
const VALUE_NAME: u64 = 1;

/// The first text in the fields of one number.
fn first(message: &[u8], number: u64) -> &[u8] {
    messages(message, number).next().unwrap_or_default()
}

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
        let mut names: Vec<String> = of_shapes(&model).into_iter().collect();
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
