//! The model's files before OpenVINO reads them: all are there, and what the graph says of itself that OpenVINO does not pass
//! on: the names of ports' dimensions, and whether it is quantized.

use crate::errors::broken;
use skillbench_onnx::Declared;
use skillbench_plugin_api::{Error, Result, Why};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// # Errors
/// `NotFound` for a file that is not there, also for one with weights; `InvalidArgument` for one that is not ONNX.
pub(crate) fn declared(path: &Path) -> Result<Declared> {
    let declared = Declared::read(open(path, "the model")?)
        .map_err(|reason| Error::invalid(broken(path.display(), &reason.to_string())).because(Why::MODEL))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for name in declared.files_beside().map_err(|file| Error::invalid(format!("{} {file}", path.display())))? {
        open(&folder.join(name), "the model's weights")?;
    }
    Ok(declared)
}

/// Whether operators of it compute with integers in place of floats, or could.
pub(crate) fn is_quantized(declared: &Declared) -> bool {
    let parts = ["QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger"];
    let is_such = |name: &str| name.starts_with("QLinear") || parts.iter().any(|part| name.contains(part));
    declared.all_operators().any(is_such)
}

fn open(path: &Path, what: &str) -> Result<File> {
    let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    file.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::not_found(format!(
            "{what}: there is no {}: check the path, or build the model again",
            path.display()
        )),
        _ => Error::invalid(format!("{what}: {} cannot be read: {error}", path.display())),
    })
}
