//! What goes wrong says whose fault it is, and what to do.

use super::graphs::{node, port, shaped, weights_in, write};
use super::{floats, load_of, open, open_with, part, probe, sized};
use rten_onnx::onnx::{DataType, Dimension, GraphProto};
use skillbench_plugin_api::{Code, Dim, Direction, Error, Load, Source, Why};

fn refused(load: &Load) -> Error {
    open().load(load).err().expect("the load to be refused")
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
fn a_dimension_that_stays_open_is_refused_by_name() {
    let error = refused(&load_of(&probe()));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("'batch' of input 'x'"), "{error}");
    let range = Dim { name: "batch".into(), min: 1, opt: 2, max: 4 };
    assert_eq!(refused(&Load { dims: vec![range], ..load_of(&probe()) }).code, Code::Unimplemented);

    let folder = tempfile::tempdir().unwrap();
    let nameless = GraphProto {
        input: vec![shaped("x", DataType::FLOAT, Dimension::default())],
        ..graph("Relu", DataType::FLOAT)
    };
    let error = refused(&load_of(&write(folder.path(), nameless)));
    assert!(error.message.contains("input 'x' is open and has no name"), "{error}");
}

#[test]
fn a_fallback_is_refused_with_the_nodes_that_fell_back() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = GraphProto {
        node: vec![node("Relu", &["x"], "h"), node("Det", &["m"], "d"), node("Add", &["h", "d"], "y")],
        input: vec![port("x", DataType::FLOAT), super::graphs::square("m", 3)],
        output: vec![port("y", DataType::FLOAT)],
        ..GraphProto::default()
    };
    let load = sized(&write(folder.path(), mixed), &[("n", 4)]);
    let error = refused(&load);
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("fallback refused: 1 of 3 nodes") && error.message.contains("(Det)"), "{error}");

    let instance = open();
    let model = instance.load(&Load { allow_fallback: true, ..load }).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(3), Some(2)));
    assert!(placement.engine.contains("WebAssembly"), "{}", placement.engine);
}

#[test]
fn an_operator_that_nobody_has_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(&sized(&write(folder.path(), graph("Frobnicate", DataType::FLOAT)), &[("n", 4)]));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("Frobnicate"), "{error}");
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.onnx");
    let whole = std::fs::read(probe()).unwrap();
    let instance = open();
    for bytes in [&whole[..whole.len() / 2], &whole[..40], b"", b"this is no model"] {
        std::fs::write(&path, bytes).unwrap();
        let error = instance.load(&sized(&path, &[("batch", 1)])).err().expect("the load to be refused");
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("half.onnx is not a whole ONNX"), "{error}");
    }
}

#[test]
fn missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let instance = open();
    let error = instance.load(&load_of(&folder.path().join("nowhere.onnx"))).err().unwrap();
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("nowhere.onnx"), "{error}");

    let weights = GraphProto { initializer: vec![weights_in("far.data")], ..graph("Relu", DataType::FLOAT) };
    let error = instance.load(&sized(&write(folder.path(), weights), &[("n", 3)])).err().unwrap();
    assert_eq!(error.code, Code::NotFound);
    assert!(error.message.contains("far.data"), "{error}");
}

#[test]
fn a_graph_reads_no_file_but_those_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let instance = open();
    for outside in ["../secret.data", "/etc/hostname", "deeper/w.data"] {
        let weights = GraphProto { initializer: vec![weights_in(outside)], ..graph("Relu", DataType::FLOAT) };
        let error = instance.load(&sized(&write(folder.path(), weights), &[("n", 3)])).err().unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("not beside itself"), "{error}");
    }
}

#[test]
fn weights_that_are_too_short_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("w.data"), [0; 4]).unwrap();
    let weights = GraphProto {
        node: vec![node("Mul", &["x", "w"], "y")],
        initializer: vec![weights_in("w.data")],
        ..graph("Mul", DataType::FLOAT)
    };
    let error = refused(&sized(&write(folder.path(), weights), &[("n", 3)]));
    assert!(error.message.contains("model.onnx"), "{error}");
    assert_eq!(error.why, Why::MODEL);
}

