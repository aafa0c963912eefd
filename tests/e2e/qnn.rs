//! What qnn's compiler gets wrong, and what is done about it: the HTP is emulated here, and its outputs are held against another engine.

use skillbench_onnx::messages::*;
use skillbench_onnx::{Graph, Model};
use skillbench_tests::{World, cells};

const ROWS: i64 = 16;
const WIDTH: i64 = 128;

fn floats(name: &str, shape: &[i64], value: impl Fn(i64) -> f32) -> Tensor {
    let bytes = (0..shape.iter().product()).flat_map(|at| value(at).to_le_bytes()).collect();
    Tensor::of_bytes(name, FLOAT, shape, bytes)
}

/// A sum of a batch and a constant of one sample, normalized: positions that are added to embeddings.
fn positions() -> Vec<u8> {
    let spread = |at: i64| ((at * 37 % 101) as f32 - 50.0) / 25.0;
    let batch = || vec![Size::Named("batch".into()), Size::Fixed(ROWS), Size::Fixed(WIDTH)];
    let graph = Graph {
        node: vec![
            Node::new("Add", &["x", "positions"], "sum"),
            Node::new("LayerNormalization", &["sum", "scale", "bias"], "y"),
        ],
        name: "positions".into(),
        initializer: vec![
            floats("positions", &[1, ROWS, WIDTH], spread),
            floats("scale", &[WIDTH], |at| 1.0 + spread(at) / 20.0),
            floats("bias", &[WIDTH], |at| spread(at) / 10.0),
        ],
        input: vec![ValueInfo::of_tensor("x", FLOAT, batch())],
        output: vec![ValueInfo::of_tensor("y", FLOAT, batch())],
    };
    Model::new("test", 17, graph).encode_to_vec()
}

#[test]
fn a_normalized_sum_with_a_repeated_constant_is_right_at_every_batch() {
    let world = World::default();
    world.write("positions.onnx", positions());
    let batches = ["--batch-sizes", "1,2,3,4,5,7,8"];
    let (ran, document) =
        world.run(&[&["--plugin", "qnn", "--model", "positions.onnx", "--verify-only"], &batches[..]].concat());
    ran.exits_with(0);
    let engines: Vec<&str> =
        cells(&document).iter().map(|cell| cell["placement"]["engine"].as_str().unwrap_or_default()).collect();
    assert_eq!(engines.len(), 7);
    assert!(
        engines[0].starts_with("ONNX Runtime") && !engines[0].contains("rewritten"),
        "nothing is repeated: {engines:?}"
    );
    assert!(engines[1..].iter().all(|engine| engine.ends_with("1 Add rewritten")), "{engines:?}");
}

#[test]
fn a_small_bert_is_right_between_batches_of_one_and_eight() {
    let world = World::default();
    let sizes = ["--batch-sizes", "2,3,5", "--sequence-lengths", "32"];
    let (ran, document) =
        world.run(&[&["--plugin", "qnn", "--model", "bert-tiny", "--verify-only"], &sizes[..]].concat());
    ran.exits_with(0);
    let differences = cells(&document).iter().map(|cell| cell["verification"]["max_relative_difference"].as_f64());
    assert_eq!(differences.filter(|difference| difference.is_some_and(|difference| difference < 0.02)).count(), 3);
}
