//! What goes wrong says whose fault it is, and what to do.

use super::graphs::{node, port, weights_in, write};
use super::{floats, load_of, open, probe, real, refused};
use rten_onnx::onnx::{DataType, GraphProto};
use skillbench_plugin_api::{Code, Direction, Load, Source, Why};

/// A graph of one node from `x` to `y`.
fn graph(operator: &str) -> GraphProto {
    GraphProto {
        node: vec![node(operator, &["x"], "y")],
        input: vec![port("x", DataType::FLOAT)],
        output: vec![port("y", DataType::FLOAT)],
        ..GraphProto::default()
    }
}

#[test]
fn an_operator_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(&real(&[]), &load_of(&write(folder.path(), graph("Frobnicate"))));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("Frobnicate"), "{error}");
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let path = folder.path().join("half.onnx");
    let whole = std::fs::read(probe()).unwrap();
    for bytes in [&whole[..whole.len() / 2], &whole[..whole.len() - 1], b"this is no model", b""] {
        std::fs::write(&path, bytes).unwrap();
        let error = refused(&instance, &load_of(&path));
        assert_eq!((error.code, error.why), (Code::InvalidArgument, Why::MODEL), "{error}");
        assert!(error.message.contains("half.onnx is not a whole ONNX model"), "{error}");
    }
}

#[test]
fn missing_files_are_named() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let error = refused(&instance, &load_of(&folder.path().join("nowhere.onnx")));
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("nowhere.onnx"), "{error}");

    let weights = |file| GraphProto {
        initializer: vec![weights_in(file)],
        node: vec![node("Mul", &["x", "w"], "y")],
        ..graph("Relu")
    };
    let error = refused(&instance, &load_of(&write(folder.path(), weights("far.data"))));
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("far.data"), "{error}");
    let error = refused(&instance, &load_of(&write(folder.path(), weights("../far.data"))));
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("not beside itself"), "{error}");
}

#[test]
fn weights_that_are_cut_off_are_no_time() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("short.data"), [0; 4]).unwrap();
    let short = GraphProto {
        initializer: vec![weights_in("short.data")],
        node: vec![node("Mul", &["x", "w"], "y")],
        ..graph("Relu")
    };
    let error = refused(&instance, &load_of(&write(folder.path(), short)));
    assert!(error.message.contains("model.onnx"), "{error}");
}

#[test]
fn a_format_that_is_not_onnx_is_refused() {
    let error = refused(&real(&[]), &Load::new(Source { format: "tflite".into(), path: probe() }));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
}

#[test]
fn a_request_refuses_what_does_not_fit_and_stays_as_it_was() {
    let instance = real(&[]);
    let model = instance.load(&load_of(&probe())).unwrap();
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    request.bind(Direction::Input, 0, floats(&[1, 64], &[0.0; 64])).unwrap();
    for rows in [3, 0] {
        request.bind(Direction::Output, 0, floats(&[rows, 32], &vec![0.0; rows * 32])).unwrap();
        let error = request.run().unwrap_err();
        assert!(error.vendor_code != 0, "an output for another batch size: {error}");
    }
    request.leave_output(0).unwrap();
    request.run().unwrap();
    assert_eq!(request.take_output(0).unwrap().shape(), [1, 32]);
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    for (key, value) in [("threads", "many"), ("dynamic_shapes", "perhaps"), ("performance_hint", "most")] {
        let error = open(&[(key, value)]).err().unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains(key), "{error}");
    }
}

#[test]
fn one_process_has_one_runtime() {
    let _first = real(&[]);
    assert!(open(&[]).is_ok(), "opened again");
    let error = open(&[("library", "another/libopenvino_c.so")]).err().unwrap();
    assert_eq!((error.code, error.why), (Code::FailedPrecondition, Why::RUNTIME));
    assert!(error.message.contains("another/libopenvino_c.so"), "{error}");
}
