//! The openvino backend: ONNX models on Intel's runtime, on processors, GPUs and NPUs.
//!
//! Read it in the order of the work:
//! - `backend`: options, devices, and what a load is made of; `settings`: the options, read;
//! - `devices`: those that OpenVINO lists, and those that it does not, with the reason;
//! - `files`: the ONNX file and what it says of itself; `sizes`: the load's dimensions as shapes of inputs;
//! - `properties`: what OpenVINO is asked for; `precision`: what it did, read back;
//! - `ports` and `errors`: both as the contract tells them.
//!
//! Not here: `unsafe`, and running, which are in `skillbench-openvino-runtime`. Nor any of OpenVINO's devices that choose
//! among devices (AUTO, HETERO, MULTI): a model runs on the one it is loaded for, or not at all.

#![deny(unsafe_code)]

mod backend;
mod devices;
mod errors;
mod files;
mod ports;
mod precision;
mod properties;
mod settings;
mod sizes;

pub use backend::OpenVinoBackend;

skillbench_plugin_api::export_plugin! {
    id: "openvino",
    name: "OpenVINO",
    vendor: "skillbench",
    backend: OpenVinoBackend,
}
