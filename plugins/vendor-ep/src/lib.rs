//! The vendor-ep backend: whichever plugin execution provider of ONNX Runtime a vendor ships, by its library and options.
//!
//! Not here: anything about one vendor. What such a provider computes in cannot be told from outside, so its precision is
//! unknown, and outputs are held to the coarsest tolerance.

#![deny(unsafe_code)]

mod provider;

pub use provider::VendorEp;
use skillbench_onnxruntime::OrtBackend;

pub type VendorEpBackend = OrtBackend<VendorEp>;

skillbench_plugin_api::export_plugin! {
    id: "vendor-ep",
    name: "A vendor's execution provider for ONNX Runtime",
    vendor: "skillbench",
    backend: VendorEpBackend,
}
