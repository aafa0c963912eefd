//! The backend as the worker sees it: through its C table, in the real browser that `scripts/test` names.

mod errors;
mod graphs;
mod running;

use skillbench_plugin_api::client::{BackendRef, Instance, Request};
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{DType, Dim, Element, Error, HostTensor, Load, Options, Source};
use skillbench_webnn::WebnnBackend;
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

/// A part that the tests cannot do without.
fn part(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run the tests with scripts/test, which sets it"))
}

/// The backend, opened with just these options.
fn open_with(options: &[(&str, &str)]) -> Result<Instance, Error> {
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    BackendRef::linked::<WebnnBackend>()?.open(HostTable::leak(&Quiet), &Options(options))
}

/// The backend in the real browser.
fn open() -> Instance {
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    open_with(&[("browser", &browser), ("ort_web", &ort_web)]).unwrap()
}

fn load_of(path: &Path) -> Load {
    Load::new(Source::onnx(path))
}

fn sized(path: &Path, dims: &[(&str, i64)]) -> Load {
    Load { dims: dims.iter().map(|(name, size)| Dim::fixed(name, *size)).collect(), ..load_of(path) }
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

/// Takes an output and reads its elements.
fn taken<T: Element>(request: &mut Request, index: u32) -> Vec<T> {
    let output = request.take_output(index).unwrap().to_host().unwrap();
    output.as_slice::<T>().expect("the element type").to_vec()
}
