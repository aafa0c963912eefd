//! The harness in the real browser that `scripts/test` names: what happens when parts of it go away, and WebGPU on it.

#[cfg(target_os = "linux")]
mod alone;
#[cfg(target_os = "linux")]
mod killed;
mod losing;
mod webgpu;

use skillbench_browser::{Accelerator, BrowserEngine, BrowserModel, Settings};
use skillbench_plugin_api::client::{Instance, Model, Request};
use skillbench_plugin_api::sdk::{Backend, Host};
use skillbench_plugin_api::{Device, Load, Options, Result};
use skillbench_testkit::{Sizes, part, probe, taken};
use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::Arc;

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

/// The backend in the real browser, and the engine behind it.
fn open(more: &[(&str, &str)]) -> (Instance, Arc<BrowserEngine>) {
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    let options = [&[("browser", &*browser), ("ort_web", &*ort_web)], more].concat();
    let instance = skillbench_testkit::open::<Open>(&options).unwrap();
    (instance, OPENED.with(|opened| opened.borrow_mut().take()).unwrap())
}

/// The two-layer model that comes with the host, on a device.
fn probe_on(device: u32) -> Load {
    Load { devices: vec![device], ..Sizes::Fixed.load(&probe::path(), &[("batch", 1)]) }
}

/// A request of the probe model with its input bound.
fn bound<'m>(model: &'m Model) -> Request<'m> {
    let values: Vec<f32> = (0..probe::INPUT).map(|index| (index as f32 * 0.37).sin()).collect();
    probe::bound(model, &values)
}

fn answer(model: &Model) -> Vec<f32> {
    let mut request = bound(model);
    request.run().unwrap();
    taken(&mut request, 0)
}
