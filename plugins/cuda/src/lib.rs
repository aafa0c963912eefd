//! The cuda backend: ONNX Runtime on NVIDIA GPUs, with CUDA, and with TensorRT where that is installed.
//!
//! - `backend`: what is opened, in which order, and which device is whose;
//! - `driver` and `libraries`: what the machine has, and why it does not suffice;
//! - `choices`: the options of the CUDA provider; `cuda` and `tensorrt`: the providers; `sensors`: NVML.
//!
//! Not here: `unsafe` (loading and asking the driver is `skillbench-drivers`), and anything that another backend on ONNX Runtime
//! needs too.

#![deny(unsafe_code)]

mod backend;
mod choices;
mod cuda;
mod driver;
mod libraries;
mod sensors;
mod tensorrt;

pub use backend::CudaBackend;

skillbench_plugin_api::export_plugin! {
    id: "cuda",
    name: "ONNX Runtime on NVIDIA GPUs",
    vendor: "skillbench",
    backend: CudaBackend,
}
