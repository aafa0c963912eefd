//! What a page can compute on.

use serde_json::{Value, json};

/// A way for a page to compute, and so a device of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// WebNN with a device type: "cpu", "gpu" or "npu".
    WebNn(&'static str),
    WebGpu,
}

impl Accelerator {
    /// As results and people read it.
    pub fn name(self) -> String {
        match self {
            Accelerator::WebNn(device) => format!("WebNN {device}"),
            Accelerator::WebGpu => "WebGPU".into(),
        }
    }

    /// ONNX Runtime's name of the execution provider, as its log has it.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Accelerator::WebNn(_) => "WebNNExecutionProvider",
            Accelerator::WebGpu => "WebGpuExecutionProvider",
        }
    }

    /// WebNN compiles for sizes that are known; with others ONNX Runtime Web computes on WebAssembly and says nothing.
    pub(crate) fn fixed_shapes(self) -> bool {
        matches!(self, Accelerator::WebNn(_))
    }

    pub(crate) fn to_json(self) -> Value {
        match self {
            Accelerator::WebNn(device) => json!({ "api": "webnn", "device": device }),
            Accelerator::WebGpu => json!({ "api": "webgpu" }),
        }
    }
}
