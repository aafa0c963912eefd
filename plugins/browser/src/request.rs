//! One lane of work in the page.
//!
//! Inputs go to the page when they are bound, and stay there; a run is one message there and one back, and leaves the
//! outputs in the page's memory; an output comes over when it is taken.

use crate::dtypes;
use crate::model::BrowserModel;
use serde_json::json;
use skillbench_plugin_api::sdk::{Bindings, Bound, Model, Request};
use skillbench_plugin_api::{DType, Error, HostTensor, OwnedTensor, Result, Timing};
use std::sync::Arc;

pub struct BrowserRequest {
    model: Arc<BrowserModel>,
    /// Its name in the page.
    id: String,
    /// Which outputs of the last run nobody has taken yet.
    there: Vec<bool>,
}

impl BrowserRequest {
    pub(crate) fn new(model: Arc<BrowserModel>, number: u64) -> BrowserRequest {
        let there = vec![false; model.outputs().len()];
        BrowserRequest { id: format!("{}.{number}", model.id), model, there }
    }

    /// Sends an input to the page.
    ///
    /// # Errors
    /// What the page says.
    pub fn send(&mut self, index: usize, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<()> {
        let message = json!({
            "op": "bind", "request": self.id, "model": self.model.id, "name": self.model.inputs[index].name,
            "type": dtypes::to_name(dtype), "dims": shape,
        });
        self.model.browser.call(message, Some(bytes), self.model.limit).map(|_| ())
    }

    /// Runs once with the inputs that were sent.
    ///
    /// # Errors
    /// What the page says.
    pub fn infer(&mut self) -> Result<()> {
        self.there.fill(false);
        let message = json!({ "op": "run", "request": self.id, "model": self.model.id });
        self.model.browser.call(message, None, self.model.limit)?;
        self.there.fill(true);
        Ok(())
    }

    /// Brings an output of the last run over.
    ///
    /// # Errors
    /// What the page says.
    pub fn receive(&mut self, index: usize) -> Result<HostTensor> {
        let port = &self.model.outputs[index];
        let message = json!({ "op": "output", "request": self.id, "name": port.name });
        let reply = self.model.browser.call(message, None, self.model.limit)?;
        let dims = reply.value["dims"].as_array().map(Vec::as_slice).unwrap_or_default();
        let shape: Vec<usize> = dims.iter().map(|dim| dim.as_u64().unwrap_or(0) as usize).collect();
        let found = reply.value["type"].as_str().unwrap_or_default();
        let mut tensor = HostTensor::zeroed(port.dtype, &shape)?;
        if dtypes::from_name(found) != Some(port.dtype) || tensor.bytes().len() != reply.bytes.len() {
            let (name, declared, bytes) = (&port.name, port.dtype.name(), reply.bytes.len());
            let text = format!("output '{name}' came as {bytes} bytes of {found} {shape:?}, declared {declared}");
            return Err(Error::internal(text));
        }
        tensor.bytes_mut().copy_from_slice(&reply.bytes);
        Ok(tensor)
    }
}

impl Request for BrowserRequest {
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        let bytes: &[u8] = match tensor.byte_len() {
            0 => &[],
            // SAFETY: `byte_len` readable bytes that the host lends and nobody writes during the call: see `Bound`.
            length => unsafe { std::slice::from_raw_parts(tensor.as_mut_ptr(), length) },
        };
        self.send(index, tensor.dtype(), tensor.shape(), bytes)
    }

    fn run(&mut self, _bound: &Bindings) -> Result<Timing> {
        self.infer()?;
        // The page's clock cannot be set against the host's to the accuracy that a run asks for: unknown.
        Ok(Timing::default())
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        if !self.there.get(index).is_some_and(|there| *there) {
            return Ok(None);
        }
        let mut tensor = self.receive(index)?;
        self.there[index] = false;
        let (dtype, shape, data) = (tensor.dtype(), tensor.shape(), tensor.bytes_mut().as_mut_ptr());
        // SAFETY: the tensor's own memory, which stays where it is while the tensor, its owner, lives.
        Ok(Some(unsafe { OwnedTensor::from_raw(dtype, &shape, data, Box::new(tensor)) }))
    }
}

impl Drop for BrowserRequest {
    fn drop(&mut self) {
        // A browser that is lost has nothing left to free.
        let _ = self.model.browser.call(json!({ "op": "forget", "request": self.id }), None, self.model.limit);
    }
}
