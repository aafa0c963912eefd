//! Models that load and run.

use super::graphs::{node, port, weights_in, write};
use super::{floats, integers, open, probe, sized, taken};
use rten_onnx::onnx::{DataType, GraphProto};
use serde_json::Value;
use skillbench_plugin_api::client::Model;
use skillbench_plugin_api::{Code, DType, DeviceKind, Direction, Load, Why};

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
    let instance = open();
    let model = instance.load(&sized(&probe(), &[("batch", 2)])).unwrap();
    let input = &model.inputs()[0];
    assert_eq!((input.name.as_str(), input.dtype, &input.shape[..]), ("x", DType::F32, &[Some(2), Some(64)][..]));
    assert_eq!(input.dim_names, [None, None]);
    assert_eq!(model.outputs()[0].shape, [Some(2), Some(32)]);
    let (x, y) = expected();
    assert!(close(&run_probe(&model, &x), &y));
}

#[test]
fn the_device_is_one_that_the_browser_really_builds_for() {
    let devices = open().devices().unwrap();
    let cpu = &devices[0];
    assert_eq!((cpu.id.as_str(), cpu.kind, cpu.why, cpu.emulated), ("cpu", DeviceKind::Browser, Why::NONE, false));
    assert!(cpu.name.contains("Chrom") && cpu.name.ends_with("WebNN cpu"), "{}", cpu.name);
    for device in devices.iter().filter(|device| device.why != Why::NONE) {
        assert!(device.reason.contains("Chrom") && device.reason.contains(&device.id), "{}", device.reason);
    }
}

#[test]
fn what_ran_is_told() {
    let instance = open();
    let load = Load { precision: Some("float32".into()), ..sized(&probe(), &[("batch", 1)]) };
    let placement = instance.load(&load).unwrap().placement().unwrap();
    assert_eq!((placement.precision.as_str(), placement.device.as_str()), ("float32", "cpu"));
    assert!(placement.engine.starts_with("ONNX Runtime Web 1.") && placement.engine.contains("WebNN cpu"));
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(3), Some(3)));
    assert!(placement.read_ns.is_some_and(|ns| ns > 0) && placement.compile_ns.is_some_and(|ns| ns > 0));
    assert_eq!((placement.cache_hit, placement.upload_ns), (None, None));
}

#[test]
fn requests_of_one_model_do_not_mix() {
    let instance = open();
    let model = instance.load(&sized(&probe(), &[("batch", 1)])).unwrap();
    let (x, y) = expected();
    std::thread::scope(|scope| {
        for row in 0..2 {
            let (model, x, y) = (&model, &x[row * 64..][..64], &y[row * 32..][..32]);
            scope.spawn(move || (0..50).for_each(|_| assert!(close(&run_probe(model, x), y))));
        }
    });
}

#[test]
fn two_instances_have_two_browsers() {
    let (one, two) = (open(), open());
    let (x, y) = expected();
    let load = sized(&probe(), &[("batch", 2)]);
    let first = one.load(&load).unwrap();
    let second = two.load(&load).unwrap();
    drop(first);
    drop(one);
    assert!(close(&run_probe(&second, &x), &y), "closing one leaves the other alone");
}

#[test]
fn integers_of_64_bits_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let graph = GraphProto {
        node: vec![node("Add", &["ids", "ids"], "twice")],
        input: vec![port("ids", DataType::INT64)],
        output: vec![port("twice", DataType::INT64)],
        ..GraphProto::default()
    };
    let instance = open();
    let model = instance.load(&sized(&write(folder.path(), graph), &[("n", 3)])).unwrap();
    assert_eq!(model.inputs()[0].dtype, DType::I64);
    assert_eq!(model.placement().unwrap().precision, "", "nothing shows that it computes in float32");
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, integers(&[3], &[1, -2, 1 << 40])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 1 << 41]);
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "an output is taken once");
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
    let instance = open();
    let model = instance.load(&sized(&write(folder.path(), graph), &[("n", 3)])).unwrap();
    let mut request = model.request().unwrap();
    for factor in [1.0, 2.0] {
        request.bind(Direction::Input, 0, floats(&[3], &[factor, factor, 2.0 * factor])).unwrap();
        request.run().unwrap();
        assert_eq!(taken::<f32>(&mut request, 0), [factor, 2.0 * factor, 6.0 * factor]);
    }
}

#[test]
fn the_browser_counts_the_cpu_time_of_its_processes() {
    let instance = open();
    let model = instance.load(&sized(&probe(), &[("batch", 1)])).unwrap();
    let read = || instance.counters(0).unwrap().into_iter().find(|counter| counter.name == "browser_cpu").unwrap();
    let before = read();
    let (x, _) = expected();
    (0..500).for_each(|_| drop(run_probe(&model, &x[..64])));
    let after = read();
    assert_eq!(after.unit, "s");
    assert!(before.value > 0.0 && after.value > before.value, "{before:?} {after:?}");
}
