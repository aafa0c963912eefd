//! Small graphs.

use skillbench_onnx::messages::*;
use skillbench_onnx::{Graph, Model};
use std::path::{Path, PathBuf};

/// A port of rank 1 with the symbolic size `n`.
pub fn port(name: &str, element: i32) -> ValueInfo {
    ValueInfo::of_tensor(name, element, vec![Size::Named("n".into())])
}

/// A graph of one node from `x` to `y`.
pub fn graph(operator: &str, element: i32) -> Graph {
    Graph {
        node: vec![Node::new(operator, &["x"], "y")],
        input: vec![port("x", element)],
        output: vec![port("y", element)],
        ..Graph::default()
    }
}

/// Of `x`, whose rows and columns are both free, what is more than zero.
pub fn of_two_axes() -> Graph {
    let port = |name: &str| {
        let size = |name: &str| Size::Named(name.into());
        ValueInfo::of_tensor(name, FLOAT, vec![size("batch"), size("sequence")])
    };
    Graph { input: vec![port("x")], output: vec![port("y")], ..graph("Relu", FLOAT) }
}

/// Of `x`, whose rows and columns are both free, itself and the sign of how many columns it has more than `size`. Engines do not agree on the
/// sign of zero: rten says 1.
pub fn sign_of_columns_beyond(size: f32) -> Graph {
    let node = vec![
        Node::new("Shape", &["x"], "columns").with("start", 1).with("end", 2),
        Node::new("Cast", &["columns"], "count").with("to", FLOAT.into()),
        Node::new("Sub", &["count", "size"], "beyond"),
        Node::new("Sign", &["beyond"], "sign"),
        Node::new("Add", &["x", "sign"], "y"),
    ];
    let initializer = vec![Tensor::of_bytes("size", FLOAT, &[1], size.to_le_bytes().to_vec())];
    Graph { node, initializer, ..of_two_axes() }
}

/// `x` times three float32 weights that lie in another file.
pub fn weighted_by(file: &str) -> Graph {
    Graph {
        node: vec![Node::new("Mul", &["x", "w"], "y")],
        initializer: vec![Tensor::in_file("w", FLOAT, &[3], file, 0..12)],
        ..graph("Mul", FLOAT)
    }
}

/// Twice `ids`, which are 64-bit integers, and the inverse of `mask`, which are booleans.
pub fn twice_and_inverse() -> Graph {
    Graph {
        node: vec![Node::new("Add", &["ids", "ids"], "twice"), Node::new("Not", &["mask"], "inverse")],
        input: vec![port("ids", INT64), port("mask", BOOL)],
        output: vec![port("twice", INT64), port("inverse", BOOL)],
        ..Graph::default()
    }
}

/// Two states: `past` of open length, to which `x` is appended, and `total` of fixed size, to which it is added. What they become
/// is `present` and `sum`; `seen` and `told` are the same with the other sign.
pub fn two_states() -> Graph {
    let named = |name: &str| Size::Named(name.into());
    let rows = |name: &str, length: &str| ValueInfo::of_tensor(name, FLOAT, vec![Size::Fixed(2), named(length)]);
    let one = |name: &str| ValueInfo::of_tensor(name, FLOAT, vec![Size::Fixed(2), Size::Fixed(1)]);
    Graph {
        node: vec![
            Node::new("Concat", &["past", "x"], "present").with("axis", 1),
            Node::new("Neg", &["present"], "seen"),
            Node::new("Add", &["total", "x"], "sum"),
            Node::new("Neg", &["sum"], "told"),
        ],
        input: vec![one("x"), rows("past", "past"), one("total")],
        output: vec![rows("present", "length"), rows("seen", "length"), one("sum"), one("told")],
        ..Graph::default()
    }
}

/// Writes `model.onnx` into a folder.
pub fn write(folder: &Path, graph: Graph) -> PathBuf {
    let path = folder.join("model.onnx");
    std::fs::write(&path, Model::new("stand", 17, graph).encode_to_vec()).unwrap();
    path
}
