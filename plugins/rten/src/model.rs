//! A loaded model and its ports.

use crate::convert::port_type;
use crate::profile::Recorder;
use crate::request::RtenRequest;
use rten::{Dimension, NodeId, ThreadPool};
use skillbench_onnx::Declared;
use skillbench_onnx::messages::{Dim, ValueInfo};
use skillbench_plugin_api::sdk::{Model, Profile};
use skillbench_plugin_api::{Error, Placement, Port, Result, Why};
use std::sync::Arc;

/// A compiled graph. Its requests share it, and with it the weights.
pub struct RtenModel {
    pub(crate) engine: rten::Model,
    pub(crate) pool: Arc<ThreadPool>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    placement: Placement,
    pub(crate) recorder: Option<Recorder>,
}

impl RtenModel {
    /// # Errors
    /// `Unimplemented` for a port of a type that rten has not.
    pub(crate) fn new(
        engine: rten::Model,
        declared: &Declared,
        pool: Arc<ThreadPool>,
        placement: Placement,
        profile: bool,
    ) -> Result<RtenModel> {
        // The engine says which inputs there are (an initializer listed among them is none), and in which order.
        let inputs = engine.input_ids().iter().map(|id| {
            let name = engine.node_info(*id).and_then(|node| node.name()).unwrap_or_default();
            let port = declared.inputs.iter().find(|port| port.name == name);
            read_port(&engine, *id, port.ok_or_else(|| Error::internal(format!("rten made up the input '{name}'")))?)
        });
        let inputs = inputs.collect::<Result<_>>()?;

        // Outputs keep their order, but not always their name: optimizing may replace one by the value that it copies.
        let ids = engine.output_ids();
        if ids.len() != declared.outputs.len() {
            let text = format!("rten has {} outputs, the graph {}", ids.len(), declared.outputs.len());
            return Err(Error::internal(text));
        }
        let outputs = ids.iter().zip(&declared.outputs).map(|(id, port)| read_port(&engine, *id, port));
        let outputs = outputs.collect::<Result<_>>()?;
        let recorder = profile.then(|| Recorder::new(&placement.device));
        Ok(RtenModel { engine, pool, inputs, outputs, placement, recorder })
    }
}

/// A port as the file declares it; where it leaves the shape open, the engine may have inferred one.
fn read_port(engine: &rten::Model, id: NodeId, declared: &ValueInfo) -> Result<Port> {
    let name = declared.name.clone();
    let dtype = port_type(&name, declared.element())?;
    if let Some(dims) = declared.dims() {
        let shape = dims.iter().map(Dim::fixed).collect();
        return Ok(Port { name, dtype, shape, dim_names: declared.dim_names() });
    }
    let inferred = engine.node_info(id).and_then(|node| node.shape());
    let dims = inferred.ok_or_else(|| {
        let text = format!("nothing tells the rank of '{name}': export the model with its shapes inferred");
        Error::unimplemented(Why::MODEL, text)
    })?;
    let fixed = |dim: &Dimension| match dim {
        Dimension::Fixed(size) => Some(*size),
        Dimension::Symbolic(_) => None,
    };
    Ok(Port { name, dtype, dim_names: vec![None; dims.len()], shape: dims.iter().map(fixed).collect() })
}

impl Model for RtenModel {
    type Request = RtenRequest;

    fn placement(&self) -> Placement {
        self.placement.clone()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn request(self: &Arc<Self>) -> Result<RtenRequest> {
        Ok(RtenRequest::new(Arc::clone(self)))
    }

    fn profile(&self) -> Option<&dyn Profile> {
        self.recorder.as_ref().map(|recorder| recorder as &dyn Profile)
    }
}
