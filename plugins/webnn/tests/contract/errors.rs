//! What goes wrong says whose fault it is, and what to do.

use super::opened;
use skillbench_onnx::Graph;
use skillbench_onnx::messages::{Dim as AnyDim, FLOAT, FLOAT16, Node, Size, ValueInfo};
use skillbench_plugin_api::{Code, Dim, Load, Why};
use skillbench_testkit::Sizes::Fixed;
use skillbench_testkit::graphs::{graph, port, write};
use skillbench_testkit::{errors, load_of, open, part, probe, refused};
use skillbench_webnn::WebnnBackend;

#[test]
fn a_dimension_that_stays_open_is_refused_by_name() {
    let instance = opened();
    let error = refused(&instance, &load_of(&probe::path()));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("'batch' of input 'x'"), "{error}");
    let range = Dim { name: "batch".into(), min: 1, opt: 2, max: 4 };
    let error = refused(&instance, &Load { dims: vec![range], ..load_of(&probe::path()) });
    assert_eq!(error.code, Code::Unimplemented);

    let folder = tempfile::tempdir().unwrap();
    let mut nameless = graph("Relu", FLOAT);
    let kind = nameless.input[0].of.as_mut().and_then(|of| of.tensor.as_mut()).unwrap();
    kind.shape.as_mut().unwrap().dim = vec![AnyDim::default()];
    let error = refused(&instance, &load_of(&write(folder.path(), nameless)));
    assert!(error.message.contains("input 'x' is open and has no name"), "{error}");
}

#[test]
fn a_fallback_is_refused_with_the_nodes_that_fell_back() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = [Node::new("Relu", &["x"], "h"), Node::new("Det", &["m"], "d"), Node::new("Add", &["h", "d"], "y")];
    let square = ValueInfo::of_tensor("m", FLOAT, vec![Size::Fixed(3), Size::Fixed(3)]);
    let mixed = Graph { node: nodes.into(), input: vec![port("x", FLOAT), square], ..graph("Add", FLOAT) };
    let load = Fixed.load(&write(folder.path(), mixed), &[("n", 4)]);
    let instance = opened();
    let error = refused(&instance, &load);
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("fallback refused: 1 of 3 nodes") && error.message.contains("(Det)"), "{error}");

    let model = instance.load(&Load { allow_fallback: true, ..load }).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(3), Some(2)));
    assert!(placement.engine.contains("WebAssembly"), "{}", placement.engine);
}

#[test]
fn an_operator_that_nobody_has_is_named() {
    errors::an_operator_that_is_not_there_is_named(&opened(), Fixed);
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    errors::a_truncated_file_is_not_a_whole_model(&opened(), Fixed);
}

#[test]
fn missing_files_are_named() {
    assert_eq!(errors::missing_files_are_named(&opened(), Fixed).code, Code::NotFound);
}

#[test]
fn a_graph_reads_no_file_but_those_beside_it() {
    errors::a_graph_reads_no_file_but_those_beside_it(&opened(), Fixed);
}

#[test]
fn weights_that_are_too_short_are_refused() {
    assert_eq!(errors::weights_that_are_too_short_are_refused(&opened(), Fixed).why, Why::MODEL);
}

#[test]
fn a_precision_is_applied_or_refused() {
    let instance = opened();
    errors::a_precision_is_not_replaced_by_another(&instance, Fixed);

    let folder = tempfile::tempdir().unwrap();
    let load = Fixed.load(&write(folder.path(), graph("Relu", FLOAT16)), &[("n", 4)]);
    let error = instance.load(&Load { precision: Some("float32".into()), ..load.clone() }).err().unwrap();
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    assert_eq!(instance.load(&load).unwrap().placement().unwrap().precision, "", "it is not guessed");
}

#[test]
fn a_format_that_is_not_onnx_is_refused() {
    errors::a_format_that_is_not_onnx_is_refused(&opened());
}

#[test]
fn a_request_refuses_what_does_not_fit() {
    errors::a_request_refuses_what_does_not_fit(&opened(), Fixed);
}

#[test]
fn a_missing_part_is_named_with_the_command_that_installs_it() {
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    for options in [
        [("browser", "/nowhere/chromium"), ("ort_web", &ort_web)],
        [("browser", &browser), ("ort_web", "/nowhere/dist")],
        [("browser", &browser), ("ort_web", "")],
    ] {
        let error = open::<WebnnBackend>(&options).err().expect("the part to be missed");
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
    let instance = open::<WebnnBackend>(&[("browser", program.to_str().unwrap()), ("ort_web", &ort_web)]).unwrap();
    let device = &instance.devices().unwrap()[0];
    assert_eq!(device.why, Why::RUNTIME);
    assert!(device.reason.contains("Chrom") && device.reason.contains("has no WebNN cpu here"), "{}", device.reason);
    let error = instance.load(&Fixed.load(&probe::path(), &[("batch", 1)])).err().expect("no device, no model");
    assert_eq!((error.code, &error.message), (Code::Unavailable, &device.reason));
}

#[test]
#[cfg(unix)]
fn a_program_that_is_no_browser_is_refused() {
    let ort_web = part("SKILLBENCH_TEST_ORT_WEB");
    for program in ["/bin/true", "/etc/passwd"] {
        let error = open::<WebnnBackend>(&[("browser", program), ("ort_web", &ort_web)]).err().expect("no browser");
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
    let error = open::<WebnnBackend>(&options).err().expect("no browser");
    assert!(error.message.contains("within 0.5 s"), "{error}");
}

#[test]
fn files_that_are_not_onnx_runtime_web_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["ort.webgpu.min.mjs", "ort-wasm-simd-threaded.asyncify.mjs", "ort-wasm-simd-threaded.asyncify.wasm"] {
        std::fs::write(folder.path().join(file), "this is no module").unwrap();
    }
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), folder.path().to_str().unwrap());
    let error = open::<WebnnBackend>(&[("browser", &browser), ("ort_web", ort_web)]).err().expect("no engine");
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
    assert!(error.message.contains("cannot load ONNX Runtime Web"), "{error}");
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    let wrong = [("call_timeout_s", "soon"), ("launch_timeout_s", "-1")];
    errors::options_are_named_where_they_do_not_parse::<WebnnBackend>(&wrong);
}
