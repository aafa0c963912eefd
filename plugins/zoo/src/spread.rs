//! The rule `weights/2`: how widely the weights of each layer are spread, so that what an input says reaches the outputs.
//!
//! Weights as small as training begins with let the signal of an input die out between biases: an efficientnet then answers every
//! image with the same numbers, and a plugin that returns a constant is right. So the weights of convolutions and products get the
//! deviation sqrt(gain / fan-in) (He and others, 2015, <https://arxiv.org/abs/1502.01852>): what comes out of a layer is as large as
//! what went in. The gain makes up for what the activation before the layer takes away. A layer that ends a residual branch gets
//! less where there are many, so that a sum of all stays in float16.
//!
//! All other tensors keep the rule of their skeleton.

use crate::graph::broken;
use skillbench_onnx::messages::*;
use skillbench_onnx::messages_of;
use skillbench_plugin_api::Result;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Over the mean square of what an activation leaves of a standard normal number: sum of squares that it takes away.
const OF_RECTIFIER: f64 = 2.0;
const OF_SWISH: f64 = 2.8;
const OF_GELU: f64 = 2.35;
/// A gate lets one half through.
const OF_GATE: f64 = 4.0;
/// From so many residual additions on, each branch adds less.
const ADDITIONS: f64 = 4.0;
/// Operators are followed no further than that.
const FAR: usize = 40;
/// From the last layer of a branch to the addition there are no more operators.
const NEAR: usize = 6;

/// A graph by its names.
struct Graph {
    nodes: Vec<Node>,
    maker: HashMap<String, usize>,
    users: HashMap<String, Vec<(usize, usize)>>,
    stored: HashSet<String>,
}

/// The deviation of each tensor that is the weight of layers and nothing else.
///
/// # Errors
/// Bytes that are no graph.
pub fn deviations(graph: &[u8]) -> Result<BTreeMap<String, f64>> {
    let nodes = decoded::<Node>(graph, GRAPH_NODE)?;
    let tensors = decoded::<Tensor>(graph, GRAPH_INITIALIZER)?;
    let graph = Graph::new(nodes, tensors.iter().map(|tensor| tensor.name.clone()).collect());
    let share = (graph.additions() as f64 / ADDITIONS).max(1.0);
    let spread = |tensor: &Tensor| {
        let users = graph.users.get(&tensor.name)?;
        let each = users.iter().map(|(node, place)| graph.variance(&graph.nodes[*node], *place, &tensor.dims, share));
        // One that is a look-up table too keeps its rule.
        each.collect::<Option<Vec<f64>>>()?.first().map(|variance| (tensor.name.clone(), variance.sqrt()))
    };
    Ok(tensors.iter().filter_map(spread).collect())
}

pub fn decoded<T: Message + Default>(graph: &[u8], number: u64) -> Result<Vec<T>> {
    let decode = |bytes| T::decode(bytes).map_err(|error| broken(format!("in a graph: {error}")));
    messages_of(graph, number).map(decode).collect()
}

