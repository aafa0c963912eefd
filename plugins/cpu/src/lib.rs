//! The cpu backend: ONNX Runtime on the processor.
//!
//! `provider` says what is particular to it; the rest is `skillbench-onnxruntime`. Not here: `unsafe`, and anything that
//! another backend on ONNX Runtime needs too.

#![deny(unsafe_code)]

mod provider;

pub use provider::Cpu;
use skillbench_onnxruntime::OrtBackend;

pub type CpuBackend = OrtBackend<Cpu>;

skillbench_plugin_api::export_plugin! {
    id: "cpu",
    name: "ONNX Runtime on the CPU",
    vendor: "skillbench",
    backend: CpuBackend,
}
