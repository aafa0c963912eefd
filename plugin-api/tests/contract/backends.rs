//! What every backend does, held against those that a vendor starts from: the templates, and the fixtures in C++ and Rust.

use crate::compile::{cargo_library, cpp_plugin, make_c_template, rust_template};
use crate::loading::{backend, floats, host, stopping_host};
use crate::model::{Graph, distance, example, probe};
use skillbench_plugin_api::client::{BackendRef, Instance, Model, Request};
use skillbench_plugin_api::{Code, DType, Direction, Error, HostTensor, Load, Options, Source, Why};
use std::path::Path;
use std::sync::Arc;

type Rule = (&'static str, fn(&Bench));

/// A backend, and a folder for models.
struct Bench {
    backend: BackendRef,
    instance: Instance,
    folder: tempfile::TempDir,
}

const RULES: &[Rule] = &[
    ("it computes the probe", computes_the_probe),
    ("its ports are those of the file", names_its_ports),
    ("its placement tells what happened", tells_its_placement),
    ("requests share a model and run at once", requests_run_at_once),
    ("outputs go into the caller's memory", writes_into_bound_outputs),
    ("an output is given away once and never written again", gives_an_output_away_once),
    ("an unbound input is a failed precondition", refuses_unbound_inputs),
    ("a tensor that does not fit is refused and the port stays", refuses_tensors_that_do_not_fit),
    ("memory of another batch is refused at run", refuses_outputs_of_another_batch),
    ("an operator it lacks is named", names_operators_it_lacks),
    ("a precision it lacks is refused", refuses_other_precisions),
    ("a device that is not there is refused", refuses_other_devices),
    ("a damaged file is an error", survives_damaged_files),
    ("shapes that do not fit together are refused", refuses_shapes_that_do_not_fit),
];

/// What a template leaves out, and a whole engine does not.
const WHOLE: &[Rule] = &[
    ("the node of an operator it lacks is named", names_nodes_it_lacks),
    ("weights may lie beside the model", reads_external_weights),
    ("external weights that are missing, short or outside are errors", refuses_bad_external_weights),
];
const GEMM: &[Rule] = &[("it computes Gemm, with a transposed weight too", computes_gemm)];
const POLITE: &[Rule] = &[("it stops when the host is stopping", stops_when_told)];

/// Runs every rule, and tells all that are broken.
fn hold(library: &Path, rules: &[&[Rule]]) {
    let backend = backend(library);
    let mut broken = Vec::new();
    for (rule, check) in rules.iter().flat_map(|rules| rules.iter()) {
        let instance = backend.open(host(), &Options::default()).unwrap();
        let bench = Bench { backend: backend.clone(), instance, folder: tempfile::tempdir().unwrap() };
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&bench))).is_err() {
            broken.push(*rule);
        }
    }
    assert!(broken.is_empty(), "broken: {broken:#?}");
}

/// Holds a backend of the templates' operators against all rules.
pub fn keeps_the_rules(library: &Path) {
    hold(library, &[RULES, GEMM]);
}

#[test]
fn the_backend_in_c_keeps_every_rule() {
    let folder = tempfile::tempdir().unwrap();
    hold(&make_c_template(folder.path()), &[RULES, WHOLE, GEMM, POLITE]);
}

#[test]
fn the_rust_template_keeps_every_rule_of_a_template() {
    let folder = tempfile::tempdir().unwrap();
    hold(&rust_template(folder.path()), &[RULES, GEMM, POLITE]);
}

#[test]
fn a_plugin_in_cpp_keeps_every_rule() {
    let folder = tempfile::tempdir().unwrap();
    hold(&cpp_plugin(folder.path()), &[RULES, WHOLE, POLITE]);
}

#[test]
fn the_misbehaving_plugin_behaves_unless_told_otherwise() {
    hold(&cargo_library("skillbench-fixture-misbehave"), &[RULES, WHOLE, GEMM]);
}

