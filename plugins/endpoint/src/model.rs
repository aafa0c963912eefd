//! A served model, with the ports of the graph that it is.

use crate::protocol::of_onnx;
use crate::request::EndpointRequest;
use crate::settings::{Encoding, Settings};
use skillbench_onnx::Declared;
use skillbench_onnx::messages::{Dim, ValueInfo, type_name};
use skillbench_plugin_api::sdk::{Host, Model};
use skillbench_plugin_api::{Error, Placement, Port, Result, Why};
use std::sync::Arc;

pub struct EndpointModel {
    pub(crate) settings: Settings,
    pub(crate) encoding: Encoding,
    /// Where requests go.
    pub(crate) path: String,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    pub(crate) placement: Placement,
    pub(crate) host: Host,
}

impl Model for EndpointModel {
    type Request = EndpointRequest;

    fn placement(&self) -> Placement {
        self.placement.clone()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// With a connection of its own.
    fn request(self: &Arc<Self>) -> Result<EndpointRequest> {
        Ok(EndpointRequest::new(Arc::clone(self)))
    }
}

/// The ports of a graph: a server may not know the names of its dimensions, and not even its ports.
///
/// # Errors
/// `Unimplemented` for a port that cannot go over the wire.
pub fn ports_of(declared: &Declared) -> Result<[Vec<Port>; 2]> {
    let ports = |all: &[ValueInfo]| all.iter().map(port_of).collect::<Result<Vec<Port>>>();
    Ok([ports(&declared.inputs)?, ports(&declared.outputs)?])
}

fn port_of(declared: &ValueInfo) -> Result<Port> {
    let name = declared.name.clone();
    let found = declared.element().and_then(type_name).unwrap_or("no tensor");
    let dtype = of_onnx(found).ok_or_else(|| {
        Error::unimplemented(Why::MODEL, format!("'{name}' is {found}, which does not go over the wire as numbers"))
    })?;
    let dims = declared.dims().ok_or_else(|| {
        let text = format!("nothing tells the rank of '{name}': export the model with its shapes inferred");
        Error::unimplemented(Why::MODEL, text)
    })?;
    Ok(Port { name, dtype, shape: dims.iter().map(Dim::fixed).collect(), dim_names: declared.dim_names() })
}
