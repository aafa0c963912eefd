//! The qnn backend: Qualcomm's processors through ONNX Runtime's QNN execution provider.
//!
//! - `sdk`: the vendor's libraries, where they are and which version they say they are;
//! - `provider`: their devices, and how a graph runs on them.
//!
//! Where there is no such processor, the SDK's own x86 library computes what the HTP would: that is `emulated`, and slow. Not
//! here: `unsafe`, and anything that another backend on ONNX Runtime needs too.

#![deny(unsafe_code)]

mod provider;
mod sdk;

pub use provider::Qnn;
use skillbench_onnxruntime::OrtBackend;

pub type QnnBackend = OrtBackend<Qnn>;

skillbench_plugin_api::export_plugin! {
    id: "qnn",
    name: "Qualcomm AI Engine Direct (QNN)",
    vendor: "skillbench",
    backend: QnnBackend,
}
