//! The hardware backends, as far as this machine has something for them to run on: vendors' real libraries, in workers apart.

use serde_json::Value;
use skillbench_onnx::fields::put;
use skillbench_onnx::messages::*;
use skillbench_tests::{World, cells, outcomes};
use std::collections::BTreeMap;

/// What a cell found, as far as it is the same each time.
fn found(cell: &Value) -> (String, Value) {
    let precision = cell["placement"]["precision"].as_str().unwrap_or("unknown").to_string();
    let difference = cell["verification"]["max_relative_difference"].clone();
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    (precision, difference)
}

/// Verifies bert-tiny on these backends, in this order; what each found, by its name.
fn verified(plugins: &str) -> BTreeMap<String, (String, Value)> {
    let world = World::default();
    let model = ["--model", "bert-tiny", "--batch-sizes", "1", "--sequence-lengths", "32"];
    let (ran, document) = world.run(&[&["--plugin", plugins, "--verify-only", "--threads", "1"], &model[..]].concat());
    ran.exits_with(0);
    cells(&document).iter().map(|cell| (cell["plugin"].as_str().unwrap().to_string(), found(cell))).collect()
}

/// A graph of a Relu and one more operator on 2 x 2 matrices; how many of them is a dimension with a name.
fn graph_of(operator: &str, output_rank: usize) -> Vec<u8> {
    let size = |size| Size::Fixed(size);
    let input = ValueInfo::of_tensor("x", FLOAT, vec![Size::Named("batch".into()), size(2), size(2)]);
    let shape = [Size::Named("batch".into()), size(2), size(2)];
    let output = ValueInfo::of_tensor("y", FLOAT, shape[..output_rank].to_vec());
    let (mut graph, mut model, mut opset) = (vec![], vec![8, 8], vec![]);
    put(&mut graph, GRAPH_NODE, &Node::new("Relu", &["x"], "z").encode_to_vec());
    put(&mut graph, GRAPH_NODE, &Node::new(operator, &["z"], "y").encode_to_vec());
    put(&mut graph, 2, b"two operators");
    put(&mut graph, GRAPH_INPUT, &input.encode_to_vec());
    put(&mut graph, GRAPH_OUTPUT, &output.encode_to_vec());
    put(&mut model, MODEL_GRAPH, &graph);
    opset.extend([16, 17]);
    put(&mut model, 8, &opset);
    model
}

