//! A precision is applied and proven, or refused.

use super::{in_precision, real};
use skillbench_onnx::Graph;
use skillbench_onnx::messages::{FLOAT, INT8, Node, Size, Tensor, ValueInfo};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Direction, Load, Why};
use skillbench_testkit::graphs::write;
use skillbench_testkit::{apart, floats, load_of, probe, refused, taken};
use std::path::Path;

const WIDTH: usize = 64;
const SQUARE: [i64; 2] = [WIDTH as i64; 2];

/// Weights that take all of 8 bits, and the float each step stands for.
const STEP: f32 = 1.0 / 64.0;

fn weights() -> Vec<i8> {
    (0..WIDTH * WIDTH).map(|index| (index * 7919 % 255) as i8).collect()
}

fn numbers() -> Vec<f32> {
    (0..WIDTH).map(|index| ((index * 37 % 101) as f32 / 50.5 - 1.0) * 1.9).collect()
}

/// A port of rows of numbers, their count open.
fn rows(name: &str) -> ValueInfo {
    ValueInfo::of_tensor(name, FLOAT, vec![Size::Named("n".into()), Size::Fixed(WIDTH as i64)])
}

/// `x` times a matrix of 8-bit weights that are turned into floats; with `activations`, `x` goes through 8 bits too.
fn quantized(folder: &Path, activations: bool) -> Load {
    let bytes = weights().into_iter().map(|weight| weight as u8).collect();
    let to_float = |input: &str, output: &str| Node::new("DequantizeLinear", &[input, "step", "zero"], output);
    let mut nodes: Vec<Node> = vec![to_float("w", "weights")];
    if activations {
        nodes.extend([Node::new("QuantizeLinear", &["x", "step", "zero"], "small"), to_float("small", "again")]);
    }
    nodes.push(Node::new("MatMul", &[if activations { "again" } else { "x" }, "weights"], "y"));
    let graph = Graph {
        node: nodes,
        initializer: vec![
            Tensor::of_bytes("w", INT8, &SQUARE, bytes),
            Tensor::of_bytes("step", FLOAT, &[], STEP.to_le_bytes().into()),
            Tensor::of_bytes("zero", INT8, &[], vec![0]),
        ],
        input: vec![rows("x")],
        output: vec![rows("y")],
        ..Graph::default()
    };
    load_of(&write(folder, graph))
}

/// The product with `x` as it is, in float64.
fn product(x: &[f32]) -> Vec<f32> {
    let weights = weights();
    let column = |column: usize| {
        let terms = x.iter().enumerate().map(|(row, x)| f64::from(*x) * f64::from(weights[row * WIDTH + column]));
        (terms.sum::<f64>() * f64::from(STEP)) as f32
    };
    (0..WIDTH).map(column).collect()
}

fn offers(instance: &Instance, precision: &str) -> bool {
    instance.supports(&in_precision(precision, load_of(&probe::path()))).is_ok()
}

#[test]
fn float32_is_what_ran_whatever_the_processor_would_rather_take() {
    let instance = real(&[]);
    let (x, y) = probe::expected();
    for load in [load_of(&probe::path()), in_precision("float32", load_of(&probe::path()))] {
        let model = instance.load(&load).unwrap();
        assert_eq!(model.placement().unwrap().precision, "float32");
        assert!(apart(&probe::run(&model, &x), &y) < 1e-5, "bfloat16 would be 1e-3 apart");
    }
}

#[test]
fn bfloat16_is_proven_by_its_kernels_and_outputs_or_refused() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let bytes = weights().iter().flat_map(|weight| (f32::from(*weight) * STEP).to_le_bytes()).collect();
    let graph = Graph {
        node: vec![Node::new("MatMul", &["x", "w"], "y")],
        initializer: vec![Tensor::of_bytes("w", FLOAT, &SQUARE, bytes)],
        input: vec![rows("x")],
        output: vec![rows("y")],
        ..Graph::default()
    };
    let load = in_precision("bfloat16", load_of(&write(folder.path(), graph)));
    if !offers(&instance, "bfloat16") {
        let error = refused(&instance, &load);
        assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
        assert!(error.message.contains("bfloat16") && error.message.contains("FP32"), "{error}");
        return;
    }
    let model = instance.load(&load).unwrap();
    assert_eq!(model.placement().unwrap().precision, "bfloat16");
    let (x, want) = (numbers(), product(&numbers()));
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[1, WIDTH], &x)).unwrap();
    request.run().unwrap();
    let difference = apart(&taken::<f32>(&mut request, 0), &want);
    assert!(difference > 1e-4 && difference < 0.5, "rounded inputs, {difference}");
}

#[test]
fn a_hint_that_no_kernel_follows_is_refused() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let graph = Graph {
        node: vec![Node::new("Relu", &["x"], "y")],
        input: vec![rows("x")],
        output: vec![rows("y")],
        ..Graph::default()
    };
    let error = refused(&instance, &in_precision("bfloat16", load_of(&write(folder.path(), graph))));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert!(error.message.contains("float32") || error.message.contains("has no bfloat16"), "{error}");
}

#[test]
fn float16_that_would_become_bfloat16_is_refused() {
    let instance = real(&[]);
    if offers(&instance, "float16") {
        let model = instance.load(&in_precision("float16", load_of(&probe::path()))).unwrap();
        assert_eq!(model.placement().unwrap().precision, "float16");
        return;
    }
    let error = refused(&instance, &in_precision("float16", load_of(&probe::path())));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert!(error.message.contains("float16"), "{error}");
}

#[test]
fn int8_is_what_a_quantized_graph_runs_in_and_not_made_of_a_float32_graph() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let error = refused(&instance, &in_precision("int8", load_of(&probe::path())));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert!(error.message.contains("not quantized"), "{error}");

    let graph = quantized(folder.path(), true);
    let placement = instance.load(&in_precision("int8", graph.clone())).unwrap().placement().unwrap();
    assert_eq!(placement.precision, "int8");
    let error = refused(&instance, &in_precision("float32", graph));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
}

#[test]
fn small_weights_do_not_make_small_activations() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let model = instance.load(&in_precision("float32", quantized(folder.path(), false))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[1, WIDTH], &numbers())).unwrap();
    request.run().unwrap();
    let difference = apart(&taken::<f32>(&mut request, 0), &product(&numbers()));
    assert!(difference < 1e-3, "activations of 8 bits would be far away: {difference}");
}
