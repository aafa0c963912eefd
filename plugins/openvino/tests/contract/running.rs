//! Models that load and run.

use super::graphs::{node, port, weights_in, write};
use super::{apart, booleans, expected, floats, in_precision, integers, load_of, probe, real, run_probe, taken};
use rten_onnx::onnx::{DataType, GraphProto};
use skillbench_plugin_api::{Code, Dim, Direction, Load};

fn close(have: &[f32], want: &[f32]) -> bool {
    apart(have, want) < 1e-5
}

#[test]
fn the_probe_model_answers_as_computed_by_hand() {
    let instance = real(&[("threads", "1")]);
    let model = instance.load(&load_of(&probe())).unwrap();
    let (x, y) = expected();
    assert!(close(&run_probe(&model, &x), &y));
    assert!(close(&run_probe(&model, &x[..64]), &y[..32]), "and for another batch size");
}

#[test]
fn outputs_go_where_they_are_bound() {
    let instance = real(&[]);
    let (x, y) = expected();
    for dims in [vec![], vec![Dim::fixed("batch", 2)]] {
        let model = instance.load(&Load { dims, ..load_of(&probe()) }).unwrap();
        let mut request = model.request().unwrap();
        request.bind(Direction::Input, 0, floats(&[2, 64], &x)).unwrap();
        let memory = floats(&[2, 32], &[0.0; 64]);
        request.bind(Direction::Output, 0, memory.clone()).unwrap();
        request.run().unwrap();
        assert!(close(memory.as_slice().unwrap(), &y), "written in place");
        assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "it is the caller's memory");

        request.leave_output(0).unwrap();
        assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "no run since");
        request.run().unwrap();
        let first = request.take_output(0).unwrap().to_host().unwrap();
        assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "an output is taken once");
        request.bind(Direction::Input, 0, floats(&[2, 64], &[0.0; 128])).unwrap();
        request.run().unwrap();
        assert!(close(first.as_slice().unwrap(), &y), "later runs do not write what was taken");
        assert!(!close(&taken::<f32>(&mut request, 0), &y), "and read what was bound last");
        assert!(close(memory.as_slice().unwrap(), &y), "nor memory that was bound before");
    }
}

#[test]
fn what_ran_is_told() {
    let instance = real(&[]);
    let model = instance.load(&in_precision("float32", load_of(&probe()))).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!((placement.precision.as_str(), placement.device.as_str()), ("float32", "CPU"));
    let version = placement.engine.strip_prefix("OpenVINO 20").expect("name and version");
    assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{}", placement.engine);
    assert!(placement.nodes_total.is_some_and(|nodes| nodes > 0) && placement.nodes_total == placement.nodes_on_device);
    assert!(placement.read_ns.is_some_and(|ns| ns > 0) && placement.compile_ns.is_some_and(|ns| ns > 0));
    assert_eq!((placement.cache_hit, placement.upload_ns), (None, None));
}

#[test]
fn requests_run_at_once_and_do_not_mix() {
    for hint in ["latency", "throughput"] {
        let instance = real(&[("threads", "2"), ("performance_hint", hint)]);
        let model = instance.load(&load_of(&probe())).unwrap();
        let (x, y) = expected();
        std::thread::scope(|scope| {
            for row in 0..2 {
                let (model, x, y) = (&model, &x[row * 64..][..64], &y[row * 32..][..32]);
                scope.spawn(move || (0..100).for_each(|_| assert!(close(&run_probe(model, x), y))));
            }
        });
    }
}

#[test]
fn integers_booleans_and_nothing_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let graph = GraphProto {
        node: vec![node("Add", &["ids", "ids"], "twice"), node("Not", &["mask"], "inverse")],
        input: vec![port("ids", DataType::INT64), port("mask", DataType::BOOL)],
        output: vec![port("twice", DataType::INT64), port("inverse", DataType::BOOL)],
        ..GraphProto::default()
    };
    let instance = real(&[]);
    let model = instance.load(&load_of(&write(folder.path(), graph))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, integers(&[3], &[1, -2, 1 << 20])).unwrap();
    request.bind(Direction::Input, 1, booleans(&[3], &[true, false, true])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 1 << 21]);
    assert_eq!(request.take_output(1).unwrap().bytes(), [0, 1, 0]);

    request.bind(Direction::Input, 0, integers(&[0], &[])).unwrap();
    request.bind(Direction::Input, 1, booleans(&[0], &[])).unwrap();
    request.run().unwrap();
    assert_eq!(request.take_output(0).unwrap().shape(), [0]);
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
    let instance = real(&[]);
    let model = instance.load(&load_of(&write(folder.path(), graph))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[3], &[1.0, 1.0, 2.0])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<f32>(&mut request, 0), [1.0, 2.0, 6.0]);
}
