//! OpenVINO's errors, as the contract tells them: whose fault it is, and what to do next.

use skillbench_openvino_runtime::Failure;
use skillbench_plugin_api::{Code, Error, Why};
use std::path::Path;

/// Why a model does not load.
pub(crate) fn loading(path: &Path, failure: &Failure) -> Error {
    let (path, said) = (path.display(), failure.said());
    let says = |parts: &[&str]| parts.iter().any(|part| failure.text.contains(part));
    let (code, why, text) = if failure.out_of_memory() {
        let text = format!("no memory to load {path} ({said}): use a smaller model or batch");
        (Code::ResourceExhausted, Why::MEMORY, text)
    } else if says(&["can't be parsed", "Unable to read the model"]) {
        (Code::InvalidArgument, Why::MODEL, broken(path, &said))
    } else if says(&["OpConversionFailure", "NotImplemented", "not supported", "not implemented", "Unsupported"])
        || says(&["Supported primitive descriptors list is empty", "No conversion rule"])
    {
        let text = format!("OpenVINO cannot run {path}: {}: use another backend for this model", cause(&said));
        (Code::Unimplemented, Why::MODEL, text)
    } else {
        (Code::Internal, Why::MODEL, format!("OpenVINO does not load {path}: {said}"))
    };
    Error { vendor_code: failure.status, ..Error::new(code, text).because(why) }
}

/// Why a model cannot have the sizes of a load.
pub(crate) fn sizing(path: &Path, failure: &Failure) -> Error {
    let text = format!(
        "{} cannot have the sizes asked for ({}): use other ones, or the option dynamic_shapes=true",
        path.display(),
        failure.said()
    );
    Error { vendor_code: failure.status, ..Error::unimplemented(Why::MODEL, text) }
}

pub(crate) fn broken(path: impl std::fmt::Display, reason: &str) -> String {
    format!("{path} is not a whole ONNX model ({reason}): copy or export it again")
}

/// The part of a text after OpenVINO's own headings.
fn cause(said: &str) -> &str {
    said.split_once("Summary: -- ").map_or(said, |(_, cause)| cause)
}
