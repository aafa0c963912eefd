//! What goes wrong says whose fault it is, and what to do.

use super::graphs::{node, port, weights_in, write};
use super::{floats, load_of, open, probe, real};
use rten_onnx::onnx::{DataType, GraphProto};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Direction, Error, Load, Source, Why};

fn refused(instance: &Instance, load: &Load) -> Error {
    instance.load(load).err().expect("the load to be refused")
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
fn an_operator_that_is_not_there_is_named() {
    let Some(instance) = real(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let error = refused(&instance, &load_of(&write(folder.path(), graph("Frobnicate", DataType::FLOAT))));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("Frobnicate"), "{error}");
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    let Some(instance) = real(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.onnx");
    let whole = std::fs::read(probe()).unwrap();
    for bytes in [&whole[..whole.len() / 2], b"this is no model", b""] {
        std::fs::write(&path, bytes).unwrap();
        let error = refused(&instance, &load_of(&path));
        assert_eq!(error.code, Code::InvalidArgument, "{error}");
        assert!(error.message.contains("half.onnx is not a whole ONNX model"), "{error}");
    }
}

#[test]
fn missing_files_are_named() {
    let Some(instance) = real(&[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let error = refused(&instance, &load_of(&folder.path().join("nowhere.onnx")));
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("nowhere.onnx"), "{error}");

    let weights = GraphProto {
        initializer: vec![weights_in("far.data")],
        node: vec![node("Mul", &["x", "w"], "y")],
        ..graph("Relu", DataType::FLOAT)
    };
    let error = refused(&instance, &load_of(&write(folder.path(), weights)));
    assert!(error.message.contains("far.data"), "{error}");
}

#[test]
fn a_precision_is_applied_or_refused() {
    let Some(instance) = real(&[]) else { return };
    let float16 = Load { precision: Some("float16".into()), ..load_of(&probe()) };
    let error = refused(&instance, &float16);
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert_eq!(instance.supports(&float16).unwrap_err().code, Code::Unimplemented);

    let folder = tempfile::tempdir().unwrap();
    let half = load_of(&write(folder.path(), graph("Relu", DataType::FLOAT16)));
    let model = instance.load(&half).unwrap();
    assert_eq!(model.placement().unwrap().precision, "", "stored in float16; what kernels compute in cannot be told");
    let error = refused(&instance, &Load { precision: Some("float32".into()), ..half });
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
}

#[test]
fn a_format_that_is_not_onnx_is_refused() {
    let Some(instance) = real(&[]) else { return };
    let error = refused(&instance, &Load::new(Source { format: "tflite".into(), path: probe() }));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
}

#[test]
fn a_request_refuses_what_does_not_fit_and_stays_as_it_was() {
    let Some(instance) = real(&[]) else { return };
    let model = instance.load(&load_of(&probe())).unwrap();
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    request.bind(Direction::Input, 0, floats(&[1, 64], &[0.0; 64])).unwrap();
    let narrow = floats(&[3, 32], &[0.0; 96]);
    request.bind(Direction::Output, 0, narrow).unwrap();
    let error = request.run().unwrap_err();
    assert!(error.vendor_code != 0, "an output for another batch size: {error}");
    request.leave_output(0).unwrap();
    request.run().unwrap();
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    for (key, value) in [("threads", "many"), ("dynamic_shapes", "perhaps"), ("graph_optimization", "most")] {
        let error = open(&[(key, value)]).err().unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains(key), "{error}");
    }
}

#[test]
fn one_process_has_one_runtime() {
    let Some(_first) = real(&[]) else { return };
    assert!(open(&[]).is_ok(), "opened again");
    let error = open(&[("library", "another/libonnxruntime.so")]).err().unwrap();
    assert_eq!((error.code, error.why), (Code::FailedPrecondition, Why::RUNTIME));
    assert!(error.message.contains("another/libonnxruntime.so"), "{error}");
}
