//! The backend as the worker sees it: through its C table.

mod errors;
mod graphs;
mod running;

use skillbench_plugin_api::client::{BackendRef, Instance, Request};
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{DType, Element, HostTensor, Load, Options, Source};
use skillbench_rten::RtenBackend;
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
fn open(options: &[(&str, &str)]) -> Result<Instance, skillbench_plugin_api::Error> {
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    BackendRef::linked::<RtenBackend>()?.open(HostTable::leak(&Quiet), &Options(options))
}

fn load_of(path: &Path) -> Load {
    Load::new(Source::onnx(path))
}

/// The two-layer model that comes with the host.
fn probe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/engine/data/probe.onnx")
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
