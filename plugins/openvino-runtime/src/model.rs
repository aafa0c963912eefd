//! A loaded model, as the contract has it.

use crate::compiled::{Compiled, Node};
use crate::failure::Failure;
use crate::profile::Recorder;
use crate::request::{Lane, OvRequest};
use skillbench_plugin_api::sdk::{Model, Profile};
use skillbench_plugin_api::{Placement, Port, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// A compiled model. Its requests share it, and with it the weights.
pub struct OvModel {
    compiled: Compiled,
    /// Made at load, to ask it what was compiled; the first request takes it.
    spare: Mutex<Option<Lane>>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    placement: Placement,
    pub(crate) recorder: Option<Recorder>,
}

impl OvModel {
    /// A model with its ports; `place` says what ran where, given the nodes of the compiled model (none where the device
    /// does not tell them).
    ///
    /// # Errors
    /// What OpenVINO says, and what `place` does.
    pub fn new(
        compiled: Compiled,
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        place: impl FnOnce(&Compiled, Vec<Node>) -> Result<Placement>,
    ) -> Result<OvModel> {
        let lane = compiled.lane().map_err(making)?;
        let placement = place(&compiled, lane.nodes().unwrap_or_default())?;
        Ok(OvModel { compiled, spare: Mutex::new(Some(lane)), inputs, outputs, placement, recorder: None })
    }

    /// The same model, with the recording of its operators; it was compiled with `PERF_COUNT`.
    pub fn recorded(self) -> OvModel {
        OvModel { recorder: Some(Recorder::new(&self.placement.device)), ..self }
    }
}

impl Model for OvModel {
    type Request = OvRequest;

    fn placement(&self) -> Placement {
        self.placement.clone()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn request(self: &Arc<Self>) -> Result<OvRequest> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        let lane = spare.map_or_else(|| self.compiled.lane(), Ok).map_err(making)?;
        Ok(OvRequest::new(lane, Arc::clone(self)))
    }

    fn profile(&self) -> Option<&dyn Profile> {
        self.recorder.as_ref().map(|recorder| recorder as &dyn Profile)
    }
}

fn making(failure: Failure) -> skillbench_plugin_api::Error {
    failure.error("make an inference request")
}