impl Bench {
    fn probe(&self) -> Model<'_> {
        self.instance.load(&Load::new(Source::onnx(&probe()))).unwrap()
    }

    fn write(&self, graph: Graph) -> Load {
        self.write_bytes(&graph.file())
    }

    fn write_bytes(&self, bytes: &[u8]) -> Load {
        let path = self.folder.path().join("model.onnx");
        std::fs::write(&path, bytes).unwrap();
        Load::new(Source::onnx(&path))
    }

    /// The error of `load`; `supports` has to say the same.
    fn refused(&self, load: &Load) -> Error {
        let error = self.instance.load(load).err().expect("the load is refused");
        assert_eq!(self.instance.supports(load).expect_err("supports refuses it too").code, error.code);
        error
    }

    fn run(&self, load: &Load, input: Arc<HostTensor>) -> Vec<f32> {
        let model = self.instance.load(load).unwrap();
        let mut request = model.request().unwrap();
        request.bind(Direction::Input, 0, input).unwrap();
        request.run().unwrap();
        taken(&mut request)
    }
}

fn taken(request: &mut Request<'_>) -> Vec<f32> {
    let tensor = request.take_output(0).unwrap().to_host().unwrap();
    tensor.as_slice::<f32>().unwrap().to_vec()
}

fn computes_the_probe(bench: &Bench) {
    let (x, y) = example();
    bench.instance.supports(&Load::new(Source::onnx(&probe()))).unwrap();
    let got = bench.run(&Load::new(Source::onnx(&probe())), floats(&x.shape, &x.data));
    assert!(distance(&got, &y.data) < 1e-6, "off by {}", distance(&got, &y.data));
}

fn names_its_ports(bench: &Bench) {
    let model = bench.probe();
    let ([x], [y]) = (model.inputs(), model.outputs()) else { panic!("one input and one output") };
    assert_eq!((x.name.as_str(), x.dtype, &x.shape[..]), ("x", DType::F32, &[None, Some(64)][..]));
    assert_eq!((y.name.as_str(), y.dtype, &y.shape[..]), ("y", DType::F32, &[None, Some(32)][..]));
    let named = [Some("batch".to_owned()), None];
    assert_eq!((&x.dim_names[..], &y.dim_names[..]), (&named[..], &named[..]));
}

fn tells_its_placement(bench: &Bench) {
    let placement = bench.probe().placement().unwrap();
    let devices = bench.instance.devices().unwrap();
    assert_eq!(placement.precision, "float32");
    assert_eq!(placement.device, devices[0].id);
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(5), Some(5)));
    assert_eq!((placement.cache_hit, placement.upload_ns), (None, None));
    assert!(!placement.engine.is_empty() && devices[0].memory_bytes.is_none());
}

fn requests_run_at_once(bench: &Bench) {
    let ((x, y), model) = (example(), bench.probe());
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let (x, y, model) = (&x, &y, &model);
            scope.spawn(move || {
                // Each thread has a batch of its own, of rows that it has to find again.
                let (rows, which) = (thread + 1, thread % 2);
                let row = &x.data[which * 64..][..64];
                let mut request = model.request().unwrap();
                request.bind(Direction::Input, 0, floats(&[rows, 64], &row.repeat(rows))).unwrap();
                for _ in 0..200 {
                    request.run().unwrap();
                    let want = y.data[which * 32..][..32].repeat(rows);
                    assert!(distance(&taken(&mut request), &want) < 1e-6);
                }
            });
        }
    });
}

fn writes_into_bound_outputs(bench: &Bench) {
    let ((x, y), model) = (example(), bench.probe());
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&x.shape, &x.data)).unwrap();
    let memory = floats(&y.shape, &[]);
    request.bind(Direction::Output, 0, memory.clone()).unwrap();
    request.run().unwrap();
    assert!(distance(memory.as_slice().unwrap(), &y.data) < 1e-6);
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition);
    request.leave_output(0).unwrap();
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition);
    request.run().unwrap();
    assert!(distance(&taken(&mut request), &y.data) < 1e-6);
}

fn gives_an_output_away_once(bench: &Bench) {
    let ((x, y), model) = (example(), bench.probe());
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&x.shape, &x.data)).unwrap();
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition);
    request.run().unwrap();
    let first = request.take_output(0).unwrap();
    assert_eq!(first.shape(), y.shape);
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition);
    request.bind(Direction::Input, 0, floats(&[1, 64], &[0.0; 64])).unwrap();
    request.run().unwrap();
    assert!(distance(first.to_host().unwrap().as_slice().unwrap(), &y.data) < 1e-6);
    drop(request);
    assert!(distance(first.to_host().unwrap().as_slice().unwrap(), &y.data) < 1e-6);
}

