//! What goes wrong says whose fault it is, and what to do. Where backends say it differently, the error is handed back.

use crate::graphs::{graph, weighted_by, write};
use crate::probe::{self, INPUT, OUTPUT};
use crate::{Sizes, floats, load_of, open, refused};
use skillbench_onnx::messages::FLOAT;
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::sdk::Backend;
use skillbench_plugin_api::{Code, Direction, Error, Load, Source, Why};

pub fn an_operator_that_is_not_there_is_named(instance: &Instance, sizes: Sizes) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), graph("Frobnicate", FLOAT));
    let error = refused(instance, &sizes.load(&path, &[("n", 4)]));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("Frobnicate"), "{error}");
    error
}

pub fn a_truncated_file_is_not_a_whole_model(instance: &Instance, sizes: Sizes) -> Vec<Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.onnx");
    let whole = std::fs::read(probe::path()).unwrap();
    let cut = [&whole[..whole.len() / 2], &whole[..whole.len() - 1], &whole[..40], b"", b"this is no model"];
    let errors = cut.map(|bytes| {
        std::fs::write(&path, bytes).unwrap();
        let error = refused(instance, &sizes.load(&path, &[("batch", 1)]));
        assert_eq!(error.code, Code::InvalidArgument, "{error}");
        assert!(error.message.contains("half.onnx is not a whole ONNX model"), "{error}");
        error
    });
    errors.into()
}

/// The error is that of missing weights.
pub fn missing_files_are_named(instance: &Instance, sizes: Sizes) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(instance, &load_of(&folder.path().join("nowhere.onnx")));
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("nowhere.onnx"), "{error}");

    let path = write(folder.path(), weighted_by("far.data"));
    let error = refused(instance, &sizes.load(&path, &[("n", 3)]));
    assert!(error.message.contains("far.data"), "{error}");
    error
}

pub fn a_graph_reads_no_file_but_those_beside_it(instance: &Instance, sizes: Sizes) {
    let folder = tempfile::tempdir().unwrap();
    for outside in ["../secret.data", "/etc/hostname", "deeper/w.data"] {
        let path = write(folder.path(), weighted_by(outside));
        let error = refused(instance, &sizes.load(&path, &[("n", 3)]));
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("not beside itself"), "{error}");
    }
}

pub fn weights_that_are_too_short_are_refused(instance: &Instance, sizes: Sizes) -> Error {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("w.data"), [0; 4]).unwrap();
    let path = write(folder.path(), weighted_by("w.data"));
    let error = refused(instance, &sizes.load(&path, &[("n", 3)]));
    assert!(error.message.contains("model.onnx"), "{error}");
    error
}

/// For backends without float16.
pub fn a_precision_is_not_replaced_by_another(instance: &Instance, sizes: Sizes) {
    let float16 = Load { precision: Some("float16".into()), ..sizes.load(&probe::path(), &[("batch", 1)]) };
    let error = refused(instance, &float16);
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert_eq!(instance.supports(&float16).unwrap_err().code, Code::Unimplemented, "before anything is loaded");
}

pub fn a_format_that_is_not_onnx_is_refused(instance: &Instance) {
    let error = refused(instance, &Load::new(Source { format: "tflite".into(), ..Source::onnx(&probe::path()) }));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
}

/// For backends that allocate outputs themselves.
pub fn a_request_refuses_what_does_not_fit(instance: &Instance, sizes: Sizes) {
    let model = instance.load(&sizes.load(&probe::path(), &[("batch", 1)])).unwrap();
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    let wide = floats(&[1, INPUT + 1], &[0.0; INPUT + 1]);
    assert_eq!(request.bind(Direction::Input, 0, wide).unwrap_err().code, Code::InvalidArgument);
    let output = request.bind(Direction::Output, 0, floats(&[1, OUTPUT], &[0.0; OUTPUT])).unwrap_err();
    assert_eq!(output.code, Code::Unimplemented, "the engine allocates its outputs itself");
}

/// For backends that write outputs where they are bound.
pub fn a_request_refuses_what_does_not_fit_and_stays_as_it_was(instance: &Instance) {
    let model = instance.load(&load_of(&probe::path())).unwrap();
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    request.bind(Direction::Input, 0, floats(&[1, INPUT], &[0.0; INPUT])).unwrap();
    for rows in [3, 0] {
        request.bind(Direction::Output, 0, floats(&[rows, OUTPUT], &vec![0.0; rows * OUTPUT])).unwrap();
        let error = request.run().unwrap_err();
        assert!(error.vendor_code != 0, "an output for another batch size: {error}");
    }
    request.leave_output(0).unwrap();
    request.run().unwrap();
    assert_eq!(request.take_output(0).unwrap().shape(), [1, OUTPUT]);
}

/// Whatever the machine has: options are read before anything is looked for.
pub fn options_are_named_where_they_do_not_parse<B: Backend>(options: &[(&str, &str)]) {
    for (key, value) in options {
        let error = open::<B>(&[(key, value)]).err().expect("the option to be refused");
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains(key), "{error}");
    }
}
