//! The backend as the worker sees it: through its C table, on the ONNX Runtime that `ORT_DYLIB_PATH` names.
//!
//! Where it names none, the tests that need one see the error that says so, and pass.

mod errors;
mod profile;
mod running;
mod shapes;
mod states;

use skillbench_cpu::CpuBackend;
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Why};
use skillbench_testkit::skipped;

/// The backend on a real ONNX Runtime; without one, nothing, and the error has been looked at.
fn real(options: &[(&str, &str)]) -> Option<Instance> {
    match (skillbench_testkit::open::<CpuBackend>(options), std::env::var_os("ORT_DYLIB_PATH")) {
        (opened, Some(_)) => Some(opened.unwrap()),
        (opened, None) => {
            let error = opened.err().expect("no library, no instance");
            assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
            assert!(error.message.contains("host runtime install cpu"), "{error}");
            skipped("ORT_DYLIB_PATH names no ONNX Runtime; scripts/test sets it");
            None
        }
    }
}
