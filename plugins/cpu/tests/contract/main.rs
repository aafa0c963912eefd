//! The backend as the worker sees it: through its C table, on the ONNX Runtime that `ORT_DYLIB_PATH` names.
//!
//! Where it names none, the tests that need one see the error that says so, and pass.

mod errors;
mod graphs;
mod running;
mod shapes;

use skillbench_cpu::CpuBackend;
use skillbench_plugin_api::client::{BackendRef, Instance, Request};
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{Code, DType, Element, Error, HostTensor, Load, Options, Source, Why};
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
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    BackendRef::linked::<CpuBackend>()?.open(HostTable::leak(&Quiet), &Options(options))
}

/// The backend on a real ONNX Runtime; without one, nothing, and the error has been looked at.
fn real(options: &[(&str, &str)]) -> Option<Instance> {
    match (open(options), std::env::var_os("ORT_DYLIB_PATH")) {
        (opened, Some(_)) => Some(opened.unwrap()),
        (opened, None) => {
            let error = opened.err().expect("no library, no instance");
            assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
            assert!(error.message.contains("host runtime install cpu"), "{error}");
            None
        }
    }
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
