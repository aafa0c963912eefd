//! What goes wrong says whose fault it is, and what to do.

use super::graphs::{node, port, weights_in, write};
use super::{floats, load_of, open, probe};
use rten_onnx::onnx::{DataType, GraphProto};
use skillbench_plugin_api::{Code, Direction, Error, Load, Source, Why};

fn refused(load: &Load) -> Error {
    open(&[]).unwrap().load(load).err().expect("the load to be refused")
}

/// A graph of one node from `x` to `y`.
fn graph(operator: &str, elem_type: DataType) -> GraphProto {
    GraphProto {
        node: vec![node(operator, &["x"], "y")],
        input: vec![port("x", elem_type)],
        output: vec![port("y", elem_type)],
        ..GraphProto::default()
    }
}

#[test]
fn an_operator_that_rten_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(&load_of(&write(folder.path(), graph("Frobnicate", DataType::FLOAT))));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("Frobnicate") && error.message.contains("make y"), "{error}");
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.onnx");
    let whole = std::fs::read(probe()).unwrap();
    for length in [whole.len() / 2, 40] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = refused(&load_of(&path));
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("half.onnx is not a whole ONNX"), "{error}");
    }
    for text in ["", "this is no model"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(refused(&load_of(&path)).code, Code::InvalidArgument);
    }
}

#[test]
fn missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(&load_of(&folder.path().join("nowhere.onnx")));
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("nowhere.onnx"), "{error}");

    let weights = GraphProto { initializer: vec![weights_in("far.data")], ..graph("Relu", DataType::FLOAT) };
    let error = refused(&load_of(&write(folder.path(), weights)));
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("far.data"), "{error}");
}

#[test]
fn a_graph_reads_no_file_but_those_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    for outside in ["../secret.data", "/etc/hostname", "deeper/w.data"] {
        let weights = GraphProto { initializer: vec![weights_in(outside)], ..graph("Relu", DataType::FLOAT) };
        let error = refused(&load_of(&write(folder.path(), weights)));
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("not beside itself"), "{error}");
    }
}

#[test]
fn weights_that_are_too_short_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("w.data"), [0; 4]).unwrap();
    let weights = GraphProto { initializer: vec![weights_in("w.data")], ..graph("Relu", DataType::FLOAT) };
    let error = refused(&load_of(&write(folder.path(), weights)));
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("weights"), "{error}");
}

#[test]
fn a_precision_is_applied_or_refused() {
    let float16 = Load { precision: Some("float16".into()), ..load_of(&probe()) };
    assert_eq!((refused(&float16).code, refused(&float16).why), (Code::Unimplemented, Why::PRECISION));
    assert_eq!(open(&[]).unwrap().supports(&float16).unwrap_err().code, Code::Unimplemented);

    let folder = tempfile::tempdir().unwrap();
    let error = refused(&load_of(&write(folder.path(), graph("Relu", DataType::FLOAT16))));
    assert_eq!(error.code, Code::Unimplemented);
    assert!(error.message.contains("'x' is float16"), "{error}");
}

#[test]
fn a_format_that_rten_does_not_read_is_refused() {
    let source = Source { format: "tflite".into(), path: probe() };
    let error = refused(&Load::new(source));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
}

#[test]
fn a_request_refuses_what_does_not_fit() {
    let instance = open(&[]).unwrap();
    let model = instance.load(&load_of(&probe())).unwrap();
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    let wide = floats(&[1, 65], &[0.0; 65]);
    assert_eq!(request.bind(Direction::Input, 0, wide).unwrap_err().code, Code::InvalidArgument);
    let output = request.bind(Direction::Output, 0, floats(&[1, 32], &[0.0; 32])).unwrap_err();
    assert_eq!(output.code, Code::Unimplemented, "rten allocates its outputs itself");
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    let error = open(&[("threads", "many")]).err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("threads"), "{error}");
}