#[test]
fn every_hardware_name_is_usable_emulated_or_unavailable_with_evidence() {
    let ran = World::default().host(&["devices", "--verbose", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    for plugin in ["cpu", "cuda", "rocm", "mps", "openvino", "qnn", "webnn", "webgpu", "rten"] {
        let of: Vec<&Value> = rows.iter().filter(|row| row["plugin"] == plugin).collect();
        assert!(!of.is_empty(), "{plugin} is not listed");
        for row in &of {
            let status = row["status"].as_str().unwrap();
            let reason = status.strip_prefix("unavailable: ");
            assert!(matches!(status, "usable" | "emulated") || reason.is_some_and(|why| why.len() > 20), "{row:#}");
        }
        if plugin != "rten" && plugin != "mps" {
            let evidence = of[0]["looked at"].as_str().unwrap_or_else(|| panic!("{plugin} has no evidence"));
            assert!(evidence.contains(": "), "{evidence}");
        }
    }
}

#[test]
fn vendors_libraries_that_would_disagree_do_not_meet() {
    let together = verified("cpu,openvino,qnn,webgpu");
    assert_eq!(verified("webgpu,qnn,openvino,cpu"), together, "in another order");
    for plugin in ["cpu", "openvino", "qnn", "webgpu"] {
        assert_eq!(verified(plugin)[plugin], together[plugin], "{plugin} alone");
    }
    assert_eq!(together["openvino"].0, "float32");
    assert_eq!(together["qnn"].0, "float16", "the HTP has no other floats");
}

#[test]
fn emulated_and_browser_backends_are_marked_and_measured_when_asked_for() {
    let world = World::default();
    let (ran, document) = world.run(&[
        "--plugin",
        "qualcomm,webgpu,webnn",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--batch-sizes",
        "2",
    ]);
    ran.exits_with(0);
    let told: Vec<(&str, bool)> =
        cells(&document).iter().map(|c| (c["plugin"].as_str().unwrap(), c["emulated"].as_bool().unwrap())).collect();
    assert_eq!(told, [("qnn", true), ("webgpu", true), ("webnn", false)]);
    for cell in cells(&document) {
        assert_eq!(cell["verification"]["status"], "passed", "{cell:#}");
        assert!(cell["metrics"]["latency_ms"]["median"].as_f64().unwrap() > 0.0);
    }
    // A browser computes in processes of its own: their memory and CPU time count, and the worker's memory says nothing of the model.
    let webnn = &cells(&document)[2]["metrics"];
    let memory = &webnn["memory_mb"];
    assert!(
        webnn["cpu_ms"]["median"].as_f64() > webnn["latency_ms"]["median"].as_f64().map(|ms| 0.2 * ms),
        "{webnn:#}"
    );
    assert!(memory["loaded"].is_null(), "{webnn:#}");
    assert!(memory["peak"].as_f64() > memory["children_peak"].as_f64(), "{memory:#}");
    assert!(memory["children_peak"].as_f64().unwrap() > 100.0, "{memory:#}");
}

#[test]
fn a_precision_that_cannot_be_had_is_refused_with_the_reason() {
    let world = World::default();
    for (plugin, precision, reason) in [
        ("qnn", "float32", "the HTP computes floats in float16"),
        ("cpu", "float16", "as the graph says"),
        ("webgpu", "int8", "WebGPU has no int8"),
        ("openvino", "int8", "is not quantized"),
    ] {
        let asked = ["--plugin", plugin, "--precision", precision, "--model", "probe-mlp", "--bench", "inference"];
        let (ran, document) = world.run(&[&asked[..], &["--batch-sizes", "1", "--no-fix"]].concat());
        ran.exits_with(4);
        let message = cells(&document)[0]["reason"]["message"].as_str().unwrap();
        assert_eq!(outcomes(&document), ["unsupported"], "{plugin} {precision}: {message}");
        assert!(message.contains(reason), "{plugin} {precision}: {message}");
    }
}

#[test]
fn an_operator_that_an_engine_lacks_is_named() {
    let world = World::default();
    world.write("det.onnx", graph_of("Det", 1));
    for plugin in ["webgpu", "qnn", "webnn"] {
        let (ran, document) =
            world.run(&["--plugin", plugin, "--model", "det.onnx", "--bench", "inference", "--batch-sizes", "1"]);
        ran.exits_with(4);
        let cell = &cells(&document)[0];
        assert_ne!(cell["outcome"], "measured", "{cell:#}");
        assert!(cell["reason"]["message"].as_str().unwrap().contains("Det"), "{cell:#}");
    }
}

#[test]
fn a_dimension_that_stays_open_is_refused_where_only_fixed_ones_work() {
    let world = World::default();
    world.write("relu.onnx", graph_of("Relu", 3));
    let dynamic = ["--option", "qnn:dynamic_shapes=true"];
    let (ran, document) = world.run(
        &[&["--plugin", "qnn", "--model", "relu.onnx", "--bench", "inference", "--batch-sizes", "1"], &dynamic[..]]
            .concat(),
    );
    ran.exits_with(4);
    let message = cells(&document)[0]["reason"]["message"].as_str().unwrap();
    assert!(message.contains("dimension 'batch' is dynamic"), "{message}");
}

#[test]
fn without_a_plugin_one_is_chosen_by_preference_and_told() {
    let world = World::default();
    let (ran, document) = world.run(&[
        "--model",
        "probe-mlp,bert-tiny",
        "--bench",
        "inference",
        "--batch-sizes",
        "1",
        "--sequence-lengths",
        "32",
    ]);
    ran.exits_with(0).tells("bert-tiny is measured on ").tells("--plugin chooses others");
    assert_eq!(cells(&document).len(), 2, "one backend for each model");
    assert!(cells(&document).iter().all(|cell| cell["emulated"] == false && cell["plugin"] != "webnn"));
}

#[test]
fn the_web_platforms_join_a_run_when_they_are_asked_for() {
    let world = World::default();
    let asked = ["--include-web-platforms", "--plugin", "rten", "--model", "probe-mlp", "--bench", "inference"];
    let (ran, document) = world.run(&[&asked[..], &["--batch-sizes", "1"]].concat());
    ran.exits_with(0);
    let plugins: Vec<&str> = cells(&document).iter().map(|cell| cell["plugin"].as_str().unwrap()).collect();
    assert_eq!(plugins, ["rten", "webnn", "webgpu"]);
}

#[test]
fn an_architecture_that_runs_badly_on_a_device_is_warned_of() {
    let world = World::default();
    let asked = ["--plugin", "openvino", "--model", "llama-tiny", "--verify-only", "--batch-sizes", "1"];
    world
        .host(&[&["run"], &asked[..], &["--sequence-lengths", "16"]].concat())
        .tells("not known to run well on openvino");
}

#[test]
fn any_vendors_execution_provider_is_a_backend() {
    let world = World::default();
    let provider = world.host(&["runtime", "path", "qnn", "provider"]);
    let provider = provider.exits_with(0).stdout().trim().to_string();
    let htp = std::path::Path::new(&provider).with_file_name("libQnnHtp.so");
    let options = [
        format!("vendor-ep:provider={provider}"),
        format!("vendor-ep:provider_options=backend_path={};soc_model=60", htp.display()),
        "vendor-ep:fixed_shapes=true".into(),
        "vendor-ep:emulated=true".into(),
    ];
    let mut arguments =
        vec!["--plugin", "vendor-ep", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];
    options.iter().for_each(|option| arguments.extend(["--option", option]));
    let (ran, document) = world.run(&arguments);
    ran.exits_with(0);
    let cell = &cells(&document)[0];
    assert!(cell["placement"]["precision"].is_null(), "nobody can tell it: {cell:#}");
    assert!(cell["placement"]["engine"].as_str().unwrap().contains("providers_qnn"), "{cell:#}");
    assert_eq!(cell["emulated"], true);
}

#[test]
fn a_vendors_library_that_is_cut_short_is_told_by_its_path() {
    let world = World::default();
    let provider = world.host(&["runtime", "path", "webgpu", "provider"]).exits_with(0).stdout();
    let whole = std::fs::read(provider.trim()).unwrap();
    let cut = world.write("libprovider.so", &whole[..whole.len() / 2]);
    let option = format!("webgpu:provider={}", cut.display());
    let (ran, document) = world.run(&[
        "--plugin",
        "webgpu",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--batch-sizes",
        "1",
        "--option",
        &option,
    ]);
    ran.exits_with(5);
    let reason = cells(&document)[0]["reason"]["message"].as_str().unwrap();
    assert_eq!(outcomes(&document), ["unavailable"], "{reason}");
    assert!(reason.contains("libprovider.so"), "{reason}");
}

#[test]
fn the_sdk_that_the_environment_names_is_the_one_that_is_looked_for() {
    let world = World::default();
    let mut command = world.command(&["why", "qnn"]);
    command.env("QNN_SDK", world.path());
    let told = command.output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("variable QNN_SDK") && told.contains("libQnnHtp.so"), "{told}");
}

#[test]
fn what_a_vendor_sets_cannot_allow_a_fallback() {
    let world = World::default();
    world.write("det.onnx", graph_of("Det", 1));
    let provider = world.host(&["runtime", "path", "qnn", "provider"]).exits_with(0).stdout().trim().to_string();
    let htp = std::path::Path::new(&provider).with_file_name("libQnnHtp.so");
    let off = "session.disable_cpu_ep_fallback=0;session.record_ep_graph_assignment_info=0";
    let options = [
        format!("vendor-ep:provider={provider}"),
        format!("vendor-ep:provider_options=backend_path={};soc_model=60", htp.display()),
        format!("vendor-ep:session_options={off}"),
    ];
    let mut arguments =
        vec!["--plugin", "vendor-ep", "--model", "det.onnx", "--bench", "inference", "--batch-sizes", "1"];
    options.iter().for_each(|option| arguments.extend(["--option", option]));
    let (ran, document) = world.run(&arguments);
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["unsupported"], "{:#}", cells(&document)[0]);
}

