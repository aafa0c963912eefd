//! The rocm backend: ONNX Runtime with MIGraphX on AMD GPUs.
//!
//! - `backend`: what is opened, in which order; `driver`: what the machine has, and why it does not suffice;
//! - `migraphx`: the provider and its precisions; `sensors`: what the kernel tells of a GPU.
//!
//! Not here: `unsafe` (loading and asking HIP is `skillbench-drivers`), and anything that another backend on ONNX Runtime needs
//! too.

#![deny(unsafe_code)]

mod backend;
mod driver;
mod migraphx;
mod sensors;

pub use backend::RocmBackend;

skillbench_plugin_api::export_plugin! {
    id: "rocm",
    name: "ONNX Runtime with MIGraphX on AMD GPUs",
    vendor: "skillbench",
    backend: RocmBackend,
}
