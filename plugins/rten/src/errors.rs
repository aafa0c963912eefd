//! rten's errors, as the contract tells them: whose fault it is, and what to do next.

use crate::backend::ENGINE;
use rten::{LoadError, LoadErrorKind, RunError, RunErrorKind};
use skillbench_plugin_api::{Error, Why};
use std::path::Path;

pub(crate) fn loading(path: &Path, error: &LoadError) -> Error {
    let path = path.display();
    match error.kind() {
        LoadErrorKind::OperatorInvalid => {
            let text = format!("{ENGINE} cannot run {path}: {error}: use another backend for this model");
            Error::unimplemented(Why::MODEL, text)
        }
        LoadErrorKind::OptimizeError | LoadErrorKind::ShapeInferenceFailed => {
            let text = format!("{ENGINE} cannot compile {path}: {error}: use another backend for this model");
            Error::unimplemented(Why::MODEL, text)
        }
        LoadErrorKind::ExternalDataError => {
            let text = format!(
                "the weights beside {path} do not fit it ({error}): rten reads whole files named *.data or *.onnx_data; \
                 copy or export both again"
            );
            Error::invalid(text).because(Why::MODEL)
        }
        // As below: in words only.
        LoadErrorKind::GraphError if error.to_string().contains("unsupported data type") => {
            let text = format!("{ENGINE} cannot run {path}: {error}: use another backend for this model");
            Error::unimplemented(Why::MODEL, text)
        }
        _ => Error::invalid(format!("{path} is not a whole ONNX model ({error}): copy or export it again"))
            .because(Why::MODEL),
    }
}

pub(crate) fn running(error: &RunError) -> Error {
    match error.kind() {
        RunErrorKind::InvalidInput => Error::invalid(format!("{ENGINE}: {error}")),
        // rten says "unsupported" for what it lacks and something else for what is wrong, and tells them apart in words only.
        RunErrorKind::OperatorError if error.to_string().contains("unsupported") => {
            Error::unimplemented(Why::MODEL, format!("{ENGINE}: {error}: use another backend for this model"))
        }
        _ => Error::internal(format!("{ENGINE}: {error}")).because(Why::MODEL),
    }
}
