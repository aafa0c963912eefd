//! The harness in the real browser that `scripts/test` names: what happens when parts of it go away, and WebGPU on it.

mod losing;
mod webgpu;

use skillbench_browser::{Accelerator, BrowserEngine, BrowserModel, Settings};
use skillbench_plugin_api::client::{BackendRef, Instance, Model, Request};
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::sdk::{Backend, Host};
use skillbench_plugin_api::{DType, Device, Dim, Direction, HostTensor, Load, Options, Result, Source};
use std::cell::RefCell;
use std::ffi::CStr;
use std::path::Path;
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

/// A backend on the harness that lets the test at its engine.
struct Open(Arc<BrowserEngine>);

thread_local! {
    /// The engine that was opened last on this thread.
    static OPENED: RefCell<Option<Arc<BrowserEngine>>> = const { RefCell::new(None) };
}

impl Backend for Open {
    const ID: &'static CStr = c"open";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    type Model = BrowserModel;

    fn open(host: Host, options: &Options) -> Result<Open> {
        let settings = Settings::read(host, options, "open")?;
        let devices = [("webnn", Accelerator::WebNn("cpu")), ("webgpu", Accelerator::WebGpu)];
        let engine = Arc::new(BrowserEngine::open(host, settings, &devices)?);
        OPENED.with(|opened| *opened.borrow_mut() = Some(Arc::clone(&engine)));
        Ok(Open(engine))
    }

    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }

    fn load(&self, load: &Load) -> Result<BrowserModel> {
        self.0.load(load)
    }
}

/// A part that the tests cannot do without.
fn part(variable: &str) -> String {
    let missing = || panic!("{variable} is not set: run the tests with scripts/test, which sets it");
    std::env::var(variable).unwrap_or_else(|_| missing())
}

/// The backend in the real browser, and the engine behind it.
fn open(more: &[(&str, &str)]) -> (Instance, Arc<BrowserEngine>) {
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    let options = [("browser", &*browser), ("ort_web", &*ort_web)].into_iter().chain(more.iter().copied());
    let options = Options(options.map(|(key, value)| (key.to_string(), value.to_string())).collect());
    let instance = BackendRef::linked::<Open>().unwrap().open(HostTable::leak(&Quiet), &options).unwrap();
    (instance, OPENED.with(|opened| opened.borrow_mut().take()).unwrap())
}

/// The two-layer model that comes with the host, on a device.
fn probe(device: u32) -> Load {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/engine/data/probe.onnx");
    Load { devices: vec![device], dims: vec![Dim::fixed("batch", 1)], ..Load::new(Source::onnx(&path)) }
}

/// A request of the probe model with its input bound.
fn bound<'m>(model: &'m Model) -> Request<'m> {
    let mut input = HostTensor::zeroed(DType::F32, &[1, 64]).unwrap();
    let values = (0..64).flat_map(|index| (index as f32 * 0.37).sin().to_le_bytes());
    input.bytes_mut().iter_mut().zip(values).for_each(|(to, from)| *to = from);
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, Arc::new(input)).unwrap();
    request
}

fn answer(model: &Model) -> Vec<f32> {
    let mut request = bound(model);
    request.run().unwrap();
    request.take_output(0).unwrap().to_host().unwrap().as_slice::<f32>().unwrap().to_vec()
}
