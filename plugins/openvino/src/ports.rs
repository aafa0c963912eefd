//! Ports, as the contract tells them.

use skillbench_onnx::messages::ValueInfo;
use skillbench_openvino_runtime::{Failure, PortInfo};
use skillbench_plugin_api::{Error, Port, Result, Why};

/// The ports of a compiled model, with the names that the file gives their dimensions.
///
/// # Errors
/// `Unimplemented` for a type or a rank that the contract has not.
pub(crate) fn all(found: Result<Vec<PortInfo>, Failure>, declared: &[ValueInfo]) -> Result<Vec<Port>> {
    let found = found.map_err(|failure| failure.error("tell the model's ports"))?;
    let aligned = found.len() == declared.len();
    let ports = found.into_iter().enumerate().map(|(index, port)| {
        // OpenVINO may know an output by the name of what it copies; the order is the file's.
        let named = declared.iter().find(|declared| declared.name == port.name);
        let declared = named.or_else(|| declared.get(index).filter(|_| aligned));
        read(port, declared)
    });
    ports.collect()
}

fn read(port: PortInfo, declared: Option<&ValueInfo>) -> Result<Port> {
    let name = declared.map_or(port.name, |declared| declared.name.clone());
    let refuse =
        |what: &str| Error::unimplemented(Why::MODEL, format!("'{name}' is {what}: export the model without it"));
    let dtype = port.dtype.ok_or_else(|| refuse("of a type that the contract has not"))?;
    let shape = port.shape.ok_or_else(|| refuse("a tensor of any rank"))?;
    let mut dim_names = declared.map(ValueInfo::dim_names).unwrap_or_default();
    dim_names.resize(shape.len(), None);
    Ok(Port { name, dtype, shape, dim_names })
}
