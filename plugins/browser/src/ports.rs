//! The ports of a session, as the page read them back from it.

use crate::dtypes;
use serde_json::Value;
use skillbench_plugin_api::{Error, Port, Result, Why};

/// # Errors
/// `Unimplemented` for what is no tensor, or one of a type that the contract has not.
pub(crate) fn read(ports: &Value) -> Result<Vec<Port>> {
    ports.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(port).collect()
}

fn port(port: &Value) -> Result<Port> {
    let name = port["name"].as_str().unwrap_or_default();
    let kind = port["type"].as_str().unwrap_or("no tensor");
    let dtype = dtypes::from_name(kind)
        .ok_or_else(|| Error::unimplemented(Why::MODEL, format!("'{name}' is {kind}: export the model without it")))?;
    let dims = port["dims"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(Port {
        name: name.into(),
        dtype,
        shape: dims.iter().map(|dim| dim.as_u64().map(|size| size as usize)).collect(),
        dim_names: dims.iter().map(|dim| dim.as_str().filter(|name| !name.is_empty()).map(str::to_string)).collect(),
    })
}
