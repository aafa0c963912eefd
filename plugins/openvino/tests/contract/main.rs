//! The backend as the worker sees it: through its C table, on the OpenVINO that `OPENVINO_LIB_PATH` names.

mod devices;
mod errors;
mod graphs;
mod precision;
mod running;
mod shapes;

use skillbench_openvino::OpenVinoBackend;
use skillbench_plugin_api::client::{BackendRef, Instance, Model, Request};
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{DType, Direction, Element, Error, HostTensor, Load, Options, Source};
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Quiet;

impl HostServices for Quiet {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
}

/// The backend, opened with these options.
fn open(options: &[(&str, &str)]) -> Result<Instance, Error> {
    assert!(
        std::env::var_os("OPENVINO_LIB_PATH").is_some(),
        "OPENVINO_LIB_PATH does not name libopenvino_c: run scripts/test, which installs OpenVINO and sets it"
    );
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    BackendRef::linked::<OpenVinoBackend>()?.open(HostTable::leak(&Quiet), &Options(options))
}

fn real(options: &[(&str, &str)]) -> Instance {
    open(options).unwrap()
}

fn load_of(path: &Path) -> Load {
    Load::new(Source::onnx(path))
}

fn in_precision(precision: &str, load: Load) -> Load {
    Load { precision: Some(precision.into()), ..load }
}

fn refused(instance: &Instance, load: &Load) -> Error {
    instance.load(load).err().expect("the load to be refused")
}

/// The two-layer model that comes with the host.
fn probe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/engine/data/probe.onnx")
}

/// Input and output of the probe model for a batch of two, as float64 arithmetic has them.
fn expected() -> (Vec<f32>, Vec<f32>) {
    let text = std::fs::read_to_string(probe().with_extension("json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap() as f32;
    let data = |port: &serde_json::Value| port["data"].as_array().unwrap().iter().map(number).collect();
    (data(&file["inputs"]["x"]), data(&file["outputs"]["y"]))
}

/// The largest difference between two lists of as many numbers.
fn apart(have: &[f32], want: &[f32]) -> f32 {
    assert_eq!(have.len(), want.len());
    have.iter().zip(want).map(|(have, want)| (have - want).abs()).fold(0.0, f32::max)
}

fn run_probe(model: &Model, x: &[f32]) -> Vec<f32> {
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[x.len() / 64, 64], x)).unwrap();
    request.run().unwrap();
    taken(&mut request, 0)
}

fn tensor(dtype: DType, shape: &[usize], bytes: impl IntoIterator<Item = u8>) -> Arc<HostTensor> {
    let mut tensor = HostTensor::zeroed(dtype, shape).unwrap();
    tensor.bytes_mut().iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Arc::new(tensor)
}

fn floats(shape: &[usize], data: &[f32]) -> Arc<HostTensor> {
    tensor(DType::F32, shape, data.iter().flat_map(|value| value.to_ne_bytes()))
}

fn integers(shape: &[usize], data: &[i64]) -> Arc<HostTensor> {
    tensor(DType::I64, shape, data.iter().flat_map(|value| value.to_ne_bytes()))
}

fn booleans(shape: &[usize], data: &[bool]) -> Arc<HostTensor> {
    tensor(DType::Bool, shape, data.iter().map(|value| u8::from(*value)))
}

/// Takes an output and reads its elements.
fn taken<T: Element>(request: &mut Request, index: u32) -> Vec<T> {
    let output = request.take_output(index).unwrap().to_host().unwrap();
    output.as_slice::<T>().expect("the element type").to_vec()
}
