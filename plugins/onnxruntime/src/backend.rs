//! A backend that is an execution provider and nothing more: what it adds is one small trait.

use crate::{Engine, OrtModel, Provider, Runtime, Settings, find_library};
use skillbench_plugin_api::sdk::{Backend, Bound, Host, Offers};
use skillbench_plugin_api::{Device, Load, Options, Result};
use std::ffi::CStr;

/// A provider with a name and options of its own.
pub trait OrtProvider: Provider + Sized {
    const ID: &'static CStr;
    /// Among its properties: `library`, `threads`, `dynamic_shapes` and `graph_optimization`, which are read here.
    const OPTIONS_SCHEMA: &'static CStr;
    /// The memory of its devices, by its DLPack number, for a provider that copies tensors by themselves, in the order in which it is given
    /// work: the copies of a run are then told apart from its work.
    const DEVICE_MEMORY: Option<i32> = None;

    /// Looks at what the provider needs, and tells the host what it found. ONNX Runtime is loaded already.
    ///
    /// # Errors
    /// `Unavailable` with what is missing and the next step.
    fn open(host: &Host, options: &Options, runtime: &'static Runtime) -> Result<Self>;
}

/// What every backend on ONNX Runtime offers.
pub const OFFERS: Offers = Offers { supports: true, alias: true, submit: true, from_memory: true, ..Offers::NONE };

/// The backend of a provider.
pub struct OrtBackend<P>(Engine<P>);

impl<P: OrtProvider> Backend for OrtBackend<P> {
    const ID: &'static CStr = P::ID;
    const OPTIONS_SCHEMA: &'static CStr = P::OPTIONS_SCHEMA;

    const OFFERS: Offers = Offers { device_memory: P::DEVICE_MEMORY, ..OFFERS };

    type Model = OrtModel;

    fn open(host: Host, options: &Options) -> Result<OrtBackend<P>> {
        let settings = Settings::read(options)?;
        let path = find_library(options, P::ID.to_str().unwrap_or_default())
            .inspect_err(|error| host.evidence("ONNX Runtime", &error.message))?;
        let runtime = Runtime::load(&path).inspect_err(|error| host.evidence("ONNX Runtime", &error.message))?;
        let provider = P::open(&host, options, runtime)?;
        let engine = Engine::open(host, runtime, provider, settings)?;
        Ok(OrtBackend(if P::DEVICE_MEMORY.is_some() { engine.copying_apart() } else { engine }))
    }

    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }

    fn supports(&self, load: &Load) -> Result<()> {
        self.0.supports(load)
    }

    fn load(&self, load: &Load) -> Result<OrtModel> {
        self.0.load(load)
    }

    fn copy(&self, from: &Bound, to: &Bound) -> Result<()> {
        self.0.copy(from, to)
    }

    fn profiles(&self) -> bool {
        true
    }
}