fn refuses_unbound_inputs(bench: &Bench) {
    let model = bench.probe();
    let error = model.request().unwrap().run().unwrap_err();
    assert_eq!(error.code, Code::FailedPrecondition);
    assert!(error.message.contains("'x'"), "{error}");
}

fn refuses_tensors_that_do_not_fit(bench: &Bench) {
    let ((x, y), model) = (example(), bench.probe());
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&x.shape, &x.data)).unwrap();
    let wrong = [(DType::F64, &[2, 64][..]), (DType::F32, &[2, 63]), (DType::F32, &[128]), (DType::F32, &[1, 2, 64])];
    for (dtype, shape) in wrong {
        let tensor = Arc::new(HostTensor::zeroed(dtype, shape).unwrap());
        let error = request.bind(Direction::Input, 0, tensor).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{shape:?}");
        assert!(error.message.contains("'x'"), "{error}");
    }
    let error = request.bind(Direction::Input, 7, floats(&[1], &[])).unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    request.run().unwrap();
    assert!(distance(&taken(&mut request), &y.data) < 1e-6);
}

fn refuses_outputs_of_another_batch(bench: &Bench) {
    let ((x, y), model) = (example(), bench.probe());
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&x.shape, &x.data)).unwrap();
    let memory = floats(&[3, 32], &[7.0; 96]);
    request.bind(Direction::Output, 0, memory.clone()).unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::InvalidArgument);
    assert_eq!(memory.as_slice::<f32>().unwrap(), [7.0; 96]);
    request.leave_output(0).unwrap();
    request.run().unwrap();
    assert!(distance(&taken(&mut request), &y.data) < 1e-6);
}

fn names_operators_it_lacks(bench: &Bench) {
    let ports = || Graph::default().input("x", &[None, Some(4)]).output("y", &[None, Some(4)]);
    let error = bench.refused(&bench.write(ports().node("Softmax", &["x"], "y", &[])));
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
    assert!(error.message.contains("Softmax"), "{error}");
}

fn names_nodes_it_lacks(bench: &Bench) {
    let ports = || Graph::default().input("x", &[None, Some(4)]).output("y", &[None, Some(4)]);
    let error = bench.refused(&bench.write(ports().node("Softmax", &["x"], "y", &[])));
    assert!(error.message.contains("'Softmax'") && error.message.contains("the-node"), "{error}");
}

fn refuses_other_precisions(bench: &Bench) {
    let mut load = Load::new(Source::onnx(&probe()));
    load.precision = Some("float16".into());
    let error = bench.refused(&load);
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
    load.precision = Some("float32".into());
    bench.instance.load(&load).unwrap();
}

fn refuses_other_devices(bench: &Bench) {
    let mut load = Load::new(Source::onnx(&probe()));
    load.devices = vec![0];
    bench.instance.load(&load).unwrap();
    load.devices = vec![9];
    assert_eq!(bench.instance.load(&load).err().unwrap().code, Code::NotFound);
}

fn survives_damaged_files(bench: &Bench) {
    let whole = std::fs::read(probe()).unwrap();
    for length in (0..400).chain((400..whole.len()).step_by(997)) {
        let code = bench.refused(&bench.write_bytes(&whole[..length])).code;
        assert_eq!(code, Code::InvalidArgument, "{length} bytes");
    }
    // What is flipped may be a weight: then the file is still sound.
    let (mut state, mut flipped) = (1_u64, whole.clone());
    for round in 0..600_usize {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let at = if round % 2 == 0 { (state >> 33) as usize % 300 } else { (state >> 33) as usize % whole.len() };
        flipped.copy_from_slice(&whole);
        flipped[at] ^= (state >> 24) as u8 | 1;
        let loaded = bench.instance.load(&bench.write_bytes(&flipped));
        assert!(loaded.err().is_none_or(|error| error.code != Code::Internal), "a panic is no answer");
    }
    assert_eq!(bench.refused(&bench.write_bytes(b"this is no model\n")).code, Code::InvalidArgument);
    let missing = Load::new(Source::onnx(&bench.folder.path().join("missing.onnx")));
    assert!(bench.refused(&missing).message.contains("missing.onnx"));
    bench.refused(&Load::new(Source::onnx(bench.folder.path())));
}