#[test]
fn a_precision_is_applied_or_refused() {
    let instance = open();
    let float16 = Load { precision: Some("float16".into()), ..sized(&probe(), &[("batch", 1)]) };
    let error = instance.load(&float16).err().unwrap();
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert_eq!(instance.supports(&float16).unwrap_err().code, Code::Unimplemented);

    let folder = tempfile::tempdir().unwrap();
    let load = sized(&write(folder.path(), graph("Relu", DataType::FLOAT16)), &[("n", 4)]);
    let error = instance.load(&Load { precision: Some("float32".into()), ..load.clone() }).err().unwrap();
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert_eq!(instance.load(&load).unwrap().placement().unwrap().precision, "", "it is not guessed");
}

#[test]
fn a_format_that_is_not_onnx_is_refused() {
    let error = refused(&Load::new(Source { format: "tflite".into(), path: probe() }));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
}

#[test]
fn a_request_refuses_what_does_not_fit() {
    let instance = open();
    let model = instance.load(&sized(&probe(), &[("batch", 1)])).unwrap();
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    let wide = floats(&[1, 65], &[0.0; 65]);
    assert_eq!(request.bind(Direction::Input, 0, wide).unwrap_err().code, Code::InvalidArgument);
    let output = request.bind(Direction::Output, 0, floats(&[1, 32], &[0.0; 32])).unwrap_err();
    assert_eq!(output.code, Code::Unimplemented, "the page allocates outputs itself");
}

#[test]
fn a_missing_part_is_named_with_the_command_that_installs_it() {
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    for options in [
        [("browser", "/nowhere/chromium"), ("ort_web", &ort_web)],
        [("browser", &browser), ("ort_web", "/nowhere/dist")],
        [("browser", &browser), ("ort_web", "")],
    ] {
        let error = open_with(&options).err().expect("the part to be missed");
        assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
        assert!(error.message.contains("host runtime install webnn"), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn a_browser_without_webnn_has_devices_that_say_so() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    let folder = tempfile::tempdir().unwrap();
    let lib = std::path::Path::new(&browser).with_file_name("lib");
    symlink(lib, folder.path().join("lib")).unwrap();
    let program = folder.path().join("chromium");
    std::fs::write(
        &program,
        format!("#!/bin/sh\nexec '{browser}' --disable-features=WebMachineLearningNeuralNetwork \"$@\"\n"),
    )
    .unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let instance = open_with(&[("browser", program.to_str().unwrap()), ("ort_web", &ort_web)]).unwrap();
    let device = &instance.devices().unwrap()[0];
    assert_eq!(device.why, Why::RUNTIME);
    assert!(device.reason.contains("Chrom") && device.reason.contains("has no WebNN cpu here"), "{}", device.reason);
    let error = instance.load(&sized(&probe(), &[("batch", 1)])).err().expect("no device, no model");
    assert_eq!((error.code, &error.message), (Code::Unavailable, &device.reason));
}

#[test]
#[cfg(unix)]
fn a_program_that_is_no_browser_is_refused() {
    let ort_web = part("SKILLBENCH_TEST_ORT_WEB");
    for program in ["/bin/true", "/etc/passwd"] {
        let error = open_with(&[("browser", program), ("ort_web", &ort_web)]).err().expect("no browser");
        assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
        assert!(error.message.contains(program) && error.message.contains("Chromium"), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn a_program_that_never_answers_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sleeper");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (program, ort_web) = (program.to_str().unwrap(), part("SKILLBENCH_TEST_ORT_WEB"));
    let options = [("browser", program), ("ort_web", &*ort_web), ("launch_timeout_s", "0.5")];
    let error = open_with(&options).err().expect("no browser");
    assert!(error.message.contains("within 0.5 s"), "{error}");
}

#[test]
fn files_that_are_not_onnx_runtime_web_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["ort.webgpu.min.mjs", "ort-wasm-simd-threaded.asyncify.mjs", "ort-wasm-simd-threaded.asyncify.wasm"] {
        std::fs::write(folder.path().join(file), "this is no module").unwrap();
    }
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), folder.path().to_str().unwrap());
    let error = open_with(&[("browser", &browser), ("ort_web", ort_web)]).err().expect("no engine");
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
    assert!(error.message.contains("cannot load ONNX Runtime Web"), "{error}");
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    let error = open_with(&[("call_timeout_s", "soon")]).err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("call_timeout_s"), "{error}");
    assert_eq!(open_with(&[("launch_timeout_s", "-1")]).err().unwrap().code, Code::InvalidArgument);
}
