//! The mps backend: ONNX Runtime with Core ML on Apple's processors. Its devices are the sets of units that Core ML may use.
//!
//! `provider` says what is particular to it; the rest is `skillbench-onnxruntime`. Not here: `unsafe`, and anything that another
//! backend on ONNX Runtime needs too.

#![deny(unsafe_code)]

mod provider;
mod units;

use provider::{CoreMl, NAME};
use skillbench_onnxruntime::{Engine, OFFERS, OrtModel, Runtime, Settings, options_schema};
use skillbench_plugin_api::sdk::{Backend, Host, Offers};
use skillbench_plugin_api::{Device, Error, Load, Options, Result, Why};
use std::env::consts::{ARCH, OS};
use std::ffi::CStr;
use units::Units;

pub struct MpsBackend(Engine<CoreMl>);

impl Backend for MpsBackend {
    const ID: &'static CStr = c"mps";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!(
        r#""units": {
                "enum": ["cpu-gpu", "cpu-npu", "all", "cpu"],
                "description": "What Core ML may compute on. Default: each of these is a device of its own."
            }"#,
    );

    const OFFERS: Offers = OFFERS;

    type Model = OrtModel;

    fn open(host: Host, options: &Options) -> Result<MpsBackend> {
        let (settings, units) = (Settings::read(options)?, Units::read(options)?);
        host.evidence("operating system", &format!("{OS} on {ARCH}"));
        if OS != "macos" {
            let text = format!("Core ML is a part of macOS, and this is {OS} on {ARCH}: use another backend here");
            return Err(Error::unavailable(Why::PLATFORM, text));
        }
        let processor = units::processor();
        host.evidence("processor", &processor);
        let runtime = Runtime::built_with(NAME, options, "mps");
        let runtime = runtime.inspect_err(|error| host.evidence("ONNX Runtime", &error.message))?;
        Engine::open(host, runtime, CoreMl::new(units, &processor), settings).map(MpsBackend)
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

    fn profiles(&self) -> bool {
        true
    }
}

skillbench_plugin_api::export_plugin! {
    id: "mps",
    name: "ONNX Runtime with Core ML",
    vendor: "skillbench",
    backend: MpsBackend,
}
