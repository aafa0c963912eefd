//! The rten backend: ONNX models on the CPU, in pure Rust, with no library to install. It is the reference that other
//! backends' outputs are compared with, and the example to start a backend from.
//!
//! Read it in the order of the work:
//! - `backend`: options, the one device, and what a load is made of;
//! - `files`: reading the ONNX file with its external data, and what it says of itself;
//! - `model`: the loaded model and its ports;
//! - `request`: bound tensors, a run, its outputs; `convert` between the file's types and the engine's;
//! - `profile`: what operators cost, as the engine times them;
//! - `errors`: the engine's errors, as the contract tells them.
//!
//! Not here: `unsafe`, the C table (the SDK's business), clocks other than the load's, tolerances, policy.

#![deny(unsafe_code)]

mod backend;
mod convert;
mod errors;
mod files;
mod model;
mod profile;
mod request;

pub use backend::RtenBackend;
pub use model::RtenModel;
pub use request::RtenRequest;

skillbench_plugin_api::export_plugin! {
    id: "rten",
    name: "rten",
    vendor: "skillbench",
    backend: RtenBackend,
}