#[test]
fn with_all_backends_those_that_are_left_out_are_told_in_the_document_too() {
    let world = World::default();
    let (ran, document) =
        world.run(&["--plugin", "all", "--model", "probe-mlp", "--verify-only", "--batch-sizes", "1"]);
    ran.exits_with(0);
    let left_out = document["left_out"].as_object().unwrap();
    let measured: Vec<&str> = cells(&document).iter().map(|cell| cell["plugin"].as_str().unwrap()).collect();
    assert!(measured.contains(&"rten") && measured.contains(&"cpu"), "{measured:?}");
    for emulated in ["qnn", "webgpu"] {
        assert!(left_out[emulated].as_str().unwrap().contains("emulated"), "{left_out:?}");
    }
    assert!(left_out["webnn"].as_str().unwrap().contains("web platform"), "{left_out:?}");
    assert!(left_out.keys().all(|plugin| !measured.contains(&plugin.as_str())));
}

#[test]
fn another_name_of_a_plugin_serves_wherever_its_id_does() {
    let world = World::default();
    world.host(&["runtime", "path", "qualcomm", "provider"]).exits_with(0).tells("providers_qnn");
    world.host(&["why", "qualcomm"]).exits_with(0).tells("QNN SDK");
    let asked = ["--plugin", "qualcomm", "--option", "qualcomm:soc_model=60", "--model", "probe-mlp", "--verify-only"];
    let (ran, document) = world.run(&[&asked[..], &["--batch-sizes", "1"]].concat());
    ran.exits_with(0);
    assert_eq!(cells(&document)[0]["plugin"], "qnn");
}

#[test]
fn a_backend_is_chosen_that_has_the_asked_precision() {
    let world = World::default();
    let asked = ["run", "--model", "probe-mlp", "--verify-only", "--batch-sizes", "1", "--precision", "float16"];
    let ran = world.host(&asked);
    // Whether OpenVINO has it on a processor is the processor's.
    match ran.code() {
        Some(0) => ran.tells("probe-mlp is measured on openvino").tells("float16"),
        _ => ran.tells("no backend here measures probe-mlp").tells("float16").exits_with(2),
    };
}
