//! The webgpu backend: any GPU that Vulkan, Metal or Direct3D reaches, through ONNX Runtime's WebGPU execution provider.
//!
//! - `vulkan`: the driver that it is to find, on Linux: the machine's own, or a software one that is only used where no GPU is;
//! - `provider`: its devices, and how a graph runs on them.
//!
//! Not here: `unsafe`, and anything that another backend on ONNX Runtime needs too.

#![deny(unsafe_code)]

mod provider;
mod vulkan;

pub use provider::WebGpu;
use skillbench_onnxruntime::OrtBackend;

pub type WebGpuBackend = OrtBackend<WebGpu>;

skillbench_plugin_api::export_plugin! {
    id: "webgpu",
    name: "WebGPU",
    vendor: "skillbench",
    backend: WebGpuBackend,
}