const WEIGHT: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

/// y = x W with W of [2, 3] in `weights.bin`, eight bytes from its start.
fn with_external(entries: &[(&str, &str)]) -> Graph {
    Graph::default().input("x", &[None, Some(2)]).output("y", &[None, Some(3)]).external("w", &[2, 3], entries).node(
        "MatMul",
        &["x", "w"],
        "y",
        &[],
    )
}

fn write_weights(bench: &Bench) {
    let bytes: Vec<u8> = [0.0, 0.0].iter().chain(&WEIGHT).flat_map(|value: &f32| value.to_le_bytes()).collect();
    std::fs::write(bench.folder.path().join("weights.bin"), bytes).unwrap();
}

fn reads_external_weights(bench: &Bench) {
    write_weights(bench);
    for entries in [
        &[("location", "weights.bin"), ("offset", "8"), ("length", "24")][..],
        &[("location", "weights.bin"), ("offset", "8")],
    ] {
        let got = bench.run(&bench.write(with_external(entries)), floats(&[1, 2], &[1.0, 10.0]));
        assert_eq!(got, [41.0, 52.0, 63.0]);
    }
}

fn refuses_bad_external_weights(bench: &Bench) {
    write_weights(bench);
    std::fs::create_dir(bench.folder.path().join("below")).unwrap();
    let outside = bench.folder.path().join("weights.bin").to_str().unwrap().to_owned();
    let bad = [
        &[("location", "missing.bin")][..],
        &[("location", "weights.bin"), ("offset", "12")],
        &[("location", "weights.bin"), ("offset", "8"), ("length", "20")],
        &[("location", "below/../weights.bin"), ("offset", "8")],
        &[("location", &outside), ("offset", "8")],
        &[("location", "weights.bin"), ("offset", "18446744073709551615")],
    ];
    for entries in bad {
        let error = bench.instance.load(&bench.write(with_external(entries))).err().expect("the load is refused");
        assert!(error.message.contains("'w'"), "{entries:?}: {error}");
    }
}

fn refuses_shapes_that_do_not_fit(bench: &Bench) {
    let graph = Graph::default()
        .input("x", &[None, Some(4)])
        .output("y", &[None, Some(3)])
        .weight("w", &[2, 3], &WEIGHT)
        .node("MatMul", &["x", "w"], "y", &[]);
    assert_eq!(bench.refused(&bench.write(graph)).code, Code::InvalidArgument);
    let unknown = Graph::default().input("x", &[None, Some(4)]).output("y", &[]).node("Relu", &["z"], "y", &[]);
    assert_eq!(bench.refused(&bench.write(unknown)).code, Code::InvalidArgument);
}

fn computes_gemm(bench: &Bench) {
    let gemm = |transposed: bool, inputs: &[&str]| {
        let (dims, data) = match transposed {
            false => ([2, 3], WEIGHT),
            true => ([3, 2], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        };
        Graph::default()
            .input("x", &[None, Some(2)])
            .output("y", &[None, Some(3)])
            .weight("w", &dims, &data)
            .weight("b", &[3], &[0.5, 0.25, -1.0])
            .node("Gemm", inputs, "y", &[("transB", transposed.into())])
    };
    for transposed in [false, true] {
        let x = || floats(&[2, 2], &[1.0, 10.0, 0.0, 1.0]);
        let with_bias = bench.run(&bench.write(gemm(transposed, &["x", "w", "b"])), x());
        assert_eq!(with_bias, [41.5, 52.25, 62.0, 4.5, 5.25, 5.0]);
        assert_eq!(bench.run(&bench.write(gemm(transposed, &["x", "w"])), x()), [41.0, 52.0, 63.0, 4.0, 5.0, 6.0]);
    }
}

fn stops_when_told(bench: &Bench) {
    let instance = bench.backend.open(stopping_host(), &Options::default()).unwrap();
    let model = instance.load(&Load::new(Source::onnx(&probe()))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[1, 64], &[])).unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::Cancelled);
}
