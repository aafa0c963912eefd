//! Models that load and run.

use super::graphs::{node, port, weights_in, write};
use super::{booleans, floats, integers, load_of, open, probe, taken};
use rten_onnx::onnx::{DataType, GraphProto};
use serde_json::Value;
use skillbench_plugin_api::client::Model;
use skillbench_plugin_api::{Code, DType, Direction, Load};

/// Input and expected output of the probe model, for a batch of two.
fn expected() -> (Vec<f32>, Vec<f32>) {
    let text = std::fs::read_to_string(probe().with_extension("json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let data = |port: &Value| port["data"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect();
    (data(&file["inputs"]["x"]), data(&file["outputs"]["y"]))
}

fn run_probe(model: &Model, x: &[f32]) -> Vec<f32> {
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[x.len() / 64, 64], x)).unwrap();
    request.run().unwrap();
    taken(&mut request, 0)
}

fn close(have: &[f32], want: &[f32]) -> bool {
    have.len() == want.len() && have.iter().zip(want).all(|(have, want)| (have - want).abs() < 1e-5)
}

#[test]
fn the_probe_model_answers_as_computed_by_hand() {
    let instance = open(&[("threads", "1")]).unwrap();
    let model = instance.load(&load_of(&probe())).unwrap();
    let input = &model.inputs()[0];
    assert_eq!((input.name.as_str(), input.dtype, &input.shape[..]), ("x", DType::F32, &[None, Some(64)][..]));
    assert_eq!(input.dim_names, [Some("batch".to_string()), None]);
    let (x, y) = expected();
    assert!(close(&run_probe(&model, &x), &y));
    assert!(close(&run_probe(&model, &x[..64]), &y[..32]), "and for another batch size");
}

#[test]
fn what_ran_is_told_and_what_is_unknown_is_not() {
    let instance = open(&[]).unwrap();
    let model = instance.load(&Load { precision: Some("float32".into()), ..load_of(&probe()) }).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!(placement.precision, "float32");
    assert_eq!(placement.device, instance.devices().unwrap()[0].id);
    assert!(placement.read_ns.is_some_and(|ns| ns > 0) && placement.compile_ns.is_some_and(|ns| ns > 0));
    assert_eq!((placement.cache_hit, placement.nodes_total, placement.upload_ns), (None, None, None));

    let lock = include_str!("../../../../Cargo.lock");
    let version = lock.split("name = \"rten\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert_eq!(placement.engine, format!("rten {version}"));
}

#[test]
fn requests_run_at_once_and_do_not_mix() {
    let instance = open(&[("threads", "2")]).unwrap();
    let model = instance.load(&load_of(&probe())).unwrap();
    let (x, y) = expected();
    std::thread::scope(|scope| {
        for row in 0..2 {
            let (model, x, y) = (&model, &x[row * 64..][..64], &y[row * 32..][..32]);
            scope.spawn(move || (0..100).for_each(|_| assert!(close(&run_probe(model, x), y))));
        }
    });
}

#[test]
fn types_that_rten_has_not_come_and_go_as_the_file_declares_them() {
    let folder = tempfile::tempdir().unwrap();
    let graph = GraphProto {
        node: vec![node("Add", &["ids", "ids"], "twice"), node("Not", &["mask"], "inverse")],
        input: vec![port("ids", DataType::INT64), port("mask", DataType::BOOL)],
        output: vec![port("twice", DataType::INT64), port("inverse", DataType::BOOL)],
        ..GraphProto::default()
    };
    let instance = open(&[]).unwrap();
    let model = instance.load(&load_of(&write(folder.path(), graph))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, integers(&[3], &[1, -2, 2_000_000])).unwrap();
    request.bind(Direction::Input, 1, booleans(&[2], &[true, false])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 4_000_000]);
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "an output is taken once");
    let inverse = request.take_output(1).unwrap();
    assert_eq!((inverse.dtype(), inverse.bytes()), (DType::Bool, &[0, 1][..]));

    let error = request.bind(Direction::Input, 0, integers(&[1], &[1 << 40])).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 4_000_000], "a refused tensor leaves the port as it was");
}

#[test]
fn weights_are_read_from_the_file_beside_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let weights: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.path().join("model.onnx.data"), weights).unwrap();
    let graph = GraphProto {
        node: vec![node("Mul", &["x", "w"], "y")],
        initializer: vec![weights_in("model.onnx.data")],
        input: vec![port("x", DataType::FLOAT)],
        output: vec![port("y", DataType::FLOAT)],
        ..GraphProto::default()
    };
    let instance = open(&[]).unwrap();
    let model = instance.load(&load_of(&write(folder.path(), graph))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[3], &[1.0, 1.0, 2.0])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<f32>(&mut request, 0), [1.0, 2.0, 6.0]);
}
