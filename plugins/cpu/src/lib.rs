//! The cpu backend: ONNX Runtime on the processor.
//!
//! `provider` says what is particular to it; the rest is `skillbench-onnxruntime`. Not here: `unsafe`, and anything that
//! another backend on ONNX Runtime needs too.

#![deny(unsafe_code)]

mod device;
mod provider;

use provider::Cpu;
use skillbench_onnxruntime::{Engine, OrtModel, Runtime, Settings, find_library};
use skillbench_plugin_api::sdk::{Backend, Host};
use skillbench_plugin_api::{Device, Load, Options, Result};
use std::ffi::CStr;

pub struct CpuBackend(Engine<Cpu>);

impl Backend for CpuBackend {
    const ID: &'static CStr = c"cpu";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "threads": {
                "type": "integer",
                "minimum": 1,
                "description": "Threads to compute with, for each loaded model. Default: as many as the process may use cores."
            },
            "library": {
                "type": "string",
                "description": "Path of libonnxruntime, 1.24 or later. Default: what ORT_DYLIB_PATH says."
            },
            "dynamic_shapes": {
                "type": "boolean",
                "description": "Compile for every batch size and length, in place of those that are measured. Default: false."
            },
            "graph_optimization": {
                "enum": ["disable", "basic", "extended", "all"],
                "description": "How far ONNX Runtime may rewrite the graph. Default: all."
            }
        }
    }"#;

    type Model = OrtModel;

    fn open(host: Host, options: &Options) -> Result<CpuBackend> {
        let settings = Settings::read(options)?;
        let runtime = Runtime::load(&find_library(options, "cpu")?)?;
        Engine::open(host, runtime, Cpu, settings).map(CpuBackend)
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
}

skillbench_plugin_api::export_plugin! {
    id: "cpu",
    name: "ONNX Runtime on the CPU",
    vendor: "skillbench",
    backend: CpuBackend,
}