impl Graph {
    fn new(nodes: Vec<Node>, stored: HashSet<String>) -> Graph {
        let mut users: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let mut maker = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            for (place, input) in node.input.iter().enumerate() {
                users.entry(input.clone()).or_default().push((index, place));
            }
            maker.extend(node.output.iter().map(|output| (output.clone(), index)));
        }
        Graph { nodes, maker, users, stored }
    }

    fn maker(&self, value: &str) -> Option<&Node> {
        self.maker.get(value).map(|index| &self.nodes[*index])
    }

    /// Additions of two computed values.
    fn additions(&self) -> usize {
        let computed = |node: &&Node| node.op_type == "Add" && node.input.iter().all(|i| self.maker.contains_key(i));
        self.nodes.iter().filter(computed).count()
    }

    /// Of the weights at an input of a node, so that its output is as large as its input; `None`: they are no weights of a layer.
    fn variance(&self, node: &Node, place: usize, dims: &[i64], share: f64) -> Option<f64> {
        let fan_in = match (node.op_type.as_str(), place, dims) {
            ("Conv", 1, [_, rest @ ..]) if rest.len() > 1 => rest.iter().product(),
            ("ConvTranspose", 1, [first, _, rest @ ..]) if !rest.is_empty() => first * rest.iter().product::<i64>(),
            ("MatMul", 1, [.., rows, _]) => *rows,
            ("MatMul", 0, [.., _, columns]) => *columns,
            ("Gemm", 1, [rows, columns]) => {
                let transposed = node.attribute.iter().any(|a| a.name == "transB" && a.i != 0);
                if transposed { *columns } else { *rows }
            }
            _ => return None,
        };
        let data = node.input.get(usize::from(place == 0))?;
        let share = if self.ends_branch(node.output.first()?, 0) { share } else { 1.0 };
        (fan_in > 0).then(|| self.gain(data, 0) / fan_in as f64 / share)
    }

    /// What the activation took away that made a value.
    fn gain(&self, value: &str, depth: usize) -> f64 {
        let Some(node) = self.maker(value).filter(|_| depth < FAR) else { return 1.0 };
        match node.op_type.as_str() {
            "Relu" | "PRelu" | "LeakyRelu" | "Clip" => OF_RECTIFIER,
            "HardSwish" | "Swish" => OF_SWISH,
            "Gelu" => OF_GELU,
            "Mul" => self.gain_of_product(&node.input, depth),
            _ if passes(node) => node.input.first().map_or(1.0, |input| self.gain(input, depth + 1)),
            _ => 1.0,
        }
    }

    /// x times the sigmoid of x is a Swish, and x times an error function a GELU, also where they are put together of smaller
    /// operators; x times the sigmoid of another value is gated by it.
    fn gain_of_product(&self, inputs: &[String], depth: usize) -> f64 {
        let [one, other] = inputs else { return 1.0 };
        for (factor, x) in [(one, other), (other, one)] {
            let Some(node) = self.maker(factor) else { continue };
            let is_error = |name: &String| self.maker(name).is_some_and(|node| is_one_of(node, &["Erf", "Tanh"]));
            match node.op_type.as_str() {
                "Sigmoid" | "HardSigmoid" => {
                    let of = node.input.first();
                    let scaled = of.and_then(|of| self.maker(of)).is_some_and(|node| node.input.contains(x));
                    let of_itself = of == Some(x) || scaled;
                    return if of_itself { OF_SWISH } else { OF_GATE * self.gain(x, depth + 1) };
                }
                "Erf" | "Tanh" => return OF_GELU,
                "Add" if node.input.iter().any(is_error) => return OF_GELU,
                _ => {}
            }
        }
        1.0
    }

    /// Whether a value goes, through a bias and changes of shape alone, to an addition with what was there before, and nowhere else.
    fn ends_branch(&self, value: &str, depth: usize) -> bool {
        let Some([(node, place)]) = self.users.get(value).map(Vec::as_slice) else { return false };
        let node = &self.nodes[*node];
        let follow = || depth < NEAR && node.output.first().is_some_and(|output| self.ends_branch(output, depth + 1));
        match node.op_type.as_str() {
            "Add" => match node.input.get(1 - place.min(&1)) {
                Some(other) if self.stored.contains(other) => follow(),
                // Where both sides come out of layers, neither is what was there before.
                Some(other) => self.maker.contains_key(other) && !self.is_of_layer(other, 0),
                None => false,
            },
            "Mul" => node.input.iter().any(|input| self.stored.contains(input)) && follow(),
            "BatchNormalization" => follow(),
            _ => passes(node) && follow(),
        }
    }

    /// Whether a value is what a layer gives, through a bias and changes of shape alone.
    fn is_of_layer(&self, value: &str, depth: usize) -> bool {
        let Some(node) = self.maker(value).filter(|_| depth < NEAR) else { return false };
        let computed = || node.input.iter().find(|input| !self.stored.contains(*input));
        let back = || computed().is_some_and(|input| self.is_of_layer(input, depth + 1));
        match node.op_type.as_str() {
            "Conv" | "MatMul" | "Gemm" => node.input.iter().any(|input| self.stored.contains(input)),
            "Add" | "Mul" => node.input.iter().any(|input| self.stored.contains(input)) && back(),
            "BatchNormalization" => back(),
            _ => passes(node) && back(),
        }
    }
}

fn is_one_of(node: &Node, operators: &[&str]) -> bool {
    operators.contains(&node.op_type.as_str())
}

