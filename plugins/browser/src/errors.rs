//! ONNX Runtime Web's errors, as the contract tells them: whose fault it is, and what to do next.

use skillbench_plugin_api::{Code, Error, Why};
use std::path::Path;

/// A load that the page could not do, with whose fault it is.
pub(crate) fn explain(path: &Path, error: Error) -> Error {
    // A lost browser and a late one speak for themselves.
    if error.code != Code::Internal || error.message.starts_with("the browser was lost") {
        return error;
    }
    let (path, text) = (path.display(), &error.message);
    let says = |part: &str| text.contains(part);
    let short: String = text.rsplit("ERROR_MESSAGE: ").next().unwrap_or(text).chars().take(300).collect();
    if says("bad_alloc")
        || says("Array buffer allocation")
        || says("memory access out of bounds")
        || says("out of memory")
    {
        let text = format!("no memory in the page to load {path} ({short}): use a smaller model or batch");
        return Error::new(Code::ResourceExhausted, text).because(Why::MEMORY);
    }
    if says("ERROR_CODE: 7,") || says("ERROR_CODE: 10,") || says("ERROR_CODE: 2,") {
        let text = format!("{path} is not a whole ONNX model ({short}): copy or export it again");
        return Error::invalid(text).because(Why::MODEL);
    }
    if says("is not a registered function/op") || says("No Op registered") || says("ERROR_CODE: 9,") {
        let text = format!("ONNX Runtime Web cannot run {path}: {short}: use another backend for this model");
        return Error::unimplemented(Why::MODEL, text);
    }
    Error::internal(format!("ONNX Runtime Web does not load {path}: {short}")).because(Why::MODEL)
}