/// What comes out of it is as large as its first input.
fn passes(node: &Node) -> bool {
    const SHAPES: [&str; 22] = [
        "Reshape",
        "Transpose",
        "Flatten",
        "Pad",
        "Squeeze",
        "Unsqueeze",
        "Slice",
        "Split",
        "Concat",
        "MaxPool",
        "AveragePool",
        "Identity",
        "Cast",
        "Dropout",
        "ReduceMean",
        "GlobalAveragePool",
        "Expand",
        "Gather",
        "Resize",
        "DepthToSpace",
        "SpaceToDepth",
        "Tile",
    ];
    is_one_of(node, &SHAPES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(name: &str, dims: &[i64]) -> Tensor {
        Tensor { name: name.into(), dims: dims.to_vec(), data_type: FLOAT, ..Tensor::default() }
    }

    /// The deviations of a graph with these nodes, squared and times the fan-in.
    fn gains(nodes: &[Node], tensors: &[Tensor]) -> BTreeMap<String, f64> {
        use skillbench_onnx::fields::put;
        let mut graph = vec![];
        nodes.iter().for_each(|node| put(&mut graph, GRAPH_NODE, &node.encode_to_vec()));
        tensors.iter().for_each(|tensor| put(&mut graph, GRAPH_INITIALIZER, &tensor.encode_to_vec()));
        let found = deviations(&graph).unwrap();
        let fan_in = |name: &str| {
            let dims = &tensors.iter().find(|tensor| tensor.name == name).unwrap().dims;
            if dims.len() == 4 { dims[1..].iter().product::<i64>() } else { dims[0] }
        };
        let gain = |(name, deviation): (String, f64)| {
            let gain = deviation * deviation * fan_in(&name) as f64;
            (name, (gain * 1e6).round() / 1e6)
        };
        found.into_iter().map(gain).collect()
    }

    #[test]
    fn a_layer_makes_up_for_the_activation_before_it() {
        let nodes = [
            Node::new("Conv", &["x", "first"], "a"),
            Node::new("Relu", &["a"], "b"),
            Node::new("MaxPool", &["b"], "c"),
            Node::new("Conv", &["c", "after_relu"], "d"),
            Node::new("Sigmoid", &["d"], "s"),
            Node::new("Mul", &["d", "s"], "e"),
            Node::new("Flatten", &["e"], "f"),
            Node::new("MatMul", &["f", "after_swish"], "g"),
            Node::new("Sigmoid", &["h"], "gate"),
            Node::new("Mul", &["g", "gate"], "i"),
            Node::new("MatMul", &["i", "after_gate"], "y"),
        ];
        let conv = |name| weight(name, &[8, 4, 3, 3]);
        let product = |name| weight(name, &[16, 4]);
        let tensors = [conv("first"), conv("after_relu"), product("after_swish"), product("after_gate")];
        let expected = [("first", 1.0), ("after_relu", 2.0), ("after_swish", 2.8), ("after_gate", 4.0)];
        assert_eq!(gains(&nodes, &tensors), expected.map(|(name, gain)| (name.into(), gain)).into());
    }

    #[test]
    fn where_there_are_many_residual_additions_each_branch_adds_less() {
        let mut nodes = vec![];
        for index in 0..8 {
            let name = |what: &str| format!("{what}{index}");
            let before = if index == 0 { "x".into() } else { format!("sum{}", index - 1) };
            nodes.push(Node::new("Relu", &[&before], &name("r")));
            nodes.push(Node::new("MatMul", &[&name("r"), "w"], &name("branch")));
            nodes.push(Node::new("Add", &[&name("branch"), "bias"], &name("biased")));
            nodes.push(Node::new("Add", &[&name("biased"), &name("r")], &name("sum")));
        }
        let found = gains(&nodes, &[weight("w", &[16, 16]), weight("bias", &[16])]);
        assert_eq!(found, [("w".into(), 1.0)].into(), "a gain of 2, over eight additions by four");
    }

    #[test]
    fn what_a_branch_is_added_to_keeps_its_size() {
        let mut nodes = vec![];
        for index in 0..8 {
            let name = |what: &str| format!("{what}{index}");
            nodes.push(Node::new("Conv", &["x", &name("trunk")], &name("t")));
            nodes.push(Node::new("Relu", &[&name("t")], &name("r")));
            nodes.push(Node::new("Conv", &[&name("r"), &name("branch")], &name("b")));
            nodes.push(Node::new("Add", &[&name("r"), &name("b")], &name("sum")));
            nodes.push(Node::new("Conv", &[&name("sum"), &name("one")], &name("o")));
            nodes.push(Node::new("Conv", &["x", &name("other")], &name("p")));
            nodes.push(Node::new("Add", &[&name("o"), &name("p")], &name("both")));
        }
        let names = (0..8).flat_map(|index| ["trunk", "branch", "one", "other"].map(|what| format!("{what}{index}")));
        let tensors: Vec<Tensor> = names.map(|name| weight(&name, &[4, 4, 1, 1])).collect();
        let found = gains(&nodes, &tensors);
        let of = |what: &str| found.iter().filter(|(name, _)| name.starts_with(what)).map(|(_, gain)| *gain).collect();
        let all: [Vec<f64>; 4] = ["trunk", "branch", "one", "other"].map(of);
        assert_eq!(all, [vec![1.0; 8], vec![0.5; 8], vec![1.0; 8], vec![1.0; 8]]);
    }

    #[test]
    fn what_is_no_weight_of_a_layer_alone_keeps_its_rule() {
        let nodes = [
            Node::new("Gather", &["table", "ids"], "a"),
            Node::new("MatMul", &["a", "table"], "b"),
            Node::new("Conv", &["b", "w", "bias"], "y"),
        ];
        let tensors = [weight("table", &[16, 16]), weight("bias", &[8]), weight("w", &[8, 4, 1, 1])];
        assert_eq!(gains(&nodes, &tensors).into_keys().collect::<Vec<_>>(), ["w"]);
    }
}
